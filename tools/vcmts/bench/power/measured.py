# SPDX-License-Identifier: BSD-3-Clause
"""What all parts of `vcmts bench power` share: what was asked for, trials in turns, results."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from vcmts.bench import offered
from vcmts.bench.offered import Point, Split
from vcmts.bench.power.plane import POLL, Plane
from vcmts.jsons import Json
from vcmts.progress import Progress
from vcmts.results import Measurement

ATTEMPTS = 3  # times as many runs as are asked for, while cores are taken away
PROVE = 1 / 16


@dataclass(frozen=True)
class Asked:
    """What was asked for, checked."""

    where: Point
    shares: Split
    parts: tuple[str, ...]
    steps: int
    runs: int
    seconds: float  # of a trial
    policy: str  # while there are steps


@dataclass(frozen=True)
class Bench:
    """What measures, and where it goes."""

    asked: Asked
    plane: Plane
    kinds: tuple[str, ...]  # of pauses that this CPU has, POLL first
    rates: dict[str, float]  # without loss, bit/s by direction
    to: Measurement
    stored: str
    shown: Progress

    def rates_at(self, load: float) -> dict[str, float]:
        return {way: rate * load for way, rate in self.rates.items()}

    def request(self, load: float, seconds: float, **more: Any) -> Json:
        """Of a trial at a share of the rate without loss."""
        asked = offered.request(self.asked.where, self.rates_at(load), seconds, PROVE)
        return asked | more

    def add(self, result: Json) -> None:
        self.to.results.append(result)
        self.to.write(self.stored)


def result(what: str, unit: str, values: Sequence[float], **more: Any) -> Json:
    """The median of the runs, and all of them."""
    return {
        "what": what,
        **more,
        "unit": unit,
        "value": median(values),
        "min": min(values),
        "max": max(values),
        "runs": len(values),
        "values": list(values),
    }


def gap(answers: Sequence[Json]) -> float:
    """The longest time for which a core was taken away in any of them, us."""
    return max(float(offered.descheduled(answer)["longest_us"]) for answer in answers)


def turns(bench: Bench, kind: str, asked: Json, text: str) -> list[tuple[Json, Json]]:
    """Trials of polling and of pauses, one right after the other; as many pairs as there are to be
    runs, those from which the least was taken away. Pairs in which a core was are made again."""
    made: list[tuple[Json, Json]] = []
    calm = 0
    while calm < bench.asked.runs and len(made) < ATTEMPTS * bench.asked.runs:
        pair = []
        for idle in (POLL, kind):
            bench.plane.set(idle=idle)
            pair.append(bench.plane.ask(asked))
        made.append((pair[0], pair[1]))
        calm += gap(pair) == 0
        bench.shown.at(bench.shown.done, f"{text}, {len(made)}")
    return sorted(made, key=gap)[: bench.asked.runs]
