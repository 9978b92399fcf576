# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/sizing.md, and compares their output with the page."""

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
    return [text for name, word, text in BLOCKS if (name, word) == (language, kind)]


def run_shell(commands: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "vcmts").symlink_to(CHECKOUT / "vcmts")
    return subprocess.run(
        ["sh", "-euc", commands],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("commands", blocks("sh"))
def test_commands_of_page_run(commands: str, tmp_path: Path) -> None:
    done = run_shell(commands, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    unit = "of an instance" if "--cloud" in commands else "a server"
    assert f"service groups {unit}" in done.stdout
    if commands == blocks("sh")[0]:
        assert [done.stdout] == blocks("text"), "the page shows another answer"


def test_commands_with_measured_machine(tmp_path: Path) -> None:
    """The file that the bench would store is given."""
    [commands] = blocks("sh", "measured")
    bench, size = commands.split("\n", 1)
    [stored] = re.findall(r"--json (\S+)", bench)
    (tmp_path / stored).write_text(json.dumps(PIPELINE))
    done = run_shell(size, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1200 core cycles" in done.stdout


def test_file_of_page_is_read(tmp_path: Path) -> None:
    [text] = blocks("yaml")
    wanted = tmp_path / "groups.yaml"
    wanted.write_text(text)
    groups = size_request.from_option(str(wanted), Groups(6))
    assert [g.count for g in groups] == [item["count"] for item in yamls.safe_load(text)]


def test_page_has_only_tested_blocks() -> None:
    assert {(language, kind) for language, kind, _ in BLOCKS} == {
        ("sh", ""), ("sh", "measured"), ("text", ""), ("yaml", "")
    }  # fmt: skip


def test_page_names_options() -> None:
    """The page names all options except those that the help explains in full."""
    text = subprocess.check_output([CHECKOUT / "vcmts", "size", "--help"], text=True)
    options = set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE))
    omitted = {"--upstream-mix", "--crypto", "--modems", "--ports"}
    assert {o for o in options if o not in TEXT} <= omitted
