# SPDX-License-Identifier: BSD-3-Clause
"""Whether two samples of repeated runs differ by more than their own noise.

From four runs each on, a two-sided Mann-Whitney test on the single values, exact where that can be
counted out. With fewer, or where a file holds only the smallest and largest run, whether the
ranges lie apart: were both samples of one distribution, they would do so by chance in 2 of
(n + m choose n) cases. Both say "differs" below a chance of 5 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

CHANCE = 0.05
ENOUGH_RUNS = 4  # with three each, the least p of Mann-Whitney is 0.1
COUNTED_OUT = 200_000  # ways to part the values in two, beyond which p is approximated

Verdict = Literal["differs", "within the noise", "too few runs"]


@dataclass(frozen=True)
class Sample:
    """A figure of one file: what is told of it, and what is known of its runs."""

    value: float
    least: float
    most: float
    runs: int
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    method: str
    chance: float | None  # of such a difference without any cause; None: cannot be told


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
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
    """Two-sided p: how often a split of all values at random lies as far from the middle."""
    both = ranks([*a, *b])
    size, total = len(a), len(a) + len(b)
    middle = size * (total + 1) / 2
    away = abs(sum(both[:size]) - middle)
    if math.comb(total, size) <= COUNTED_OUT:
        sums = [sum(some) for some in combinations(both, size)]
        return sum(abs(one - middle) >= away - 1e-9 for one in sums) / len(sums)
    counts = [both.count(rank) for rank in set(both)]
    ties = sum(count**3 - count for count in counts) / (total * (total - 1))
    spread = math.sqrt(size * len(b) / 12 * (total + 1 - ties))
    if spread == 0:
        return 1.0
    return min(1.0, math.erfc(max(0.0, away - 0.5) / spread / math.sqrt(2)))


def judge(a: Sample, b: Sample) -> Judged:
    if min(len(a.values), len(b.values)) >= ENOUGH_RUNS:
        chance = mann_whitney(a.values, b.values)
        verdict: Verdict = "differs" if chance < CHANCE else "within the noise"
        return Judged(verdict, "Mann-Whitney", chance)
    if min(a.runs, b.runs) < 1 or max(a.runs, b.runs) < 2:
        return Judged("too few runs", "measured once", None)
    if a.least <= b.most and b.least <= a.most:
        return Judged("within the noise", "ranges overlap", None)
    chance = min(1.0, 2 / math.comb(a.runs + b.runs, a.runs))
    return Judged("differs" if chance < CHANCE else "too few runs", "ranges apart", chance)
