# SPDX-License-Identifier: BSD-3-Clause
"""A machine's P-states in watts, from what was saved when there was almost nothing to do.

Three savings and three unknowns: what a core's switching takes at the highest frequency, how far
the voltage falls to the lowest, and what of it goes on in a pause. Busy and polling take the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vcmts.paths import MistakeError
from vcmts.power.model import State


@dataclass(frozen=True)
class NearIdle:
    """Watts of all processors, and what pauses, the lowest frequency, and both took away."""

    cpu: float
    pauses: float
    frequency: float
    both: float


@dataclass(frozen=True)
class Switching:
    """What the calibration finds, of one core."""

    watts: float  # at the highest frequency
    voltage: float  # at the lowest frequency, as a share of that at the highest
    kept: float  # share of it that goes on in a pause
    rest: float  # watts of all processors beside it


def solved(
    seen: NearIdle, cores: float, idle: float, idle_slow: float, slowdown: float
) -> Switching:
    """`idle`: share of the time without work at the highest frequency, `idle_slow` at the lowest,
    which is `slowdown` of the highest."""
    by_pause = seen.pauses / (cores * idle)
    by_pause_slow = (seen.both - seen.frequency) / (cores * idle_slow)
    ratio = by_pause_slow / by_pause  # of c V^2 f
    if not 0 < ratio < 1:
        raise MistakeError("calibrate: pauses must save something, and less when slow")
    whole = seen.frequency / cores / (1 - ratio)
    found = Switching(
        whole, math.sqrt(ratio / slowdown), 1 - by_pause / whole, seen.cpu - cores * whole
    )
    if found.kept < 0 or found.rest < 0 or found.voltage > 1:
        raise MistakeError(
            "calibrate: the savings contradict each other: of a core "
            f"{found.watts:.2f} W, of which {found.kept:.0%} go on in a pause, at "
            f"{found.voltage:.0%} of the voltage, and {found.rest:.0f} W beside it"
        )
    return found


def states(found: Switching, ghz: Sequence[float]) -> tuple[State, ...]:
    """c V^2 f, with a voltage on a line from the lowest to the highest frequency."""
    least, most = ghz[0], ghz[-1]

    def at(f: float) -> State:
        part = (f - least) / (most - least)
        voltage = found.voltage + part * (1 - found.voltage)
        busy = found.watts * voltage * voltage * f / most
        return State(f, busy, busy, found.kept * busy)

    return tuple(at(f) for f in ghz)


def proportion(of: Sequence[float], to: Sequence[float]) -> float:
    """The factor by which `of` comes nearest to `to` (least squares)."""
    return sum(a * b for a, b in zip(of, to, strict=True)) / sum(a * a for a in of)
