# SPDX-License-Identifier: BSD-3-Clause
"""Broken configurations: one mistake, one line, with its place and what is allowed."""

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
class Broken:
    old: str
    new: str
    says: str
    schema: bool


TABLE = yamls.safe_load(Path(__file__).with_name("broken.yaml").read_text(encoding="utf-8"))
BASE: str = TABLE["base"]
BROKEN = [
    Broken(old, new, says, found_by == "schema")
    for found_by in ("schema", "loader")
    for old, cases in TABLE[found_by].items()
    for new, says in cases.items()
]


def check(text: str, folder: Path) -> tuple[int, list[str]]:
    """Exit status and lines of the loader, without the file's name."""
    path = folder / "sg.yaml"
    path.write_text(text, encoding="utf-8")
    ended = subprocess.run(
        [str(paths.program("vcmtsd")), "check", "--config", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stderr.splitlines()
    assert all(line.startswith(f"{path}:") for line in lines), ended.stderr
    return ended.returncode, [line.removeprefix(f"{path}:") for line in lines]


def schema_finds(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(configdoc.read_schema())
    return not validator.is_valid(yamls.safe_load(text))


def applied(text: str, broken: Broken) -> str:
    assert text.count(broken.old) >= 1, broken.old
    return text.replace(broken.old, broken.new, 1)


def test_base_is_good(tmp_path: Path) -> None:
    assert check(BASE, tmp_path) == (0, [])
    assert not schema_finds(BASE)


def test_a_byte_order_mark(tmp_path: Path) -> None:
    """As some editors write it; of the tool, too, and a mistake has the line that it had."""
    marked = "\ufeff" + BASE
    assert check(marked, tmp_path) == (0, [])
    assert show.read(tmp_path / "sg.yaml")
    assert load_config(tmp_path / "sg.yaml")
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    assert show.read(tmp_path / "sg.yaml") == show.read(tmp_path / "base.yaml")
    status, [line] = check(marked + "unknown: 1\n", tmp_path)
    assert status != 0 and line.startswith(f"{len(BASE.splitlines()) + 1}: unknown: ")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.says.split(": found")[0])
def test_one_mistake_is_one_line(broken: Broken, tmp_path: Path) -> None:
    text = applied(BASE, broken)
    assert check(text, tmp_path) == (2, [broken.says])
    assert schema_finds(text) == broken.schema


def test_several_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Mistakes of single values, each on a line of its own: all are said, in their order."""
    text, said = BASE, {}
    for broken in BROKEN:
        line = int(broken.says.split(":")[0])
        here = broken.old in text.splitlines()[line - 1] and "\n" not in broken.old
        if broken.schema and here and line not in said:
            text = applied(text, broken)
            said[line] = broken.says
    assert len(said) >= 8
    assert check(text, tmp_path) == (2, [said[line] for line in sorted(said)])


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(configdoc.read_schema())


def keys(schema: configdoc.Schema) -> set[str]:
    inner = list(schema.get("properties", {}).values())
    if "items" in schema:
        inner.append(schema["items"])
    return set(schema.get("properties", {})).union(*map(keys, inner))


def test_every_key_is_on_the_page() -> None:
    page = configdoc.render(configdoc.read_schema())
    names = keys(configdoc.read_schema())
    assert len(names) >= 60
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_example_is_good(tmp_path: Path) -> None:
    text = configdoc.EXAMPLE.read_text(encoding="utf-8")
    assert check(text, tmp_path) == (0, [])
    assert not schema_finds(text)
    assert text.split("\n", 1)[1] in configdoc.render(configdoc.read_schema())


def test_defaults_of_the_schema_are_allowed(tmp_path: Path) -> None:
    """The example with every default of the top written out is the same to the loader."""
    properties = configdoc.read_schema()["properties"]
    given = {
        name: value["default"]
        for name, value in properties.items()
        if "default" in value and f"{name}:" not in BASE
    }
    given |= {
        name: {
            key: value["default"]
            for key, value in properties[name]["properties"].items()
            if "default" in value
        }
        for name in ("threads", "upstream")
    }
    text = BASE + "".join(f"{name}: {json.dumps(value)}\n" for name, value in given.items())
    assert len(given) >= 5
    assert check(text, tmp_path) == (0, [])
    assert not schema_finds(text)
