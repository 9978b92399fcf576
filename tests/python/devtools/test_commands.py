# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/commands, which runs the commands of the pages in a terminal."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from vcmts.paths import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "devtools"))
from blocks import main, pages, settings, terminal
from blocks.pages import Command

PAGE = """Text, `make more` and `./vcmts say`, not `vcmtsd run`.
```sh
./vcmts one --a  b   # a comment
build/two \\
    --c
```
```sh
cat > file <<END
# kept
END
```
```sh serving
./vcmts run
```
```sh beside
./vcmts top
```
```text
vcmts three
of four
```
"""
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8")


def test_list_is_complete() -> None:
    words = [sys.executable, str(CHECKOUT / "devtools" / "commands"), "--list"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_are_read_from_text_and_make() -> None:
    found = [(command.kind, command.text) for command in pages.page_commands("p", PAGE)]
    assert found == [
        ("sh", "./vcmts one --a b"),
        ("sh", "build/two --c"),
        ("sh", "cat > file <<END\n# kept\nEND"),
        ("sh serving", "./vcmts run"),
        ("sh beside", "./vcmts top"),
    ]
    inline = [command.text for command in pages.inline_commands("p", PAGE)]
    assert inline == ["make more", "./vcmts say"]
    assert list(pages.unrun_commands(PAGE)) == ["vcmts three"]
    targets = [command.text for command in main.make_targets()]
    assert "make help" in targets and "make bench" in targets


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"make c": {}}, "make c: no page and no help text names it"),
        ({"make b": {"run": "x", "not": "y"}}, "make b: more than one of"),
        ({"make b": {"step": True}}, "make b: no step of .ci/run"),
        ({"make b": {"within": "make x"}}, "make b: make x does not run"),
        ({"make b": {"within": "make b"}}, "make b: make b does not run"),
        ({}, None),
    ],
)
def test_errors_of_the_list(changed: dict[str, Any], error: str | None) -> None:
    listed: dict[str, dict[str, Any]] = {"make a": {"step": True}, "make b": {"within": "make a"}}
    listed |= changed
    named = [Command("p", "target", name) for name in ("make a", "make b")]
    set_up = settings.Settings(listed, {})
    errors = settings.command_errors(set_up, named, "step make a\nstep make bb\n")
    assert errors == [] if error is None else any(text.startswith(error) for text in errors)


def test_pages_that_do_not_run_have_a_test_or_a_reason() -> None:
    tests = {"docs/gone.md": "a reason", "docs/power.md": "tests/python/test_cli.py"}
    errors = settings.page_errors(settings.Settings({}, tests), {"docs/power.md": ""})
    assert errors == [
        "docs/gone.md: no such page",
        "docs/power.md: tests/python/test_cli.py does not name it",
    ]


def test_terminal_has_80_columns_and_24_lines(tmp_path: Path) -> None:
    shown = terminal.run("stty size; tty; exit 3", tmp_path, ENVIRONMENT, 20)
    assert shown.status == 3
    assert shown.lines()[0] == "24 80" and shown.lines()[1].startswith("/dev/pts/")


def test_terminal_types_keys(tmp_path: Path) -> None:
    typed = terminal.run("read -n 1 key; echo got $key", tmp_path, ENVIRONMENT, 20, "q")
    assert typed.status == 0 and "got q" in typed.text
    begin = time.monotonic()
    ended = terminal.run("sleep 60", tmp_path, ENVIRONMENT, 50, terminal.CTRL_C, 0.5)
    assert ended.status != 0 and time.monotonic() - begin < 40


def test_terminal_kills_what_does_not_end(tmp_path: Path) -> None:
    shown = terminal.run("echo begun; sleep 60; echo ended", tmp_path, ENVIRONMENT, 1)
    assert shown.status == terminal.TIMED_OUT and shown.lines()[0] == "begun"


@pytest.mark.parametrize(
    ("command", "locale", "defects"),
    [
        ("echo good", "C", []),
        ("exit 1", "C", ["status 1"]),
        ("echo 'Traceback (most recent call last)'", "C", ["a traceback"]),
        ("printf %081d 0; printf '\\r%080d' 0", "C", ["wider than the terminal"]),
        ("printf '\\033[1m%080d\\033[0m\\n' 0", "C", []),
        ("printf 'a\\342\\224\\202'", "C", ["not ASCII"]),
        ("printf 'a\\342\\224\\202'", "C.UTF-8", []),
    ],
)
def test_defects_of_outputs(
    command: str, locale: str, defects: list[str], tmp_path: Path, capsys: Any
) -> None:
    walk = main.Walk(settings.Settings({}, {}), locale)
    walk.run(Command("page", "sh", command), tmp_path)
    found = [text.removeprefix(f"page: {command}: ") for text in walk.failed]
    assert len(found) == len(defects), found
    assert all(text.startswith(start) for text, start in zip(found, defects, strict=True))


VERDICT = "FAIL: 7 lost, only 1 of 2 Gbps sent downstream while the system\n  used a core"


@pytest.mark.parametrize(
    ("text", "fails", "runs"),
    [(VERDICT, 1, 2), (VERDICT, 9, main.ATTEMPTS), ("FAIL: 7 lost", 1, 1), ("PASS", 0, 1)],
)
def test_run_on_a_busy_machine_is_repeated(
    text: str, fails: int, runs: int, tmp_path: Path
) -> None:
    """The run fails so many times, and then passes."""
    (tmp_path / "verdict").write_text(text)
    command = f"cat verdict; echo >>runs; test $(wc -l <runs) -gt {fails}"
    walk = main.Walk(settings.Settings({}, {}), "C")
    walk.run(Command("page", "sh", command), tmp_path)
    assert (tmp_path / "runs").read_text() == "\n" * runs
    assert bool(walk.failed) == (fails >= runs)


def test_server_runs_beside_the_next_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The server runs in the blocks beside it, not in others; Ctrl-C ends it."""
    (tmp_path / "vcmts").write_text("#!/bin/sh\ntest -e running\n")
    (tmp_path / "vcmts").chmod(0o755)
    server = "trap 'rm running; exit 0' INT; touch running; while :; do sleep 0.1; done"
    commands = [
        Command("p", "sh", "test ! -e running"),
        Command("p", "sh serving", server),
        Command("p", "sh beside", "test -e running && touch seen"),
        Command("p", "sh", "test ! -e running"),
    ]
    walk = main.Walk(settings.Settings({}, {}), "C")
    walk.run_page(commands, tmp_path)
    assert walk.failed == [] and (tmp_path / "seen").exists()
