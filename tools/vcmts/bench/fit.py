# SPDX-License-Identifier: BSD-3-Clause
"""A line through measured points that one bad point does not bend.

Theil and Sen: the slope is the median of the slopes of all pairs of points of different x, the
fixed part is the median of what is left of each y. Least squares would follow a single run that a
neighbour on the machine has slowed down; here, of six points, any one may be anywhere. R2 says how
much of the spread of y the line explains, as with least squares, but over all points: it tells of a
bad one, and is negative where a constant would do better.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """y = fixed + slope * x."""

    fixed: float
    slope: float
    r2: float
    points: int

    def at(self, x: float) -> float:
        return self.fixed + self.slope * x


def r_squared(points: Sequence[Point], fixed: float, slope: float) -> float:
    """1 where all y are the same: then the line is a constant, and exact."""
    mean = fmean(y for _, y in points)
    total = sum((y - mean) ** 2 for _, y in points)
    missed = sum((y - fixed - slope * x) ** 2 for x, y in points)
    return 1 - missed / total if total > 0 else 1.0


def line(points: Iterable[Point]) -> Line | None:
    """None where there is no line: fewer than two different x."""
    points = list(points)
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2]
    if not slopes:
        return None
    slope = median(slopes)
    fixed = median(y - slope * x for x, y in points)
    return Line(fixed, slope, r_squared(points, fixed, slope), len(points))
