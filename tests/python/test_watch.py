# SPDX-License-Identifier: BSD-3-Clause
"""Tests watch.py: progress lines go to the progress display, all other lines to stderr."""

import io
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from vcmts import watch
from vcmts.child import Stopped, stoppable
from vcmts.progress import Progress

Step = tuple[int, int, str]


def read_messages(*lines: str) -> tuple[list[Step], list[str]]:
    """Reads lines of a command. Returns the steps of its progress, and the other lines."""
    steps: list[Step] = []
    remarks: list[str] = []
    watch.read_messages(lines, lambda *step: steps.append(step), remarks.append)
    return steps, remarks


def test_progress_lines_are_separated_from_remarks() -> None:
    steps, remarks = read_messages(
        "vcmts-bench: running on ordinary pages\n",
        "progress 3 20 imix: run 4 of 5\n",
        "progress 4 20\n",
        "progress is slow\n",
        "progress 1 x\n",
        " progress 1 2 no\n",
    )
    assert steps == [(3, 20, "imix: run 4 of 5"), (4, 20, "")]
    assert remarks == [
        "vcmts-bench: running on ordinary pages",
        "progress is slow",
        "progress 1 x",
        " progress 1 2 no",
    ]


def progress_of_4_steps() -> Progress:
    return Progress("test", 4, lambda progress: None)


def test_program_sets_whole_progress() -> None:
    whole = progress_of_4_steps()
    watch.whole_progress(whole)(3, 20, "third")
    assert (whole.done, whole.total, whole.text) == (3, 20, "third")


def test_program_sets_part_of_progress() -> None:
    whole = progress_of_4_steps()
    report = watch.part_progress(whole, 2)
    report(0, 0, "nothing to do")
    assert whole.done == 2
    report(5, 20, "a quarter")
    assert (whole.done, whole.total, whole.text) == (2.25, 4, "a quarter")


def write_program(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def test_status_and_remarks_are_passed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps: list[Step] = []
    command = write_program(
        tmp_path,
        """
import sys
assert sys.argv[1:] == ["--fast", "--progress"], sys.argv
print("progress 1 2 half", file=sys.stderr)
sys.stderr.buffer.write(b"no text: \\xff\\n")
print("a mistake", file=sys.stderr)
sys.exit(7)
""",
    )
    status = watch.run_watched([*command, "--fast"], lambda *step: steps.append(step), Stopped())
    assert status == 7
    assert steps == [(1, 2, "half")]
    assert capfd.readouterr().err == "no text: \N{REPLACEMENT CHARACTER}\na mistake\n"


def test_signal_stops_the_program(tmp_path: Path) -> None:
    """Only the program gets the signal, not its process group. Its last lines are read."""
    command = write_program(
        tmp_path,
        """
import os, signal, sys, time
def stop(number, frame):  # may interrupt a print: no buffered output
    os.write(2, b"progress 1 2 stopped\\n")
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
os.write(2, b"progress 0 2 ready\\n")
time.sleep(60)
""",
    )
    steps: list[Step] = []

    def report(*step: object) -> None:
        steps.append(step)  # type: ignore[arg-type]
        if step[2] == "ready":
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()

    with stoppable() as stopped:
        assert watch.run_watched(command, report, stopped) == 130
    assert stopped.by_signal
    assert steps == [(0, 2, "ready"), (1, 2, "stopped")]


def test_remarks_go_to_stderr_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    watch.read_messages(io.StringIO("one\ntwo"), lambda *step: None)
    assert capfd.readouterr().err == "one\ntwo\n"
