# SPDX-License-Identifier: BSD-3-Clause
"""Calculates the figures of the screens from two answers; None: unknown or not measured."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from vcmts.directions import DIRECTIONS
from vcmts.top.samples import Answer, Between, percentile

# The counters of the network port per direction: cycles are per these packets.
WAYS = ("received", "transmitted")
COUNTED = {"downstream": "received", "upstream": "transmitted"}
DROPPED = {
    "downstream": "vcmts_downstream_dropped_packets_total",
    "upstream": "vcmts_upstream_dropped_total",
}
INFO = "vcmts_service_group_info"
DELAY, LATENCY = "vcmts_scheduler_delay_seconds", "vcmts_pipeline_latency_seconds"
PORT_LOSSES = {
    "missed": "vcmts_ethdev_missed_packets_total",
    "errors": "vcmts_ethdev_errors_total",
    "no buffer": "vcmts_ethdev_no_buffer_total",
}
PORT_DROPPED = "vcmts_port_dropped_packets_total"
# Requested metrics, by prefixes of their names.
NAMES = (
    *("vcmts_tsc_hz", "vcmts_service_group_", "vcmts_stage_cycles_", "vcmts_worker_"),
    *(f"vcmts_{way}_{what}_" for way in DIRECTIONS for what in WAYS),
    *(*DROPPED.values(), "vcmts_downstream_held_packets", "vcmts_downstream_channel_"),
    *(DELAY, LATENCY, "vcmts_ethdev_", PORT_DROPPED),
)


@dataclass(frozen=True)
class Stage:
    """`cycles`: TSC cycles per packet of the direction; `core`: share of a core's time."""

    name: str
    cycles: float | None
    core: float | None


@dataclass(frozen=True)
class Drop:
    """`reason`: with the port's name before it for drops of a port. `rate`: packets per second."""

    reason: str
    total: float
    rate: float | None


@dataclass(frozen=True)
class Delay:
    """Delays in seconds. `rate`: measured packets per second. `least`: the first bound of the
    histogram; a percentile equal to it is anything up to it. `measured`: vcmtsd has figures."""

    rate: float | None = None
    p50: float | None = None
    p99: float | None = None
    least: float | None = None
    measured: bool = False


@dataclass(frozen=True)
class Direction:
    """Figures of a direction, per second: received at one port (in), sent to the other (out)."""

    in_bits: float | None
    in_packets: float | None
    out_bits: float | None
    out_packets: float | None
    dropped: float | None  # per second; upstream packets, bursts, segments and frames together
    dropped_total: float
    cycles: float | None  # of all stages, per packet; None: also if cycles are not measured
    latency: Delay  # in the pipeline, if measured
    stages: tuple[Stage, ...]
    drops: tuple[Drop, ...]  # reasons with drops since the start, the most frequent first

    def network(self, direction: str) -> tuple[float | None, float | None]:
        """Bits and packets per second at the network port."""
        if COUNTED[direction] == "received":
            return self.in_bits, self.in_packets
        return self.out_bits, self.out_packets


@dataclass(frozen=True)
class Channel:
    id: str
    rate: float | None  # bits per second, as configured
    bits: float | None  # bits per second, now
    packets: float | None

    @property
    def share(self) -> float | None:
        return self.bits / self.rate if self.rate and self.bits is not None else None


@dataclass(frozen=True)
class Group:
    id: str
    name: str
    modems: float | None
    active_modems: float | None
    service_flows: float | None
    held: float | None  # packets, downstream
    delay: Delay  # in the scheduler, all priorities together
    priorities: dict[str, Delay]
    channels: tuple[Channel, ...]
    directions: dict[str, Direction]


@dataclass(frozen=True)
class Worker:
    name: str
    core: str
    runs: str
    busy: float | None  # share of its time between the answers
    rounds: float | None  # per second
    descheduled: float  # rounds longer than 1 ms, since the start
    longest: float | None  # longest round, seconds
    paused: float | None = None  # share of its time between the answers


@dataclass(frozen=True)
class Figures:
    uptime: float
    seconds: float  # between the answers; 0: there are no rates yet
    groups: tuple[Group, ...]
    workers: tuple[Worker, ...]
    port_drops: tuple[Drop, ...]  # of ports, not of a group
    sums: dict[str, tuple[float | None, float | None, float | None]] = field(default_factory=dict)
    # `sums`: of all groups, by direction: bits, packets and drops per second

    def group(self, wanted: str) -> Group | None:
        return next((group for group in self.groups if group.id == wanted), None)


