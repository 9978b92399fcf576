# SPDX-License-Identifier: BSD-3-Clause
"""docs/architecture.md: its walks name files and functions that are there, and are short."""

import re
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

PAGE = CHECKOUT / "docs" / "architecture.md"
MOST_FILES = {
    "A packet downstream": 20,
    "A packet upstream": 22,
    "`modem.add`": 15,
    "A counter": 4,
}
ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\) \|([^|]*)\| [^|]+ \|$", re.MULTILINE)


def walks() -> dict[str, list[tuple[Path, list[str]]]]:
    """By title: files, and the functions that are named of each."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        rows = ROW.findall(text)
        assert len(rows) == text.count("\n| [")
        for name, link, _ in rows:
            assert link == f"../src/{name}"
        found[title] = [
            (CHECKOUT / "src" / name, re.findall(r"`(\w+)\(\)`", functions))
            for name, _, functions in rows
        ]
    return found


def test_each_walk_is_there() -> None:
    assert walks().keys() == {*MOST_FILES, "Folders"}


@pytest.mark.parametrize("title", MOST_FILES)
def test_a_walk_is_short_and_true(title: str) -> None:
    walk = walks()[title]
    files = [file for file, _ in walk]
    assert len(set(files)) == len(files) <= MOST_FILES[title]
    for file, functions in walk:
        text = file.read_text(encoding="utf-8")
        for function in functions:
            assert re.search(rf"^[a-z].*\b{function}\([^;]*?\) \{{$", text, re.MULTILINE), function


@pytest.mark.parametrize("way", ["downstream", "upstream"])
def test_a_packets_walk_has_every_stage(way: str) -> None:
    listed = (CHECKOUT / "src" / way / f"{way}.c").read_text(encoding="utf-8")
    stages = re.findall(r"^\t+(?:\.run = |STAGE\()(\w+),", listed, re.MULTILINE)
    walk = walks()[f"A packet {way}"]
    named = [function for _, functions in walk for function in functions]
    assert len(stages) > 10
    assert [function for function in named if function in stages] == stages
