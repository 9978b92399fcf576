# SPDX-License-Identifier: BSD-3-Clause
"""Work that takes longer than two seconds shows how far it is and the time that is left.

On a terminal a bar, elsewhere a line now and then. Both go to stderr: results alone go to stdout.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

QUIET_SECONDS = 2.0  # what is done before says nothing
LINE_SECONDS = 10.0  # between two lines where there is no terminal


def left(elapsed: float, done: float, total: float) -> str:
    """What is still to come at the speed so far, as `1:05 left`; nothing before any is done."""
    if done <= 0 or total <= 0:
        return ""
    seconds = round(max(0.0, elapsed * (total - done) / done))
    return f"{seconds // 60}:{seconds % 60:02} left"


class Progress:
    """How far a piece of work is, in any unit. `total` may become larger on the way."""

    def __init__(self, title: str, total: float, say: Callable[["Progress"], None]) -> None:
        self.title, self.total, self.done, self.text = title, total, 0.0, ""
        self.start = time.monotonic()
        self._say = say

    def at(self, done: float, text: str = "") -> None:
        self.done, self.text = min(done, self.total), text or self.text
        self._say(self)

    def advance(self, amount: float = 1.0, text: str = "") -> None:
        self.at(self.done + amount, text)

    def left(self) -> str:
        return left(time.monotonic() - self.start, self.done, self.total)


def lines(out: TextIO) -> Callable[[Progress], None]:
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
    """`with progress("bench pipeline", runs) as p: p.advance(text="imix, run 2")`."""
    out = out or sys.stderr
    console = Console(file=out)
    if not console.is_terminal or console.is_dumb_terminal:
        yield Progress(title, total, lines(out))
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]} {task.fields[text]}", markup=False),
    )
    # Once a second: what is measured may poll on every core, and each drawing takes one away.
    with Bar(*columns, console=console, transient=True, refresh_per_second=1) as bar:
        task = bar.add_task(title, total=total, left="", text="")

        def say(p: Progress) -> None:
            bar.update(task, completed=p.done, total=p.total, left=p.left(), text=p.text)

        yield Progress(title, total, say)
        bar.refresh()
