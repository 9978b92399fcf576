# SPDX-License-Identifier: BSD-3-Clause
"""Tests whether two samples of repeated runs differ by more than their noise.

With four or more runs each it is a two-sided Mann-Whitney test. With fewer, or if a file has only
the smallest and largest run, the ranges must be disjoint. For two samples of one distribution that
happens by chance in 2 of (n + m choose n) cases. "differs" needs a probability below 5 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

CHANCE = 0.05
ENOUGH_RUNS = 4  # with three each, the smallest p of Mann-Whitney is 0.1
EXACT_SPLITS = 200_000  # splits of the values in two, up to which p is exact

Verdict = Literal["differs", "within the noise", "too few runs"]


@dataclass(frozen=True)
class Sample:
    """A figure of one file: its value, and the range and number of its runs."""

    value: float
    least: float
    most: float
    runs: int
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Comparison:
    verdict: Verdict
    method: str
    chance: float | None  # probability of the difference by chance; None: unknown


def ranks(values: Sequence[float]) -> list[float]:
    """The ranks of the values, from 1; equal values get the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for i in order[start : end + 1]:
            found[i] = (start + end) / 2 + 1
        start = end + 1
    return found


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """The two-sided p: the share of all splits of the values whose rank sum is as extreme. Exact
    for up to EXACT_SPLITS splits, else by the normal approximation."""
    both = ranks([*a, *b])
    size, total = len(a), len(a) + len(b)
    middle = size * (total + 1) / 2
    distance = abs(sum(both[:size]) - middle)
    if math.comb(total, size) <= EXACT_SPLITS:
        sums = [sum(some) for some in combinations(both, size)]
        return sum(abs(one - middle) >= distance - 1e-9 for one in sums) / len(sums)
    counts = [both.count(rank) for rank in set(both)]
    ties = sum(count**3 - count for count in counts) / (total * (total - 1))
    spread = math.sqrt(size * len(b) / 12 * (total + 1 - ties))
    if spread == 0:
        return 1.0
    return min(1.0, math.erfc(max(0.0, distance - 0.5) / spread / math.sqrt(2)))


def compare_samples(a: Sample, b: Sample) -> Comparison:
    if min(len(a.values), len(b.values)) >= ENOUGH_RUNS:
        chance = mann_whitney(a.values, b.values)
        verdict: Verdict = "differs" if chance < CHANCE else "within the noise"
        return Comparison(verdict, "Mann-Whitney", chance)
    if min(a.runs, b.runs) < 1 or max(a.runs, b.runs) < 2:
        return Comparison("too few runs", "measured once", None)
    if a.least <= b.most and b.least <= a.most:
        return Comparison("within the noise", "ranges overlap", None)
    chance = min(1.0, 2 / math.comb(a.runs + b.runs, a.runs))
    return Comparison("differs" if chance < CHANCE else "too few runs", "ranges apart", chance)
