# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/sizing.md run as they stand, and say what the page says."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from planning.size import request as size_request
from planning.size.request import Groups
from python.planning.test_size_measured import PIPELINE
from vcmts import yamls
from vcmts.paths import CHECKOUT

TEXT = (CHECKOUT / "docs" / "sizing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?(.*)\n((?s:.*?))^```", TEXT, re.MULTILINE)


def blocks(language: str, kind: str = "") -> list[str]:
    return [text for found, word, text in BLOCKS if (found, word) == (language, kind)]


def shell(commands: str, place: Path) -> "subprocess.CompletedProcess[str]":
    (place / "vcmts").symlink_to(CHECKOUT / "vcmts")
    return subprocess.run(
        ["sh", "-euc", commands],
        cwd=place,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("commands", blocks("sh"))
def test_commands(commands: str, tmp_path: Path) -> None:
    done = shell(commands, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    asked_for = "of an instance" if "--cloud" in commands else "a server"
    assert f"service groups {asked_for}" in done.stdout
    if commands == blocks("sh")[0]:
        [shown] = blocks("text")
        assert done.stdout == shown, "the page shows another answer"


def test_a_measured_machine(tmp_path: Path) -> None:
    """What the bench would store stands there already: how it is made is tested elsewhere."""
    [commands] = blocks("sh", "measured")
    bench, size = commands.split("\n", 1)
    [stored] = re.findall(r"--json (\S+)", bench)
    (tmp_path / stored).write_text(json.dumps(PIPELINE))
    done = shell(size, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1200 core cycles" in done.stdout


def test_the_file_of_the_page(tmp_path: Path) -> None:
    [text] = blocks("yaml")
    wanted = tmp_path / "groups.yaml"
    wanted.write_text(text)
    found = size_request.from_option(str(wanted), Groups(6))
    assert [g.count for g in found] == [item["count"] for item in yamls.safe_load(text)]


def test_every_block_is_known() -> None:
    assert {(language, kind) for language, kind, _ in BLOCKS} == {
        ("sh", ""), ("sh", "measured"), ("text", ""), ("yaml", "")
    }  # fmt: skip


def test_every_option_is_told() -> None:
    """All but those that the help explains in full."""
    told = subprocess.check_output([CHECKOUT / "vcmts", "size", "--help"], text=True)
    options = set(re.findall(r"^  (--[a-z-]+)", told, re.MULTILINE))
    left = {"--upstream-mix", "--crypto", "--modems", "--ports"}
    assert {o for o in options if o not in TEXT} <= left
