# SPDX-License-Identifier: BSD-3-Clause
"""A data plane for the search whose zero-loss rate is known."""

import random
from dataclasses import dataclass

from vcmts.bench.verdict import Bound, Outcome, Verdict


def outcome(verdict: Verdict, by: Bound | None = None, carried: float = 1.0) -> Outcome:
    return Outcome(verdict, by, carried, "", {})


@dataclass
class Plane:
    """Rates in Gbps. Why a trial failed the simulation knows; it says what a real one could."""

    capacity: float
    seed: int = 0
    band: float = 0.0  # loss begins by chance at this share below the capacity
    luck: float = 0.0  # what the rings take up at times, a share above the capacity
    bad_luck: float = 0.0  # trials that lose packets unnoticed, at any rate
    noise: float = 0.0  # trials that lose packets as a core was taken away, which is noticed
    traffic: float = float("inf")  # the highest rate that the traffic sustains
    channels: float = float("inf")
    wear: float = 0.0  # capacity lost with each trial, a share

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.rates: list[float] = []

    def loses(self, rate: float) -> bool:
        """Never below the band, always above capacity and rings, in proportion between."""
        floor, roof = self.capacity * (1 - self.band), self.capacity * (1 + self.luck)
        if rate <= floor:
            return False
        return roof <= floor or self.random.random() < (rate - floor) / (roof - floor)

    def overloaded(self, rate: float) -> float:
        """The share that arrives: less than the capacity, as lost packets cost work too."""
        return min(0.999, self.random.uniform(0.7, 1.0) * self.capacity / rate)

    def __call__(self, rate: float) -> Outcome:
        self.rates.append(rate)
        self.capacity *= 1 - self.wear
        if rate > self.traffic:
            return outcome("traffic", "traffic", self.traffic / rate)
        if self.random.random() < self.noise:
            return outcome("disturbed", "machine", 0.9)
        if rate > self.channels:
            return outcome("failed", "channels", self.channels / rate)
        if self.random.random() < self.bad_luck:
            return outcome("failed", "data plane", 0.999)
        if self.loses(rate):
            return outcome("failed", "data plane", self.overloaded(rate))
        return outcome("passed")
