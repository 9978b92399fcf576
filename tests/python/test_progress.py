# SPDX-License-Identifier: BSD-3-Clause
"""Tests progress.py: the remaining time, lines on a file, and a bar on a terminal (a pty)."""

import io
import os
import pty
from collections.abc import Iterator
from contextlib import suppress

import pytest

from vcmts import progress


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    yield clock


def test_time_left_is_extrapolated() -> None:
    assert progress.left(30, 1, 4) == "1:30 left"
    assert progress.left(30, 4, 4) == "0:00 left"
    assert progress.left(30, 5, 4) == "0:00 left"


def test_time_left_is_empty_before_the_first_step() -> None:
    assert progress.left(30, 0, 4) == ""
    assert progress.left(0, 0, 0) == ""


def test_short_work_prints_nothing(clock: Clock) -> None:
    out = io.StringIO()
    with progress.progress("short", 2, out) as p:
        clock.now += 0.9
        p.advance()
        clock.now += 0.9
        p.advance()
    assert out.getvalue() == ""


def test_long_work_prints_lines(clock: Clock) -> None:
    out = io.StringIO()
    with progress.progress("long", 100, out) as p:
        for step in range(100):
            clock.now += 0.5
            p.advance(text=f"step {step}")
    lines = out.getvalue().splitlines()
    assert lines[0] == "long: 4%, 0:48 left, step 3"
    assert lines[1] == "long: 24%, 0:38 left, step 23"
    assert len(lines) == 5


def output_on_terminal(kind: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns what a terminal with this $TERM receives for 40 % of progress."""
    monkeypatch.setenv("TERM", kind)
    controller, terminal = pty.openpty()
    with open(terminal, "w", encoding="utf-8") as out, progress.progress("bar", 10, out) as p:
        p.at(4, "half way [bold]")
    text = ""
    with suppress(OSError):  # EIO: the other end is closed
        while True:
            text += os.read(controller, 65536).decode()
    os.close(controller)
    return text


def test_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = output_on_terminal("xterm", monkeypatch)
    assert "bar" in text and "40%" in text and "half way [bold]" in text


def test_dumb_terminal_shows_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    text = output_on_terminal("dumb", monkeypatch)
    assert text == "bar: 40%, 0:00 left, half way [bold]\r\n"
