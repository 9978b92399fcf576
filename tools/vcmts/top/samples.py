# SPDX-License-Identifier: BSD-3-Clause
"""Answers to metrics.get, and what happened between two of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Labels = tuple[tuple[str, str], ...]  # sorted by name
Buckets = list[tuple[float, float]]  # (upper bound, observations up to there), bounds ascending


class OddAnswerError(Exception):
    """What was answered has not the shape of what was asked for."""


@dataclass(frozen=True)
class Answer:
    """The samples of one moment, by name and labels, in the order in which they were told."""

    uptime: float  # seconds
    values: dict[str, dict[Labels, float]] = field(default_factory=dict)

    def of(self, name: str, **wanted: str) -> Iterator[tuple[dict[str, str], float]]:
        """The samples of this name that have all the wanted labels: labels and value."""
        asked = wanted.items()
        for labels, value in self.values.get(name, {}).items():
            found = dict(labels)
            if asked <= found.items():
                yield found, value

    def one(self, name: str, **labels: str) -> float | None:
        """The sum of all samples that have these labels; None where there is none."""
        found = [value for _, value in self.of(name, **labels)]
        return sum(found) if found else None

    def split(self, label: str) -> dict[str, "Answer"]:
        """Those that have this label, apart by its value."""
        parts: dict[str, Answer] = {}
        for name, series in self.values.items():
            for labels, value in series.items():
                which = next((text for key, text in labels if key == label), None)
                if which is not None:
                    part = parts.setdefault(which, Answer(self.uptime))
                    part.values.setdefault(name, {})[labels] = value
        return parts

    def text(self, name: str, label: str, **labels: str) -> str:
        """A label of the first sample, as that of an _info; empty where there is none."""
        return next((found.get(label, "") for found, _ in self.of(name, **labels)), "")


def sample_of(told: Any) -> tuple[str, Labels, float]:
    """KeyError, TypeError or ValueError where it is none."""
    labels = tuple(sorted((str(key), str(value)) for key, value in told.get("labels", {}).items()))
    value = float(told["value"])
    if math.isnan(value):
        raise ValueError
    return str(told["name"]), labels, value


def answer_of(result: Any) -> Answer:
    values: dict[str, dict[Labels, float]] = {}
    try:
        for told in result["samples"]:
            name, labels, value = sample_of(told)
            values.setdefault(name, {})[labels] = value
        return Answer(float(result["uptime"]), values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OddAnswerError("metrics.get was answered by something else") from error


def bound_of(text: str) -> float:
    """Of the label `le`; what is no number is behind all."""
    try:
        bound = float(text)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(bound) else bound


@dataclass(frozen=True)
class Between:
    """Two answers, one behind the other. A counter that is smaller than it was began again from 0;
    of a series that was not there before, nothing is known yet."""

    before: Answer
    after: Answer

    @property
    def seconds(self) -> float:
        """0: there is no before: vcmtsd has started again, or time stood still."""
        return max(0.0, self.after.uptime - self.before.uptime)

    def split(self, label: str) -> dict[str, "Between"]:
        """As those of an answer: what is there now."""
        earlier = self.before.split(label)
        nothing = Answer(self.before.uptime)
        return {
            which: Between(earlier.get(which, nothing), part)
            for which, part in self.after.split(label).items()
        }

    def _increases(
        self, name: str, labels: dict[str, str]
    ) -> Iterator[tuple[dict[str, str], float]]:
        earlier = self.before.values.get(name, {})
        for found, value in self.after.of(name, **labels):
            was = earlier.get(tuple(sorted(found.items())))
            if was is not None:
                yield found, value - was if value >= was else value

    def increase(self, name: str, **labels: str) -> float | None:
        """Of all series that have these labels; None where it is not known of any."""
        if not self.seconds:
            return None
        found = [value for _, value in self._increases(name, labels)]
        return sum(found) if found else None

    def rate(self, name: str, **labels: str) -> float | None:
        """A second."""
        found = self.increase(name, **labels)
        return None if found is None else found / self.seconds

    def buckets(self, name: str, **labels: str) -> Buckets:
        """Of a histogram, the observations between the answers, summed over its series."""
        sums: dict[float, float] = {}
        if self.seconds:
            for found, value in self._increases(f"{name}_bucket", labels):
                bound = bound_of(found.get("le", ""))
                sums[bound] = sums.get(bound, 0.0) + value
        return sorted(sums.items())


def percentile(buckets: Buckets, share: float) -> float | None:
    """The value below which this share of the observations lies, taken as spread evenly within a
    bucket. None: there was nothing; infinity: it is above the last bound."""
    total = buckets[-1][1] if buckets else 0.0
    if total <= 0:
        return None
    wanted = share * total
    for (below, before), (bound, count) in pairwise([(0.0, 0.0), *buckets]):
        if count >= wanted and count > before:
            if math.isinf(bound):
                return math.inf
            return below + (bound - below) * max(0.0, wanted - before) / (count - before)
    return math.inf
