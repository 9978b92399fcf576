# SPDX-License-Identifier: BSD-3-Clause
"""Fits a line to measured points by the Theil-Sen estimator, which is robust to outliers.

The slope is the median of the slopes of all pairs of points with different x; the fixed part is the
median of the residuals. Least squares would follow a single run that other work on the machine
slowed down; here one of six points may be arbitrary. R2 is the explained share of the variance of y
over all points, so it is low with an outlier, and negative if a constant fits better.
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
    """The explained share of the variance of y; 1 if all y are equal."""
    mean = fmean(y for _, y in points)
    total = sum((y - mean) ** 2 for _, y in points)
    missed = sum((y - fixed - slope * x) ** 2 for x, y in points)
    return 1 - missed / total if total > 0 else 1.0


def line(points: Iterable[Point]) -> Line | None:
    """The fitted line; None with fewer than two different x."""
    points = list(points)
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2]
    if not slopes:
        return None
    slope = median(slopes)
    fixed = median(y - slope * x for x, y in points)
    return Line(fixed, slope, r_squared(points, fixed, slope), len(points))
