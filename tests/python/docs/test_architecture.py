# SPDX-License-Identifier: BSD-3-Clause
"""Tests that docs/architecture.md names existing files and functions, in call order."""

import re
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

PAGE = CHECKOUT / "docs" / "architecture.md"
MAX_FILES = {"A packet downstream": 20, "A packet upstream": 22, "`modem.add`": 15, "A counter": 4}
ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\) \|([^|]*)\| [^|]+ \|$", re.MULTILINE)


def walks() -> dict[str, list[tuple[Path, list[str]]]]:
    """Returns files and the functions named in each, by title."""
    result = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        rows = ROW.findall(text)
        assert len(rows) == text.count("\n| [")
        for name, link, _ in rows:
            assert link == f"../src/{name}"
        result[title] = [
            (CHECKOUT / "src" / name, re.findall(r"`(\w+)\(\)`", functions))
            for name, _, functions in rows
        ]
    return result


def test_page_has_all_walks() -> None:
    assert walks().keys() == {*MAX_FILES, "Folders"}


@pytest.mark.parametrize("title", MAX_FILES)
def test_walk_is_short_and_its_functions_exist(title: str) -> None:
    walk = walks()[title]
    files = [file for file, _ in walk]
    assert len(set(files)) == len(files) <= MAX_FILES[title]
    for file, functions in walk:
        text = file.read_text(encoding="utf-8")
        for function in functions:
            assert re.search(rf"^[a-z].*\b{function}\([^;]*?\) \{{$", text, re.MULTILINE), function


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_walk_of_a_packet_has_all_stages(direction: str) -> None:
    source = (CHECKOUT / "src" / direction / f"{direction}.c").read_text(encoding="utf-8")
    stages = re.findall(r"^\t+(?:\.run = |STAGE\()(\w+),", source, re.MULTILINE)
    walk = walks()[f"A packet {direction}"]
    named = [function for _, functions in walk for function in functions]
    assert len(stages) > 10
    assert [function for function in named if function in stages] == stages
