# SPDX-License-Identifier: BSD-3-Clause
"""Samples the server periodically during the day, in a thread."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planning.day.moment import HOURS, MOVED, NAMES, Counts, Moment, Span, clock, group_ids
from vcmts.control.client import Client, RefusedError
from vcmts.control.metrics import metrics
from vcmts.directions import DIRECTIONS
from vcmts.paths import MistakeError, RefusalError
from vcmts.telemetry import latency
from vcmts.telemetry.plane import Plane
from vcmts.top.samples import Answer, OddAnswerError, answer_of

ANSWER_S = 30.0
Joules = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Source:
    """Reads the server. `ask`: everything. `read_counters`: only bytes, which is cheap.
    `max_hertz`: by core with known frequency. `joules`: only energy, which may run
    --watts-command."""

    ask: Callable[[], Moment]
    read_counters: Callable[[], Answer]
    max_hertz: dict[str, float]
    joules: Joules = dict


def merge_histograms(parts: Iterator[list[list[float]]]) -> Counts:
    """Adds histograms, whose buckets are [microseconds, packets]."""
    whole: Counts = {}
    for part in parts:
        for us, packets in part:
            ns = round(us * 1000)
            whole[ns] = whole.get(ns, 0) + int(packets)
    return whole


def latencies(client: Client, groups: Iterable[str]) -> dict[str, Counts]:
    """Latency histograms of all service groups together, by direction."""
    answer = [latency.read(Plane(client, int(group)), reset=False) for group in groups]
    return {
        way: merge_histograms(one[way]["histogram"] for one in answer if way in one)
        for way in DIRECTIONS
    }


def max_hertz(client: Client) -> dict[str, float]:
    """Maximum Hz by core; empty if vcmtsd knows no frequencies."""
    try:
        answer: Any = client.call("power.get")
        return {str(core["core"]): float(core["max_hertz"]) for core in answer["cores"]}
    except (RefusedError, KeyError, TypeError, ValueError):
        return {}


@contextmanager
def connect(control: Path, joules: Joules) -> Iterator[Source]:
    """Connects to the control socket. Functions of the source raise one of TROUBLES on failure."""
    with Client(control, ANSWER_S) as client:

        def ask() -> Moment:
            answer = answer_of(metrics(client, names=list(NAMES)))
            return Moment(answer, latencies(client, group_ids(answer)), joules())

        def read_counters() -> Answer:
            return answer_of(metrics(client, names=list(MOVED.values())))

        yield Source(ask, read_counters, max_hertz(client), joules)


MINUTES = 10.0  # of the day between two samples
SHORTEST_S = 0.25  # minimum real time between two samples
LONGEST_S = 30.0  # maximum time between two readings of joules, whose counters wrap around
START_INTERVAL_S = 0.05  # between two readings until the first packet
TROUBLES = (OSError, MistakeError, RefusalError, OddAnswerError, ValueError, KeyError)
Progress = Callable[[float, str], None]  # seconds since the begin of the day, and a status line


def interval(length: float) -> float:
    """Seconds between two samples of a day of `length` seconds."""
    return max(SHORTEST_S, length * MINUTES / (HOURS * 60))


def transferred_bytes(answer: Answer) -> float:
    """Bytes of both directions since the server started."""
    return sum(answer.one(name) or 0.0 for name in MOVED.values())


def progress_line(span: Span) -> str:
    """A status line: time of the day, rate, and busy time."""
    bits = sum(span.bits(way) or 0.0 for way in MOVED)
    busy = [worker.busy for worker in span.workers() if worker.busy is not None]
    answer = f", {sum(busy) / len(busy):.0%} busy" if busy else ""
    return f"{clock(HOURS * min(1.0, span.end / span.length))}, {bits / 1e9:.2f} Gbps{answer}"


@dataclass
class Watch:
    """Samples a day. `length`: seconds of the day; `silent`: seconds of it before the first packet.

    Results: `moments`, and `start`, the server's uptime when the day began."""

    source: Source
    length: float
    silent: float
    progress: Progress
    moments: list[Moment] = field(default_factory=list)
    start: float = 0.0
    trouble: str = ""  # the error that ended the sampling; "": none
    over: threading.Event = field(default_factory=threading.Event)  # set by the caller to stop

    def run(self) -> None:
        try:
            if self._wait_for_load():
                self._sample_day()
        except TROUBLES as error:
            self.trouble = str(error) or type(error).__name__

    def _wait_for_load(self) -> bool:
        """Waits for the first packet and takes the first sample. Returns False if stopped
        before."""
        before = self.source.read_counters()
        baseline = transferred_bytes(before)
        while not self.over.wait(START_INTERVAL_S):
            now = self.source.read_counters()
            if transferred_bytes(now) > baseline:
                # The first packet came between the two readings, `silent` after the day began.
                self.start = (before.uptime + now.uptime) / 2 - self.silent
                self.moments.append(self.source.ask())
                return True
            before = now
        return False

    def _pause(self, seconds: float) -> bool:
        """Waits, and reads joules meanwhile. Returns True if the caller stopped the sampling."""
        while seconds > LONGEST_S:
            if self.over.wait(LONGEST_S):
                return True
            begun = time.monotonic()
            self.source.joules()
            seconds -= LONGEST_S + time.monotonic() - begun
        return self.over.wait(max(0.0, seconds))

    def _sample_day(self) -> None:
        """Samples until the end of the day or until stopped. Skips samples that are overdue."""
        every = interval(self.length)
        elapsed = self.moments[0].answer.uptime - self.start
        while elapsed < self.length - every / 10:
            due = min(self.length, ((elapsed + every / 2) // every + 1) * every)
            ended = self._pause(due - elapsed)
            self.moments.append(self.source.ask())
            span = Span(self.moments[-2:], self.start, self.length)
            self.progress(min(span.end, self.length), progress_line(span))
            if ended:
                return
            elapsed = max(due, span.end)
