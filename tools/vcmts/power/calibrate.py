# SPDX-License-Identifier: BSD-3-Clause
"""Calculates a machine's watts per P-state from power savings that were measured near idle.

Three savings give three unknowns: a core's switching power at the highest frequency, the voltage at
the lowest, and the share of switching power in a pause. Busy and polling cores take the same power.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vcmts.paths import MistakeError
from vcmts.power.model import State


@dataclass(frozen=True)
class NearIdle:
    """Watts of all processors, and the savings by pauses, lowest frequency, and both."""

    cpu: float
    pauses: float
    frequency: float
    both: float


@dataclass(frozen=True)
class Switching:
    """The result of the calibration, for one core."""

    watts: float  # at the highest frequency
    voltage: float  # at the lowest frequency, as a share of that at the highest
    kept: float  # share of `watts` in a pause
    rest: float  # watts of all processors without their cores' switching power


def solve(
    measured: NearIdle, cores: float, idle: float, idle_slow: float, slowdown: float
) -> Switching:
    """Solves for the unknowns, with idle shares at both frequencies, lowest over highest."""
    by_pause = measured.pauses / (cores * idle)
    by_pause_slow = (measured.both - measured.frequency) / (cores * idle_slow)
    ratio = by_pause_slow / by_pause  # of c V^2 f
    if not 0 < ratio < 1:
        raise MistakeError("calibrate: pauses must save power, and less at the lowest frequency")
    whole = measured.frequency / cores / (1 - ratio)
    found = Switching(
        whole, math.sqrt(ratio / slowdown), 1 - by_pause / whole, measured.cpu - cores * whole
    )
    if found.kept < 0 or found.rest < 0 or found.voltage > 1:
        raise MistakeError(
            "calibrate: the savings contradict each other: they give "
            f"{found.watts:.2f} W per core, {found.kept:.0%} of it in a pause, "
            f"{found.voltage:.0%} of the voltage, and {found.rest:.0f} W besides the cores"
        )
    return found


def states(found: Switching, ghz: Sequence[float]) -> tuple[State, ...]:
    """P-states at ascending frequencies `ghz`, by c V^2 f with a voltage linear in f."""
    least, most = ghz[0], ghz[-1]

    def at(f: float) -> State:
        part = (f - least) / (most - least)
        voltage = found.voltage + part * (1 - found.voltage)
        busy = found.watts * voltage * voltage * f / most
        return State(f, busy, busy, found.kept * busy)

    return tuple(at(f) for f in ghz)


def fit_factor(of: Sequence[float], to: Sequence[float]) -> float:
    """The factor that fits `of` to `to` by least squares."""
    return sum(a * b for a, b in zip(of, to, strict=True)) / sum(a * a for a in of)
