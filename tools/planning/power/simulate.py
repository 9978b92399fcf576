# SPDX-License-Identifier: BSD-3-Clause
"""A day of a described machine: modelled watts with and without pauses and slower cores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planning.day.load import HOURS, Day, share
from vcmts.power.model import (
    Machine,
    Use,
    cpu_watts,
    loads,
    platform_watts,
    rates,
    slowest,
)

MODES = ("none", "pauses", "frequency", "both")
SAVINGS = MODES[1:]
STEPS = 288  # of a day: five minutes


@dataclass(frozen=True)
class Moment:
    """Of one way to save."""

    uses: tuple[Use, ...]  # by kind of workers
    cpu: float  # modelled watts
    platform: float | None


@dataclass(frozen=True)
class Step:
    hour: float
    gbps: float  # both directions
    by: Mapping[str, Moment]  # by mode


@dataclass(frozen=True)
class Saved:
    """Shares of what is taken without saving; `per_watt` in Gbps a watt, the mean over the day."""

    most: float
    least: float
    average: float
    per_watt: float


def use(machine: Machine, load: float, mode: str, cores: float) -> Use:
    """What a core does with a load, a share of what it carries at the highest frequency."""
    state = machine.states[-1]
    if mode in ("frequency", "both"):
        state = slowest(machine, load)
    busy = min(1.0, load * machine.states[-1].ghz / state.ghz)
    paused = 1 - busy if mode in ("pauses", "both") else 0.0
    return Use(busy, paused, state.ghz * 1e9, cores)


def moment(machine: Machine, downstream: float, upstream: float, mode: str) -> Moment:
    """At a load in Gbps of the server."""
    found = loads(machine, downstream, upstream)
    uses = tuple(
        use(machine, load, mode, kind.cores)
        for kind, load in zip(machine.workers, found, strict=True)
    )
    cpu = cpu_watts(machine, uses)
    return Moment(uses, cpu, platform_watts(machine, cpu))


def day_of(machine: Machine, day: Day, modes: Iterable[str] = MODES) -> list[Step]:
    """The day's shares are of the machine's peak, each direction's of its own."""
    peak_down, peak_up = rates(machine, machine.peak_gbps)
    wanted = ("none", *(mode for mode in SAVINGS if mode in set(modes)))
    steps = []
    for number in range(STEPS + 1):
        hour = number * HOURS / STEPS
        down = share(day.downstream, hour) * peak_down
        up = share(day.upstream, hour) * peak_up
        by = {mode: moment(machine, down, up, mode) for mode in wanted}
        steps.append(Step(hour, down + up, by))
    return steps


def taken(steps: Sequence[Step], mode: str, level: str) -> list[float] | None:
    """Modelled watts by step of `cpu` or `platform`; None where they are not known."""
    found: list[float] = []
    for step in steps:
        watts = getattr(step.by[mode], level)
        if watts is None:
            return None
        found.append(watts)
    return found


def saved(steps: Sequence[Step], mode: str, level: str) -> Saved | None:
    before, after = taken(steps, "none", level), taken(steps, mode, level)
    if before is None or after is None:
        return None
    shares = [1 - a / b for a, b in zip(after, before, strict=True)]
    gains = [b / a for a, b in zip(after, before, strict=True)]
    return Saved(max(shares), min(shares), mean(shares), mean(gains) - 1)


def mean(values: Sequence[float]) -> float:
    """Over the day, in a straight line between two steps."""
    return (sum(values) - (values[0] + values[-1]) / 2) / (len(values) - 1)
