# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts init`: a short, valid configuration with an explanation of each key."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from vcmts import cli, init
from vcmts.paths import data

Json = dict[str, Any]


def written(capfd: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["init"]) == 0
    return capfd.readouterr().out


def keys_in(value: Any, schema: Json) -> Iterator[tuple[str, Json]]:
    """Each key of a configuration with its schema."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            for key, inner in item.items():
                about = schema.get("items", schema)["properties"][key]
                yield key, about
                yield from keys_in(inner, about)


def test_starter_is_valid(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(written(capfd))
    assert cli.main(["validate", str(path)]) == 0
    assert capfd.readouterr().err == ""


def test_comments_change_no_value(capfd: pytest.CaptureFixture[str]) -> None:
    values = yaml.safe_load(data("config/starter.yaml").read_text())
    assert yaml.safe_load(written(capfd)) == values
    assert len(values["modems"]) == 2


def comment_of(key: str, lines: list[str]) -> str:
    """The comment beside the first line of a key, or above it; "" if the key is in braces."""
    at = next((n for n, line in enumerate(lines) if re.match(rf" *(- )?{key}:", line)), None)
    if at is None:
        return ""
    _, mark, beside = lines[at].partition("# ")
    return beside if mark else lines[at - 1].strip()


def test_each_key_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    """Comments begin as the descriptions in the schema."""
    text = written(capfd)
    schema = json.loads(data("config/schema.json").read_text())
    keys = [*keys_in(yaml.safe_load(text), schema)]
    for key in dict(keys):
        comment = comment_of(key, text.splitlines()).lstrip("# ")
        begin = " ".join(comment.split()[:2]).rstrip(":,;")
        descriptions = [about["description"] for name, about in keys if name == key]
        assert begin and any(about.startswith(begin) for about in descriptions), (key, comment)


def test_starter_fits_a_screen(capfd: pytest.CaptureFixture[str]) -> None:
    lines = written(capfd).splitlines()
    assert len(lines) <= 80 and max(map(len, lines)) <= 80


def test_key_without_description_is_an_error() -> None:
    """A key that the schema does not have any more fails here, not at the user's."""
    with pytest.raises(KeyError, match="gone"):
        list(init.commented(["gone: 1"], {"properties": {"here": {"description": "is here"}}}))


SCHEMA: Json = {
    "properties": {
        "one": {"description": "the kind (default: a)", "enum": ["a", "b"], "x-allowed": "a or b"},
        "many": {
            "description": "a list of maps",
            "items": {"properties": {"one": {"description": "x; " + "long words " * 9}}},
        },
    }
}


def test_comments_are_beside_or_above_keys() -> None:
    lines = ["one: a", "many:", "  - one: 1", "  - one: 2", "  - {one: 3}"]
    first, second, *more = init.commented(lines, SCHEMA)
    assert first == "one: a".ljust(30) + "# the kind: a or b"
    assert second == "many:".ljust(30) + "# a list of maps"
    assert more[0] == "  - one: 1".ljust(30) + "# x; long words long words long words long words"
    assert more[-2:] == ["  - one: 2", "  - {one: 3}"]
    long = f"one: {'a' * 30}"
    assert list(init.commented([long], SCHEMA)) == ["# the kind: a or b", long]
