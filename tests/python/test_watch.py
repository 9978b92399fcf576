# SPDX-License-Identifier: BSD-3-Clause
"""Programs that tell how far they are, and what of it reaches whom."""

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


def followed(*lines: str) -> tuple[list[Step], list[str]]:
    steps: list[Step] = []
    said: list[str] = []
    watch.follow(lines, lambda *step: steps.append(step), said.append)
    return steps, said


def test_steps_and_remarks_are_told_apart() -> None:
    steps, said = followed(
        "vcmts-bench: running on ordinary pages\n",
        "progress 3 20 imix: run 4 of 5\n",
        "progress 4 20\n",
        "progress is slow\n",
        "progress 1 x\n",
        " progress 1 2 no\n",
    )
    assert steps == [(3, 20, "imix: run 4 of 5"), (4, 20, "")]
    assert said == [
        "vcmts-bench: running on ordinary pages",
        "progress is slow",
        "progress 1 x",
        " progress 1 2 no",
    ]


def shown() -> Progress:
    return Progress("test", 4, lambda progress: None)


def test_the_whole_of_what_is_shown() -> None:
    whole = shown()
    watch.on(whole)(3, 20, "third")
    assert (whole.done, whole.total, whole.text) == (3, 20, "third")


def test_a_part_of_what_is_shown() -> None:
    whole = shown()
    tell = watch.part_of(whole, 2)
    tell(0, 0, "nothing to do")
    assert whole.done == 2
    tell(5, 20, "a quarter")
    assert (whole.done, whole.total, whole.text) == (2.25, 4, "a quarter")


def program(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def test_a_program_that_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps: list[Step] = []
    command = program(
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
    status = watch.watched([*command, "--fast"], lambda *step: steps.append(step), Stopped())
    assert status == 7
    assert steps == [(1, 2, "half")]
    assert capfd.readouterr().err == "no text: \N{REPLACEMENT CHARACTER}\na mistake\n"


def test_a_signal_reaches_the_program(tmp_path: Path) -> None:
    """Not its process group: it may end in order, and its last words are heard."""
    command = program(
        tmp_path,
        """
import os, signal, sys, time
def stop(number, frame):  # may come while the line before is not yet left: no buffer twice
    os.write(2, b"progress 1 2 stopped\\n")
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
os.write(2, b"progress 0 2 ready\\n")
time.sleep(60)
""",
    )
    steps: list[Step] = []

    def tell(*step: object) -> None:
        steps.append(step)  # type: ignore[arg-type]
        if step[2] == "ready":
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()

    with stoppable() as stopped:
        assert watch.watched(command, tell, stopped) == 130
    assert stopped.asked
    assert steps == [(0, 2, "ready"), (1, 2, "stopped")]


def test_remarks_go_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    watch.follow(io.StringIO("one\ntwo"), lambda *step: None)
    assert capfd.readouterr().err == "one\ntwo\n"
