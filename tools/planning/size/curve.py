# SPDX-License-Identifier: BSD-3-Clause
"""Rates of a core: Gbps per core by the number of active service groups, with their source."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]


def interpolate(points: Points, x: float) -> float:
    """Linear interpolation between points in order of x. Outside: the nearest point's value."""
    index = bisect_left([p[0] for p in points], x)
    if index == 0 or index == len(points):
        return points[min(index, len(points) - 1)][1]
    (x0, y0), (x1, y1) = points[index - 1], points[index]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def extrapolate(points: Points, x: float) -> float:
    """Linear interpolation; outside the points, extrapolation."""
    if len(points) < 2 or points[0][0] <= x <= points[-1][0]:
        return interpolate(points, x)
    (x0, y0), (x1, y1) = points[:2] if x < points[0][0] else points[-2:]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


@dataclass(frozen=True)
class Curve:
    """Gbps per core of a direction, at the measured clock."""

    points: tuple[tuple[int, float], ...]  # (active service groups per socket, Gbps)
    mean_bytes: float  # per packet
    source: str
    both_threads: bool  # True: rate of both hyper-threads; False: of one alone
    outside: tuple[str, ...] = ()  # notes: differences between the request and the measurement

    def gbps(self, at_once: int) -> float:
        return interpolate(self.points, at_once)

    def cycles(self, at_once: int, clock: float) -> float:
        """Core cycles per packet at `clock` GHz."""
        return clock * self.mean_bytes * 8 / self.gbps(at_once)

    @property
    def max_at_once(self) -> int:
        return self.points[-1][0]


@dataclass(frozen=True)
class Costs:
    """The costs of a kind of service group on the measured machine."""

    machine: str
    clock: float  # GHz during the measurement
    downstream: Curve
    upstream: Curve | None  # None: unknown; cores follow a rule of thumb
    memory_gib: float | None  # per service group
    memory_source: str = ""
    upstream_share: float | None = None  # of the downstream rate during the measurement
