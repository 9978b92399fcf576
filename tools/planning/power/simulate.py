# SPDX-License-Identifier: BSD-3-Clause
"""Models a server over a day: watts with and without pauses and lower frequencies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planning.day.load import HOURS, Day, share
from vcmts.power.model import (
    Machine,
    Use,
    cpu_watts,
    loads,
    platform_watts,
    slowest,
    split_rate,
)

MODES = ("none", "pauses", "frequency", "both")
SAVINGS = MODES[1:]
STEPS = 288  # of a day: five minutes


@dataclass(frozen=True)
class Moment:
    """The modelled state of one mode."""

    uses: tuple[Use, ...]  # per kind of worker
    cpu: float  # modelled watts
    platform: float | None


@dataclass(frozen=True)
class Step:
    hour: float
    gbps: float  # both directions
    by: Mapping[str, Moment]  # by mode


@dataclass(frozen=True)
class Saved:
    """Savings as shares of the watts while polling. `per_watt`: mean gain of Gbps per watt."""

    most: float
    least: float
    average: float
    per_watt: float


def use(machine: Machine, load: float, mode: str, cores: float) -> Use:
    """A core's busy and paused time. `load`: a share of its capacity at the highest frequency."""
    state = machine.states[-1]
    if mode in ("frequency", "both"):
        state = slowest(machine, load)
    busy = min(1.0, load * machine.states[-1].ghz / state.ghz)
    paused = 1 - busy if mode in ("pauses", "both") else 0.0
    return Use(busy, paused, state.ghz * 1e9, cores)


def moment(machine: Machine, downstream: float, upstream: float, mode: str) -> Moment:
    """Models the server at a load in Gbps."""
    found = loads(machine, downstream, upstream)
    uses = tuple(
        use(machine, load, mode, kind.cores)
        for kind, load in zip(machine.workers, found, strict=True)
    )
    cpu = cpu_watts(machine, uses)
    return Moment(uses, cpu, platform_watts(machine, cpu))


def simulate_day(machine: Machine, day: Day, modes: Iterable[str] = MODES) -> list[Step]:
    """Models each step of the day. The day's shares are relative to the peak of each direction."""
    peak_down, peak_up = split_rate(machine, machine.peak_gbps)
    wanted = ("none", *(mode for mode in SAVINGS if mode in set(modes)))
    steps = []
    for number in range(STEPS + 1):
        hour = number * HOURS / STEPS
        down = share(day.downstream, hour) * peak_down
        up = share(day.upstream, hour) * peak_up
        by = {mode: moment(machine, down, up, mode) for mode in wanted}
        steps.append(Step(hour, down + up, by))
    return steps


def mode_watts(steps: Sequence[Step], mode: str, level: str) -> list[float] | None:
    """Modelled watts per step of `cpu` or `platform`; None if unknown."""
    found: list[float] = []
    for step in steps:
        watts = getattr(step.by[mode], level)
        if watts is None:
            return None
        found.append(watts)
    return found


def saved(steps: Sequence[Step], mode: str, level: str) -> Saved | None:
    before, after = mode_watts(steps, "none", level), mode_watts(steps, mode, level)
    if before is None or after is None:
        return None
    shares = [1 - a / b for a, b in zip(after, before, strict=True)]
    gains = [b / a for a, b in zip(after, before, strict=True)]
    return Saved(max(shares), min(shares), mean(shares), mean(gains) - 1)


def mean(values: Sequence[float]) -> float:
    """The mean over the day; values are linear between steps."""
    return (sum(values) - (values[0] + values[-1]) / 2) / (len(values) - 1)
