# SPDX-License-Identifier: BSD-3-Clause
"""Answers to metrics.get, and the increases and rates of counters between two of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Labels = tuple[tuple[str, str], ...]  # sorted by name
Buckets = list[tuple[float, float]]  # (upper bound, observations up to it), bounds ascending


class OddAnswerError(Exception):
    """The answer does not have the expected form."""


@dataclass(frozen=True)
class Answer:
    """The samples of one time, by name and labels, in the order of the response."""

    uptime: float  # seconds
    values: dict[str, dict[Labels, float]] = field(default_factory=dict)

    def of(self, name: str, **wanted: str) -> Iterator[tuple[dict[str, str], float]]:
        """Labels and value of each sample with this name and all the wanted labels."""
        required = wanted.items()
        for labels, value in self.values.get(name, {}).items():
            found = dict(labels)
            if required <= found.items():
                yield found, value

    def one(self, name: str, **labels: str) -> float | None:
        """The sum of all samples with this name and these labels; None if there are none."""
        found = [value for _, value in self.of(name, **labels)]
        return sum(found) if found else None

    def split(self, label: str) -> dict[str, "Answer"]:
        """The samples with this label, as one Answer per value of it."""
        parts: dict[str, Answer] = {}
        for name, series in self.values.items():
            for labels, value in series.items():
                which = next((text for key, text in labels if key == label), None)
                if which is not None:
                    part = parts.setdefault(which, Answer(self.uptime))
                    part.values.setdefault(name, {})[labels] = value
        return parts

    def text(self, name: str, label: str, **labels: str) -> str:
        """A label of the first sample, such as one of an _info metric; "" if there is none."""
        return next((found.get(label, "") for found, _ in self.of(name, **labels)), "")


def sample_of(sample: Any) -> tuple[str, Labels, float]:
    """Converts a sample. Raises KeyError, TypeError or ValueError if it is malformed."""
    labels = tuple(
        sorted((str(key), str(value)) for key, value in sample.get("labels", {}).items())
    )
    value = float(sample["value"])
    if math.isnan(value):
        raise ValueError
    return str(sample["name"]), labels, value


def answer_of(result: Any) -> Answer:
    """Converts the result of metrics.get. Raises OddAnswerError."""
    values: dict[str, dict[Labels, float]] = {}
    try:
        for sample in result["samples"]:
            name, labels, value = sample_of(sample)
            values.setdefault(name, {})[labels] = value
        return Answer(float(result["uptime"]), values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OddAnswerError("the response to metrics.get is malformed") from error


def bound_of(text: str) -> float:
    """The bucket bound of the label `le`; infinity if it is not a number."""
    try:
        bound = float(text)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(bound) else bound


@dataclass(frozen=True)
class Between:
    """Two consecutive answers. A counter that became smaller restarted from 0."""

    before: Answer
    after: Answer

    @property
    def seconds(self) -> float:
        """The time between the answers; 0: rates are unknown, as vcmtsd restarted."""
        return max(0.0, self.after.uptime - self.before.uptime)

    def split(self, label: str) -> dict[str, "Between"]:
        """As Answer.split(): one Between per value of the label in the second answer."""
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
        """The increase of all series with these labels together; None if none is known."""
        if not self.seconds:
            return None
        found = [value for _, value in self._increases(name, labels)]
        return sum(found) if found else None

    def rate(self, name: str, **labels: str) -> float | None:
        """The increase per second; None: unknown."""
        found = self.increase(name, **labels)
        return None if found is None else found / self.seconds

    def buckets(self, name: str, **labels: str) -> Buckets:
        """The buckets of a histogram with the observations between the answers, of all series."""
        sums: dict[float, float] = {}
        if self.seconds:
            for found, value in self._increases(f"{name}_bucket", labels):
                bound = bound_of(found.get("le", ""))
                sums[bound] = sums.get(bound, 0.0) + value
        return sorted(sums.items())


def percentile(buckets: Buckets, share: float) -> float | None:
    """The value below which this share of observations lies; infinity: above all bounds.

    It is interpolated within a bucket, except in the first one, of which nothing finer is known:
    that gives its bound."""
    total = buckets[-1][1] if buckets else 0.0
    if total <= 0:
        return None
    wanted = share * total
    if buckets[0][1] >= wanted and buckets[0][1] > 0:
        return buckets[0][0]
    for (below, before), (bound, count) in pairwise(buckets):
        if count >= wanted and count > before:
            if math.isinf(bound):
                return math.inf
            return below + (bound - below) * max(0.0, wanted - before) / (count - before)
    return math.inf
