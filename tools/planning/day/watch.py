# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the server again and again while the day goes by, in a thread of its own."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planning.day.moment import HOURS, MOVED, NAMES, Counts, Moment, Span, clock, groups_of
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.control.metrics import metrics
from vcmts.directions import DIRECTIONS
from vcmts.paths import MistakeError
from vcmts.telemetry import latency
from vcmts.telemetry.plane import Plane
from vcmts.top.samples import Answer, OddAnswerError, answer_of

ANSWER_S = 30.0
Joules = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Source:
    """`moved`: only how much has moved, to be asked often. `highest`: Hz by the numbers of cores
    whose frequencies vcmtsd knows. `joules`: measured alone, between moments far from each other.
    """

    ask: Callable[[], Moment]
    moved: Callable[[], Answer]
    highest: dict[str, float]
    joules: Joules = dict


def added(parts: Iterator[list[list[float]]]) -> Counts:
    """Histograms of service groups as one."""
    whole: Counts = {}
    for part in parts:
        for us, packets in part:
            ns = round(us * 1000)
            whole[ns] = whole.get(ns, 0) + int(packets)
    return whole


def latencies(client: Client, groups: Iterable[str]) -> dict[str, Counts]:
    """Of all service groups together, by direction."""
    told = [latency.read(Plane(client, int(group)), reset=False) for group in groups]
    return {way: added(one[way]["histogram"] for one in told if way in one) for way in DIRECTIONS}


def highest(client: Client) -> dict[str, float]:
    """Of each core, Hz; nothing where vcmtsd knows of no frequencies."""
    try:
        told: Any = client.call("power.get")
        return {str(core["core"]): float(core["max_hertz"]) for core in told["cores"]}
    except (RefusedError, KeyError, TypeError, ValueError):
        return {}


@contextmanager
def asking(control: Path, joules: Joules) -> Iterator[Source]:
    """What asks raises one of watch.TROUBLES where there is no answer."""
    with Client(control, ANSWER_S) as client:

        def ask() -> Moment:
            told = answer_of(metrics(client, names=list(NAMES)))
            return Moment(told, latencies(client, groups_of(told)), joules())

        def moved() -> Answer:
            return answer_of(metrics(client, names=list(MOVED.values())))

        yield Source(ask, moved, highest(client), joules)


MINUTES = 10.0  # of the day between two looks, but not more often than
SHORTEST_S = 0.25
LONGEST_S = 30.0  # between two readings of joules, whose counters begin anew at some time
BEGIN_S = 0.05  # between two looks until something moves
TROUBLES = (OSError, MistakeError, ClosedError, RefusedError, OddAnswerError, ValueError, KeyError)
Tell = Callable[[float, str], None]  # seconds of the day that are over, and what goes on


def interval(length: float) -> float:
    """Seconds between two looks, of a day of this length."""
    return max(SHORTEST_S, length * MINUTES / (HOURS * 60))


def moved(told: Answer) -> float:
    """Bytes, since the start."""
    return sum(told.one(name) or 0.0 for name in MOVED.values())


def line(span: Span) -> str:
    """What goes on, in a few words."""
    bits = sum(span.bits(way) or 0.0 for way in MOVED)
    busy = [worker.busy for worker in span.workers() if worker.busy is not None]
    told = f", {sum(busy) / len(busy):.0%} busy" if busy else ""
    return f"{clock(HOURS * min(1.0, span.end / span.length))}, {bits / 1e9:.2f} Gbps{told}"


@dataclass
class Watch:
    """`length`: seconds of the day; `silent`: of these, before the first packet.

    `moments` and `start` (the server's uptime when the day began) are for others at the end."""

    source: Source
    length: float
    silent: float
    tell: Tell
    moments: list[Moment] = field(default_factory=list)
    start: float = 0.0
    trouble: str = ""  # why it ended before the day did, where it did so by itself
    over: threading.Event = field(default_factory=threading.Event)  # set by who has seen enough

    def run(self) -> None:
        try:
            if self._begin():
                self._go_on()
        except TROUBLES as error:
            self.trouble = str(error) or type(error).__name__

    def _begin(self) -> bool:
        """Waits for the first packets. False: there were none."""
        before = self.source.moved()
        rest = moved(before)
        while not self.over.wait(BEGIN_S):
            now = self.source.moved()
            if moved(now) > rest:
                # They came between these two; the day began `silent` before.
                self.start = (before.uptime + now.uptime) / 2 - self.silent
                self.moments.append(self.source.ask())
                return True
            before = now
        return False

    def _wait(self, seconds: float) -> bool:
        """Whether somebody has seen enough."""
        while seconds > LONGEST_S:
            if self.over.wait(LONGEST_S):
                return True
            begun = time.monotonic()
            self.source.joules()
            seconds -= LONGEST_S + time.monotonic() - begun
        return self.over.wait(max(0.0, seconds))

    def _go_on(self) -> None:
        """To the end of the day, or of what is watched. What comes late is not made up for."""
        every = interval(self.length)
        past = self.moments[0].told.uptime - self.start
        while past < self.length - every / 10:
            due = min(self.length, ((past + every / 2) // every + 1) * every)
            ended = self._wait(due - past)
            self.moments.append(self.source.ask())
            span = Span(self.moments[-2:], self.start, self.length)
            self.tell(min(span.end, self.length), line(span))
            if ended:
                return
            past = max(due, span.end)
