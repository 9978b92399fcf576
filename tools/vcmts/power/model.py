# SPDX-License-Identifier: BSD-3-Clause
"""Models the watts of a machine from the time that its workers are busy, poll or pause at a
frequency. Nothing here is measured; docs/power.md describes the model.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

SLACK = 1e-9


@dataclass(frozen=True)
class State:
    """A P-state, with the watts of one core in it."""

    ghz: float
    busy: float
    polling: float
    paused: float


@dataclass(frozen=True)
class Kind:
    """The workers of each service group for one direction."""

    carries: str  # downstream, upstream, both
    cores: float  # per service group
    gbps: float  # capacity of these cores together at the highest frequency


@dataclass(frozen=True)
class Machine:
    """A server. Watts are those of all its processors; the platform is the whole server."""

    name: str
    source: str
    groups: int
    cores: int
    workers: tuple[Kind, ...]
    upstream_share: float  # upstream rate over downstream rate
    peak_gbps: float  # both directions
    states: tuple[State, ...]  # by ascending frequency
    rest_watts: float  # of the processors without the workers' cores
    platform_watts: float | None  # constant part of the platform; None: unknown
    platform_factor: float  # platform watts per watt of the processors: power supplies, fans
    governor_busy: float  # maximum share of a core's time that the governor allows to be busy
    governor_ghz: float  # lowest frequency that the governor chooses
    governor_name: str = ""
    transition_us: float = 0.0  # duration of a frequency change
    fitted: Mapping[str, float] = field(default_factory=dict)  # results of the calibration
    published_day: Mapping[str, Any] = field(default_factory=dict)  # % by level and saving

    @property
    def worker_cores(self) -> float:
        return self.groups * sum(kind.cores for kind in self.workers)


@dataclass(frozen=True)
class Use:
    """How one worker, or several equal ones, spend their time. The remaining time they poll."""

    busy: float  # share of the time
    paused: float  # share of the time
    hertz: float
    weight: float = 1.0  # number of workers


def state_at(machine: Machine, hertz: float) -> State:
    """The state at a frequency: linear between two P-states, constant outside of them."""
    states, ghz = machine.states, hertz / 1e9
    index = bisect_left([state.ghz for state in states], ghz)
    if index == 0:
        return states[0]
    if index == len(states):
        return states[-1]
    low, high = states[index - 1], states[index]
    part = (ghz - low.ghz) / (high.ghz - low.ghz)

    def between(one: float, other: float) -> float:
        return one + part * (other - one)

    return State(
        ghz,
        between(low.busy, high.busy),
        between(low.polling, high.polling),
        between(low.paused, high.paused),
    )


def scaled_hertz(machine: Machine, share: float) -> float:
    """The frequency at a share of the highest, for a measured core with other frequencies."""
    return share * machine.states[-1].ghz * 1e9


def core_watts(machine: Machine, *, busy: float, paused: float, hertz: float) -> float:
    """Modelled watts of a worker's core, which polls if it is neither busy nor paused."""
    if min(busy, paused) < -SLACK or busy + paused > 1 + SLACK:
        raise ValueError(f"busy {busy:g} and paused {paused:g}: shares of one time")
    state = state_at(machine, hertz)
    polling = max(0.0, 1 - busy - paused)
    return busy * state.busy + polling * state.polling + paused * state.paused


def cpu_watts(machine: Machine, uses: Iterable[Use], workers: float | None = None) -> float:
    """Modelled watts of all processors. `uses` is a sample of the machine's workers, scaled to
    `workers` cores; None: those of the description."""
    uses = list(uses)
    weight = sum(use.weight for use in uses)
    if weight <= 0:
        raise ValueError("no worker")
    cores = sum(
        use.weight * core_watts(machine, busy=use.busy, paused=use.paused, hertz=use.hertz)
        for use in uses
    )
    return machine.rest_watts + (workers or machine.worker_cores) * cores / weight


def watts(machine: Machine, *, busy: float, paused: float, hertz: float) -> float:
    """Modelled watts of all processors, if all workers spend their time in the same way."""
    return cpu_watts(machine, [Use(busy, paused, hertz)])


def platform_watts(machine: Machine, cpu: float) -> float | None:
    """Modelled watts of the server if its processors take `cpu` watts; None: unknown."""
    if machine.platform_watts is None:
        return None
    return machine.platform_watts + machine.platform_factor * cpu


def split_rate(machine: Machine, gbps: float) -> tuple[float, float]:
    """Splits a rate of both directions into downstream and upstream."""
    downstream = gbps / (1 + machine.upstream_share)
    return downstream, gbps - downstream


def loads(machine: Machine, downstream: float, upstream: float) -> list[float]:
    """The load of each kind of workers, 1 is full at the highest frequency. Gbps of the server."""
    of = {"downstream": downstream, "upstream": upstream, "both": downstream + upstream}
    return [of[kind.carries] / machine.groups / kind.gbps for kind in machine.workers]


def slowest(machine: Machine, load: float) -> State:
    """The governor's choice: the lowest frequency that keeps a core's busy share within its limit,
    else the highest. `load` is the busy share at the highest frequency."""
    highest = machine.states[-1]
    for state in machine.states:
        busy = load * highest.ghz / state.ghz
        if busy <= machine.governor_busy + SLACK and state.ghz >= machine.governor_ghz - SLACK:
            return state
    return highest
