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

Tell = Callable[[int, int, str], None]  # work done, total work, description of the next step
Say = Callable[[str], None]  # a message for the user


def on(shown: Progress) -> Tell:
    """Returns a function that shows the program's progress as the whole of `shown`."""

    def tell(done: int, total: int, text: str) -> None:
        shown.total = total
        shown.at(done, text)

    return tell


def part_of(shown: Progress, start: float) -> Tell:
    """Returns a function that shows the program's progress as the unit of `shown` from `start`."""

    def tell(done: int, total: int, text: str) -> None:
        shown.at(start + (done / total if total > 0 else 0), text)

    return tell


def to_stderr(line: str) -> None:
    """Prints a line to stderr in one write, as child processes write there too."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def follow(lines: Iterable[str], tell: Tell, say: Say = to_stderr) -> None:
    """Passes progress lines to `tell`, and other lines to `say`."""
    for line in lines:
        step = STEP.fullmatch(line.rstrip("\n"))
        if step is None:
            say(line.rstrip("\n"))
        else:
            tell(int(step[1]), int(step[2]), step[3])


def watched(
    command: Sequence[str],
    tell: Tell,
    stopped: Stopped,
    say: Say = to_stderr,
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
        reader = Thread(target=follow, args=(lines, tell, say))
        reader.start()
        status = stopped.wait(child)
        reader.join()
    return status
