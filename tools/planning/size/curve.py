# SPDX-License-Identifier: BSD-3-Clause
"""What a core carries: Gbps by how many service groups work at once, and where that comes from."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]


def between(points: Points, x: float) -> float:
    """On the lines through the points; outside them the nearest point's value. Ordered by x."""
    at = bisect_left([p[0] for p in points], x)
    if at == 0 or at == len(points):
        return points[min(at, len(points) - 1)][1]
    (x0, y0), (x1, y1) = points[at - 1], points[at]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def along(points: Points, x: float) -> float:
    """As between, but the outer lines go on."""
    if len(points) < 2 or points[0][0] <= x <= points[-1][0]:
        return between(points, x)
    (x0, y0), (x1, y1) = points[:2] if x < points[0][0] else points[-2:]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


@dataclass(frozen=True)
class Curve:
    """A direction's Gbps a core at the measured clock."""

    points: tuple[tuple[int, float], ...]  # by service groups at once on a socket
    mean_bytes: float
    source: str
    both_threads: bool  # both hyper-threads of the core work for that; False: one, alone
    outside: tuple[str, ...] = ()  # what was asked for and not measured

    def gbps(self, at_once: int) -> float:
        return between(self.points, at_once)

    def cycles(self, at_once: int, clock: float) -> float:
        """Core cycles per packet, of a core of `clock` GHz."""
        return clock * self.mean_bytes * 8 / self.gbps(at_once)

    @property
    def most_at_once(self) -> int:
        return self.points[-1][0]


@dataclass(frozen=True)
class Costs:
    """What one kind of service group costs on the machine that was measured."""

    machine: str
    clock: float  # GHz of the core when it was measured
    downstream: Curve
    upstream: Curve | None  # None: no rate is known, its place is a rule of thumb
    memory_gib: float | None  # of a service group
    memory_source: str = ""
    upstream_share: float | None = None  # of the downstream, as it was measured
