# SPDX-License-Identifier: BSD-3-Clause
"""Tests vcmts.terminal and vcmts.console: lines as wide as a terminal, and ASCII."""

import fcntl
import io
import os
import pty
import struct
import termios
from collections.abc import Iterator
from typing import IO

import pytest

from vcmts.console import figures_table, out_console, print_line
from vcmts.paths import notify
from vcmts.terminal import is_ascii, wrapped

LONG = "one two three four five six seven eight nine ten"


class Terminal:
    """A pseudo-terminal of 24 columns: `out` writes to it, read() returns what it shows."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 24, 0, 0))
        self.out: IO[str] = os.fdopen(self.slave, "w", encoding="utf-8")

    def read(self) -> str:
        self.out.flush()
        return os.read(self.master, 65536).decode().replace("\r\n", "\n")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.out.close()
    os.close(made.master)


@pytest.mark.parametrize(
    ("variables", "ascii_only"),
    [
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, False),
        ({"LANG": "de_DE.utf8"}, False),
        ({"LANG": "de_DE"}, True),
        ({}, True),
    ],
)
def test_locale_decides_on_characters(
    variables: dict[str, str],
    ascii_only: bool,
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_ascii(terminal.out) is ascii_only


def test_pipes_get_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    out = io.StringIO()
    out_console(out).print(figures_table(["a", "b"], [["1", "2"]]))
    assert out.getvalue().isascii() and "| 1 | 2 |" in out.getvalue()


def test_tables_in_a_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for locale, edge in (("C.UTF-8", "\u2502"), ("C", "|")):
        monkeypatch.setenv("LC_ALL", locale)
        out_console(terminal.out).print(figures_table(["a", "b"], [["1", "2"]]))
        shown = terminal.read()
        assert edge in shown and shown.isascii() is (locale == "C")


def test_lines_break_between_words(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrapped(LONG, io.StringIO()) == LONG
    lines = wrapped(f"  {LONG}\nshort", terminal.out).split("\n")
    assert lines[0] == "  one two three four" and lines[-1] == "short"
    assert all(line.startswith("    ") and len(line) <= 24 for line in lines[1:-1])
    assert " ".join(" ".join(lines[:-1]).split()) == LONG
    print_line(out_console(terminal.out), LONG)
    assert terminal.read() == wrapped(LONG, terminal.out) + "\n"
    monkeypatch.setattr("sys.stderr", terminal.out)
    notify(LONG)
    assert terminal.read() == "vcmts: one two three\n  four five six seven\n  eight nine ten\n"


def test_words_wider_than_the_terminal_stay_whole(terminal: Terminal) -> None:
    path = "/a/long/path/of-a-file/that-is-wide"
    assert path in wrapped(f"wrote {path} now", terminal.out).split("\n  ")


def test_numbers_keep_their_units(terminal: Terminal) -> None:
    assert wrapped("for up to 1234567890123 ms", terminal.out) == "for up to\n  1234567890123 ms"
    assert (
        wrapped("for up to 1234567890123 more", terminal.out) == "for up to 1234567890123\n  more"
    )
