# SPDX-License-Identifier: BSD-3-Clause
"""A simulated data plane whose zero-loss rate is known, for tests of the search."""

import random
from dataclasses import dataclass

from vcmts.bench.verdict import Bound, Outcome, Verdict


def outcome(verdict: Verdict, by: Bound | None = None, carried: float = 1.0) -> Outcome:
    return Outcome(verdict, by, carried, "", {})


@dataclass
class Plane:
    """Rates in Gbps. A trial reports only what a real data plane can report."""

    capacity: float
    seed: int = 0
    band: float = 0.0  # share of the capacity, below it, in which trials may lose packets
    luck: float = 0.0  # share of the capacity, above it, that rings may absorb
    bad_luck: float = 0.0  # share of trials that lose packets at any rate
    noise: float = 0.0  # share of trials that report a descheduled core and lose packets
    traffic: float = float("inf")  # highest rate of the traffic program
    channels: float = float("inf")
    wear: float = 0.0  # share of the capacity lost with each trial

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.rates: list[float] = []

    def loses(self, rate: float) -> bool:
        """Losses are certain above capacity and luck, impossible below the band, else possible."""
        low, high = self.capacity * (1 - self.band), self.capacity * (1 + self.luck)
        if rate <= low:
            return False
        return high <= low or self.random.random() < (rate - low) / (high - low)

    def overloaded(self, rate: float) -> float:
        """Returns the delivered share: less than the capacity, as lost packets cost work."""
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
