# SPDX-License-Identifier: BSD-3-Clause
"""The trees of the witness's configuration parser, compared with PyYAML's constructors."""

import pytest
import yaml

from vcmts.witness.config import ConfigError, parse_config
from vcmts.witness.tree import TreeError, load_tree

TEXTS = (
    "",
    "# only a comment\n",
    "plain",
    "a: 1\nb: [true, ~, 0x1f, 1.5]\nc: {d: 'x: y', 7: \"\\u00e9\\n\"}\n",
    "- \n- []\n- {}\n- - 1\n  - 2\n",
    "a: &one {b: &two [1, 2]}\nc: *one\nd: [*two, *one]\n",
    "a: !!int 1\nb: !other {c: !!str 2}\n",
    "a: 1\na: 2\n",
    "a: |\n  two\n  lines\nb: >\n  folded\n  lines\n",
    "--- \na: 1\n...\n",
    "? a\n: b\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_tree_is_that_of_pyyaml(text: str) -> None:
    assert load_tree(text) == yaml.load(text, Loader=yaml.BaseLoader)


def test_json_scalars_are_text() -> None:
    text = '{"a": [1, 1.50, true, null, "x", 12345678901234567890], "b": {"c": false}}'
    assert load_tree(text) == {
        "a": ["1", "1.50", "true", "null", "x", "12345678901234567890"],
        "b": {"c": "false"},
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: [1", "not YAML"),
        ("a: *missing\n", "alias 'missing'"),
        ("a: &loop [*loop]\n", "alias 'loop'"),
        ("? [1, 2]\n: 3\n", "found the key"),
        ("? {a: 1}\n: 3\n", "found the key"),
        ("a: 1\n--- \nb: 2\n", "another document"),
        ("a: \x07\n", "not YAML"),
        ("[" * 5000 + "]" * 5000, "not YAML"),
        ("- " * 5000, "not YAML"),
    ],
)
def test_wrong_texts_are_refused(text: str, error: str) -> None:
    with pytest.raises(TreeError, match=error):
        load_tree(text)
    with pytest.raises(ConfigError, match=error):
        parse_config(text)
    if text.isprintable() and len(text) < 50:
        with pytest.raises((yaml.YAMLError, RecursionError)):
            yaml.load(text, Loader=yaml.BaseLoader)
