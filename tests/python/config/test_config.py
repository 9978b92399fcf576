# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the loader (`vcmtsd check`) reports each error of broken.yaml in one line, and whether
the JSON schema finds it, too. Also tests the example and the page of keys."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from vcmts import paths, show, yamls
from vcmts.docs import configdoc
from vcmts.witness.config import load_config


@dataclass(frozen=True)
class Case:
    old: str
    new: str
    message: str
    schema: bool


TABLE = yamls.safe_load(Path(__file__).with_name("broken.yaml").read_text(encoding="utf-8"))
BASE: str = TABLE["base"]
CASES = [
    Case(old, new, message, source == "schema")
    for source in ("schema", "loader")
    for old, cases in TABLE[source].items()
    for new, message in cases.items()
]


def check(text: str, folder: Path) -> tuple[int, list[str]]:
    """Returns exit status and error lines of the loader, without the file name."""
    path = folder / "sg.yaml"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(paths.program("vcmtsd")), "check", "--config", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert all(line.startswith(f"{path}:") for line in lines), done.stderr
    return done.returncode, [line.removeprefix(f"{path}:") for line in lines]


def schema_refuses(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(configdoc.read_schema())
    return not validator.is_valid(yamls.safe_load(text))


def apply_case(text: str, case: Case) -> str:
    assert text.count(case.old) >= 1, case.old
    return text.replace(case.old, case.new, 1)


def test_base_is_accepted(tmp_path: Path) -> None:
    assert check(BASE, tmp_path) == (0, [])
    assert not schema_refuses(BASE)


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """Some editors write one. Line numbers of errors do not change."""
    marked = "\ufeff" + BASE
    assert check(marked, tmp_path) == (0, [])
    assert show.read(tmp_path / "sg.yaml")
    assert load_config(tmp_path / "sg.yaml")
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    assert show.read(tmp_path / "sg.yaml") == show.read(tmp_path / "base.yaml")
    status, [line] = check(marked + "unknown: 1\n", tmp_path)
    assert status != 0 and line.startswith(f"{len(BASE.splitlines()) + 1}: unknown key ")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message[:60])
def test_error_is_one_line(case: Case, tmp_path: Path) -> None:
    text = apply_case(BASE, case)
    assert check(text, tmp_path) == (2, [case.message])
    assert schema_refuses(text) == case.schema


def test_all_errors_are_reported_in_order(tmp_path: Path) -> None:
    text, messages = BASE, {}
    for case in CASES:
        line = int(case.message.split(":")[0])
        if not case.schema or line in messages or "\n" in case.old:
            continue
        if case.old in text.splitlines()[line - 1]:
            text = apply_case(text, case)
            messages[line] = case.message
    assert len(messages) >= 8
    assert check(text, tmp_path) == (2, [messages[line] for line in sorted(messages)])


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(configdoc.read_schema())


def keys(schema: configdoc.Schema) -> set[str]:
    inner = list(schema.get("properties", {}).values())
    if "items" in schema:
        inner.append(schema["items"])
    return set(schema.get("properties", {})).union(*map(keys, inner))


def test_page_has_all_keys() -> None:
    page = configdoc.render(configdoc.read_schema())
    names = keys(configdoc.read_schema())
    assert len(names) >= 60
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_example_is_accepted(tmp_path: Path) -> None:
    text = configdoc.EXAMPLE.read_text(encoding="utf-8")
    assert check(text, tmp_path) == (0, [])
    assert not schema_refuses(text)
    assert text.split("\n", 1)[1] in configdoc.render(configdoc.read_schema())


def test_loader_accepts_defaults_of_schema(tmp_path: Path) -> None:
    """The base with all top-level defaults written out is accepted."""
    properties = configdoc.read_schema()["properties"]
    defaults = {
        name: value["default"]
        for name, value in properties.items()
        if "default" in value and f"{name}:" not in BASE
    }
    defaults |= {
        name: {
            key: value["default"]
            for key, value in properties[name]["properties"].items()
            if "default" in value
        }
        for name in ("threads", "upstream")
    }
    text = BASE + "".join(f"{name}: {json.dumps(value)}\n" for name, value in defaults.items())
    assert len(defaults) >= 5
    assert check(text, tmp_path) == (0, [])
    assert not schema_refuses(text)
