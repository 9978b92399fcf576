# SPDX-License-Identifier: BSD-3-Clause
"""Progress of work that takes longer than two seconds, with an estimate of the remaining time.

It is a bar on a terminal, else a line every 10 s. Both go to stderr; stdout is for results.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from vcmts.console import out_console

QUIET_SECONDS = 2.0  # before the first line
LINE_SECONDS = 10.0  # between two lines


def left(elapsed: float, done: float, total: float) -> str:
    """The remaining time at the speed so far, as `1:05 left`; "" if nothing is done yet."""
    if done <= 0 or total <= 0:
        return ""
    seconds = round(max(0.0, elapsed * (total - done) / done))
    return f"{seconds // 60}:{seconds % 60:02} left"


class Progress:
    """The state of some work, in any unit. The caller may change `total` while it runs."""

    def __init__(self, title: str, total: float, say: Callable[["Progress"], None]) -> None:
        self.title, self.total, self.done, self.text = title, total, 0.0, ""
        self.start = time.monotonic()
        self._say = say

    def at(self, done: float, text: str = "") -> None:
        """Sets the amount of work done, and the text beside it; "" keeps the text."""
        self.done, self.text = min(done, self.total), text or self.text
        self._say(self)

    def advance(self, amount: float = 1.0, text: str = "") -> None:
        self.at(self.done + amount, text)

    def left(self) -> str:
        return left(time.monotonic() - self.start, self.done, self.total)


def line_printer(out: TextIO) -> Callable[[Progress], None]:
    """Returns the function that prints a progress line if LINE_SECONDS have passed."""
    last = time.monotonic() + QUIET_SECONDS - LINE_SECONDS

    def say(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last < LINE_SECONDS:
            return
        last = time.monotonic()
        share = progress.done / progress.total if progress.total else 0.0
        words = (f"{progress.title}: {share:.0%}", progress.left(), progress.text)
        print(", ".join(word for word in words if word), file=out, flush=True)

    return say


@contextmanager
def progress(title: str, total: float, out: TextIO | None = None) -> Iterator[Progress]:
    """Shows progress during a context: `with progress("bench pipeline", 5) as p: p.advance()`."""
    out = out or sys.stderr
    console = out_console(out)
    if not console.is_terminal or console.is_dumb_terminal:
        yield Progress(title, total, line_printer(out))
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]} {task.fields[text]}", markup=False),
    )
    # Once per second: drawing takes a core from a measurement that polls on all of them.
    with Bar(*columns, console=console, transient=True, refresh_per_second=1) as bar:
        task = bar.add_task(title, total=total, left="", text="")

        def say(p: Progress) -> None:
            bar.update(task, completed=p.done, total=p.total, left=p.left(), text=p.text)

        yield Progress(title, total, say)
        bar.refresh()
