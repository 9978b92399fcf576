# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs that report their progress: with --progress they print lines `progress DONE TOTAL
TEXT` to stderr. Other lines on stderr are messages for the user.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from threading import Thread
from typing import IO

from vcmts.child import Stopped, die_with_parent
from vcmts.progress import Progress

STEP = re.compile(r"progress ([0-9]+) ([0-9]+) ?(.*)")

OnProgress = Callable[[int, int, str], None]  # work done, total work, description of the next step
OnMessage = Callable[[str], None]  # a message for the user


def whole_progress(shown: Progress) -> OnProgress:
    """Returns a function that shows the program's progress as the whole of `shown`."""

    def on_progress(done: int, total: int, text: str) -> None:
        shown.total = total
        shown.at(done, text)

    return on_progress


def part_progress(shown: Progress, start: float) -> OnProgress:
    """Returns a function that shows the program's progress as the unit of `shown` from `start`."""

    def on_progress(done: int, total: int, text: str) -> None:
        shown.at(start + (done / total if total > 0 else 0), text)

    return on_progress


def print_to_stderr(line: str) -> None:
    """Prints a line to stderr in one write, as child processes write there too."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def read_messages(
    lines: Iterable[str], on_progress: OnProgress, on_message: OnMessage = print_to_stderr
) -> None:
    """Passes progress lines to `on_progress`, and other lines to `on_message`."""
    for line in lines:
        step = STEP.fullmatch(line.rstrip("\n"))
        if step is None:
            on_message(line.rstrip("\n"))
        else:
            on_progress(int(step[1]), int(step[2]), step[3])


def run_watched(
    command: Sequence[str],
    on_progress: OnProgress,
    stopped: Stopped,
    on_message: OnMessage = print_to_stderr,
    stdout: int | IO[bytes] | None = None,
) -> int:
    """Runs a program with --progress to its end; a signal stops it. Returns its status."""
    with subprocess.Popen(
        [*command, "--progress"],
        start_new_session=True,  # as child.start(): it gets Ctrl-C from the tool only
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=die_with_parent,
    ) as child:
        assert child.stderr is not None
        lines = TextIOWrapper(child.stderr, errors="replace")
        reader = Thread(target=read_messages, args=(lines, on_progress, on_message))
        reader.start()
        status = stopped.wait(child)
        reader.join()
    return status
