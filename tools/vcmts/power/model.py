# SPDX-License-Identifier: BSD-3-Clause
"""Modelled watts: what a machine takes whose workers are busy, poll or pause at a frequency.

docs/power.md tells what is behind it. Nothing here is measured.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

SLACK = 1e-9


@dataclass(frozen=True)
class State:
    """A P-state. Watts of one core in it, of which a polling one does not know that it is idle."""

    ghz: float
    busy: float
    polling: float
    paused: float


@dataclass(frozen=True)
class Kind:
    """The workers of each service group for one direction."""

    carries: str  # downstream, upstream, both
    cores: float  # of a service group
    gbps: float  # that these carry together, at the highest frequency


@dataclass(frozen=True)
class Machine:
    """A server. Watts are of all its processors; the platform is all of the server."""

    name: str
    source: str
    groups: int
    cores: int
    workers: tuple[Kind, ...]
    upstream_share: float  # of the downstream's rate
    peak_gbps: float  # both directions
    states: tuple[State, ...]  # from slow to fast
    rest_watts: float  # of the processors, beside what the workers' cores take by their states
    platform_watts: float | None  # beside what grows with the processors; None: not known
    platform_factor: float  # watts of the platform for each of the processors: supplies, fans
    governor_busy: float  # the share of a core's time that a governor lets be busy
    governor_ghz: float  # and the least that it chooses
    governor_name: str = ""
    transition_us: float = 0.0  # until another frequency is there
    fitted: Mapping[str, float] = field(default_factory=dict)  # by what it was calibrated
    published_day: Mapping[str, Any] = field(default_factory=dict)

    @property
    def worker_cores(self) -> float:
        return self.groups * sum(kind.cores for kind in self.workers)


@dataclass(frozen=True)
class Use:
    """How one worker, or several alike, spends its time. The rest of it polls."""

    busy: float  # shares of the time
    paused: float
    hertz: float
    weight: float = 1.0  # how many of them


def state_at(machine: Machine, hertz: float) -> State:
    """Between two P-states on the line between them; beyond the ends, the end."""
    states, ghz = machine.states, hertz / 1e9
    place = bisect_left([state.ghz for state in states], ghz)
    if place == 0:
        return states[0]
    if place == len(states):
        return states[-1]
    low, high = states[place - 1], states[place]
    part = (ghz - low.ghz) / (high.ghz - low.ghz)

    def between(one: float, other: float) -> float:
        return one + part * (other - one)

    return State(
        ghz,
        between(low.busy, high.busy),
        between(low.polling, high.polling),
        between(low.paused, high.paused),
    )


def hertz_at(machine: Machine, share: float) -> float:
    """A share of the highest frequency: for a core whose own frequencies are others."""
    return share * machine.states[-1].ghz * 1e9


def core_watts(machine: Machine, *, busy: float, paused: float, hertz: float) -> float:
    """Modelled, of one core of a worker, which polls when it neither works nor pauses.

    `busy` and `paused` are shares of the time, together at most 1.
    """
    if min(busy, paused) < -SLACK or busy + paused > 1 + SLACK:
        raise ValueError(f"busy {busy:g} and paused {paused:g}: shares of one time")
    state = state_at(machine, hertz)
    polling = max(0.0, 1 - busy - paused)
    return busy * state.busy + polling * state.polling + paused * state.paused


def cpu_watts(machine: Machine, uses: Iterable[Use], workers: float | None = None) -> float:
    """Modelled, of all processors; the workers of `uses` stand for all of the machine's.

    `workers`: so many cores instead of those in the description.
    """
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
    """Modelled, of all processors, whose workers all spend their time so."""
    return cpu_watts(machine, [Use(busy, paused, hertz)])


def platform_watts(machine: Machine, cpu: float) -> float | None:
    """Modelled, of the server whose processors take `cpu` watts; None where that is not known."""
    if machine.platform_watts is None:
        return None
    return machine.platform_watts + machine.platform_factor * cpu


def rates(machine: Machine, gbps: float) -> tuple[float, float]:
    """Downstream and upstream of both together."""
    downstream = gbps / (1 + machine.upstream_share)
    return downstream, gbps - downstream


def loads(machine: Machine, downstream: float, upstream: float) -> list[float]:
    """Of each kind of workers: the share of what it carries at the highest frequency.

    The Gbps are those of the server.
    """
    of = {"downstream": downstream, "upstream": upstream, "both": downstream + upstream}
    return [of[kind.carries] / machine.groups / kind.gbps for kind in machine.workers]


def slowest(machine: Machine, load: float) -> State:
    """The governor's choice: the lowest frequency at which a load leaves a core enough time.

    `load` is of the highest frequency. Where none does, the highest.
    """
    highest = machine.states[-1]
    for state in machine.states:
        busy = load * highest.ghz / state.ghz
        if busy <= machine.governor_busy + SLACK and state.ghz >= machine.governor_ghz - SLACK:
            return state
    return highest