def total(values: Iterable[float | None]) -> float | None:
    """The sum of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def number_or_text(name: str) -> tuple[bool, int, str]:
    """A sort key: numbers by value, then other texts."""
    return (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)


def values_of(answer: Answer, name: str, label: str) -> list[str]:
    return sorted({found.get(label, "") for found, _ in answer.of(name)}, key=number_or_text)


def bits(between: Between, name: str, **labels: str) -> float | None:
    rate = between.rate(name, **labels)
    return None if rate is None else 8 * rate


def delay(between: Between, name: str, **labels: str) -> Delay:
    buckets = between.buckets(name, **labels)
    return Delay(
        between.rate(f"{name}_count", **labels),
        percentile(buckets, 0.5),
        percentile(buckets, 0.99),
        buckets[0][0] if buckets else None,
        between.after.one(f"{name}_count", **labels) is not None,
    )


def drops(between: Between, name: str, *shown: str) -> tuple[Drop, ...]:
    """Drops of a metric, one for each value of the labels `shown`."""
    totals: dict[tuple[str, ...], float] = {}
    for found, value in between.after.of(name):
        which = tuple(found.get(label, "") for label in shown)
        totals[which] = totals.get(which, 0.0) + value
    made = [
        Drop(" ".join(which), value, between.rate(name, **dict(zip(shown, which, strict=True))))
        for which, value in totals.items()
        if value > 0
    ]
    return tuple(sorted(made, key=most_frequent))


def most_frequent(drop: Drop) -> tuple[float, float, str]:
    return -(drop.rate or 0), -drop.total, drop.reason


def stages(
    between: Between, direction: str, packets: float | None, hz: float | None
) -> tuple[Stage, ...]:
    """The stages of a direction, in the order of the answer, which is that of the pipeline."""
    name, made = "vcmts_stage_cycles_total", []
    for found, _ in between.after.of(name, direction=direction):
        stage = found.get("stage", "")
        spent = between.rate(name, direction=direction, stage=stage)
        cycles = spent / packets if spent is not None and packets else None
        made.append(Stage(stage, cycles, spent / hz if spent is not None and hz else None))
    return tuple(made)


def direction_of(between: Between, direction: str, hz: float | None) -> Direction:
    """A direction of the one service group whose samples `between` has."""
    begin = f"vcmts_{direction}"
    packets = {way: between.rate(f"{begin}_{way}_packets_total") for way in WAYS}
    found = stages(between, direction, packets[COUNTED[direction]], hz)
    return Direction(
        bits(between, f"{begin}_received_bytes_total"),
        packets["received"],
        bits(between, f"{begin}_transmitted_bytes_total"),
        packets["transmitted"],
        between.rate(DROPPED[direction]),
        between.after.one(DROPPED[direction]) or 0.0,
        total(stage.cycles for stage in found) or None,
        delay(between, LATENCY, direction=direction),
        found,
        drops(between, DROPPED[direction], "reason"),
    )


def channels(between: Between) -> tuple[Channel, ...]:
    name, made = "vcmts_downstream_channel", []
    for found, rate in between.after.of(f"{name}_rate_bytes_per_second"):
        which = found.get("channel", "")
        moved = bits(between, f"{name}_bytes_total", channel=which)
        made.append(
            Channel(which, 8 * rate, moved, between.rate(f"{name}_packets_total", channel=which))
        )
    return tuple(sorted(made, key=lambda channel: number_or_text(channel.id)))


def group_of(between: Between, group: str, hz: float | None) -> Group:
    """The one service group whose samples `between` has. `hz`: frequency of the TSC."""
    after, begin = between.after, "vcmts_service_group"
    priorities = reversed(values_of(after, f"{DELAY}_count", "priority"))
    return Group(
        group,
        after.text(INFO, "name"),
        after.one(f"{begin}_modems"),
        after.one(f"{begin}_active_modems"),
        after.one(f"{begin}_service_flows"),
        after.one("vcmts_downstream_held_packets"),
        delay(between, DELAY),
        {priority: delay(between, DELAY, priority=priority) for priority in priorities},
        channels(between),
        {
            way: direction_of(between, way, hz)
            for way in DIRECTIONS
            if f"vcmts_{way}_received_packets_total" in after.values
        },
    )


def worker_of(between: Between, found: dict[str, str]) -> Worker:
    labels = {key: found.get(key, "") for key in ("worker", "core")}
    busy = between.increase("vcmts_worker_busy_seconds_total", **labels)
    idle = between.increase("vcmts_worker_idle_seconds_total", **labels)
    paused = between.increase("vcmts_worker_paused_seconds_total", **labels)
    spent = (busy or 0.0) + (idle or 0.0)
    return Worker(
        labels["worker"],
        labels["core"],
        found.get("runs", ""),
        busy / spent if busy is not None and spent > 0 else None,
        between.rate("vcmts_worker_rounds_total", **labels),
        between.after.one("vcmts_worker_descheduled_total", **labels) or 0.0,
        between.after.one("vcmts_worker_longest_round_seconds", **labels),
        paused / spent if paused is not None and spent > 0 else None,
    )


def port_drops(between: Between) -> tuple[Drop, ...]:
    """Drops of shared ports, and of network cards."""
    made = list(drops(between, PORT_DROPPED, "port", "reason"))
    for word, name in PORT_LOSSES.items():
        for drop in drops(between, name, "port"):
            made.append(Drop(f"{drop.reason} {word}", drop.total, drop.rate))
    return tuple(sorted(made, key=most_frequent))


def sums(groups: Iterable[Group]) -> dict[str, tuple[float | None, float | None, float | None]]:
    made = {}
    for way in DIRECTIONS:
        parts = [group.directions[way] for group in groups if way in group.directions]
        moved = [part.network(way) for part in parts]
        made[way] = (
            total(pair[0] for pair in moved),
            total(pair[1] for pair in moved),
            total(part.dropped for part in parts),
        )
    return made


def figures(before: Answer, after: Answer) -> Figures:
    between = Between(before, after)
    hz = after.one("vcmts_tsc_hz")
    parts = between.split("service_group")
    in_service = values_of(after, INFO, "service_group")
    groups = tuple(group_of(parts[group], group, hz) for group in in_service)
    workers = [worker_of(between, found) for found, _ in after.of("vcmts_worker_info")]
    return Figures(
        after.uptime,
        between.seconds,
        groups,
        tuple(sorted(workers, key=lambda worker: (number_or_text(worker.core), worker.name))),
        port_drops(between),
        sums(groups),
    )
