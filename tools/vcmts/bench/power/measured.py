# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all parts of `vcmts bench power`: checked options, alternating trials, results."""

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

ATTEMPTS = 3  # maximum pairs per requested run, while they are disturbed
PROVE = 1 / 16


@dataclass(frozen=True)
class Options:
    """The checked options."""

    where: Point
    shares: Split
    parts: tuple[str, ...]
    steps: int
    runs: int
    seconds: float  # of a trial
    policy: str  # of the governor during steps


@dataclass(frozen=True)
class Bench:
    """The programs, the rates, and the measurement for the results."""

    options: Options
    plane: Plane
    kinds: tuple[str, ...]  # kinds of pause of this CPU, POLL first
    rates: dict[str, float]  # without loss, bit/s by direction
    to: Measurement
    stored: str
    shown: Progress

    def rates_at(self, load: float) -> dict[str, float]:
        return {way: rate * load for way, rate in self.rates.items()}

    def request(self, load: float, seconds: float, **more: Any) -> Json:
        """The request for a trial at a share of the rate without loss."""
        options = offered.request(self.options.where, self.rates_at(load), seconds, PROVE)
        return options | more

    def add(self, result: Json) -> None:
        self.to.results.append(result)
        self.to.save(self.stored)


def make_result(what: str, unit: str, values: Sequence[float], **more: Any) -> Json:
    """A result: the median and all values of the runs."""
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


def longest_gap(answers: Sequence[Json]) -> float:
    """The longest time without a core in any of the trials, us."""
    return max(float(offered.descheduled(answer)["longest_us"]) for answer in answers)


def alternate(bench: Bench, kind: str, options: Json, text: str) -> list[tuple[Json, Json]]:
    """Pairs of trials, polling and `kind`; the least disturbed ones, one per run."""
    made: list[tuple[Json, Json]] = []
    calm = 0
    while calm < bench.options.runs and len(made) < ATTEMPTS * bench.options.runs:
        pair = []
        for idle in (POLL, kind):
            bench.plane.set(idle=idle)
            pair.append(bench.plane.ask(options))
        made.append((pair[0], pair[1]))
        calm += longest_gap(pair) == 0
        bench.shown.at(bench.shown.done, f"{text}, {len(made)}")
    return sorted(made, key=longest_gap)[: bench.options.runs]
