# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of a server at one moment of the day, and figures of the span between two moments.

All metrics but frequencies are counters, so a span of any length is the difference of its last and
first moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.top.model import number_or_text
from vcmts.top.samples import Answer, Between

Counts = dict[int, int]  # packets by lower bound of a bucket, ns

# Bytes at the network port: the load of subscribers, without tunnel overhead.
MOVED = {
    "downstream": "vcmts_downstream_received_bytes_total",
    "upstream": "vcmts_upstream_transmitted_bytes_total",
}
BUSY, IDLE, PAUSED = (f"vcmts_worker_{kind}_seconds_total" for kind in ("busy", "idle", "paused"))
HERTZ, WISHED = "vcmts_core_frequency_hertz", "vcmts_core_frequency_wished_hertz"
INFO, WORKER, PAUSES = "vcmts_power_policy_info", "vcmts_worker_info", "vcmts_worker_idle_info"
# Requested metrics, by prefixes of their names.
NAMES = (*MOVED.values(), "vcmts_worker_", "vcmts_core_frequency_", "vcmts_power_")
HOURS = 24
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p99_9": 0.999}


@dataclass(frozen=True)
class Moment:
    """Everything that was read at one time. `joules`: energy so far by key, of
    power.measured.Joules."""

    answer: Answer
    latencies: dict[str, Counts] = field(default_factory=dict)  # by direction
    joules: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Worker:
    """Shares of a worker's time in a span; None if unknown."""

    core: str
    runs: str
    busy: float | None
    paused: float | None


@dataclass(frozen=True)
class Core:
    """Mean frequencies of a core in a span; None if unknown."""

    core: str
    hertz: float | None
    wished: float | None


@dataclass(frozen=True)
class Span:
    """A part of the day. `inside`: its moments, from the one at its begin to the one at its end."""

    inside: Sequence[Moment]
    start: float  # uptime of the server when the day began, seconds
    length: float  # seconds of the whole day

    @property
    def between(self) -> Between:
        return Between(self.inside[0].answer, self.inside[-1].answer)

    @property
    def end(self) -> float:
        """Seconds from the begin of the day to the end of the span."""
        return self.inside[-1].answer.uptime - self.start

    @property
    def hour(self) -> float:
        """The hour of the day in the middle of the span."""
        return HOURS * (self.end - self.seconds / 2) / self.length

    @property
    def seconds(self) -> float:
        return self.between.seconds

    def bits(self, direction: str, **labels: str) -> float | None:
        """Bits per second; None if unknown."""
        rate = self.between.rate(MOVED[direction], **labels)
        return None if rate is None else 8 * rate

    def groups(self) -> dict[str, dict[str, float | None]]:
        """Bits per second, by service group and direction."""
        return {
            which: {way: self.bits(way, service_group=which) for way in DIRECTIONS}
            for which in group_ids(self.inside[-1].answer)
        }

    def workers(self) -> list[Worker]:
        found = [self._worker(labels) for labels, _ in self.between.after.of(WORKER)]
        return sorted(found, key=lambda worker: number_or_text(worker.core))

    def _worker(self, labels: dict[str, str]) -> Worker:
        own = {key: labels.get(key, "") for key in ("worker", "core")}
        busy, idle, paused = (self.between.increase(name, **own) for name in (BUSY, IDLE, PAUSED))
        spent = (busy or 0.0) + (idle or 0.0)
        shares = [
            None if part is None or spent <= 0 else min(1.0, part / spent)
            for part in (busy, paused)
        ]
        return Worker(own["core"], labels.get("runs", ""), shares[0], shares[1])

    def cores(self) -> list[Core]:
        """Mean frequencies over all moments but the first, which belongs to the span before."""
        moments = [moment.answer for moment in self.inside[1:]]
        ids = {found.get("core", "") for answer in moments for found, _ in answer.of(HERTZ)}
        return [
            Core(
                core,
                *(
                    mean([answer.one(name, core=core) for answer in moments])
                    for name in (HERTZ, WISHED)
                ),
            )
            for core in sorted(ids, key=number_or_text)
        ]

    def latency(self, direction: str) -> Json | None:
        counts = increase(
            self.inside[0].latencies.get(direction, {}),
            self.inside[-1].latencies.get(direction, {}),
        )
        return percentiles(counts)

    def watts(self) -> dict[str, float]:
        """Mean measured watts, by the keys of Moment.joules."""
        before, after = self.inside[0].joules, self.inside[-1].joules
        if not self.seconds:
            return {}
        return {
            what: (joules - before[what]) / self.seconds
            for what, joules in after.items()
            if what in before
        }


def group_ids(answer: Answer) -> list[str]:
    """IDs of the service groups that have metrics."""
    names = MOVED.values()
    ids = {found.get("service_group", "") for name in names for found, _ in answer.of(name)}
    return sorted(ids, key=number_or_text)


def clock(hour: float) -> str:
    minutes = round(hour * 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def increase(before: Counts, after: Counts) -> Counts:
    """The difference of two histograms. A smaller total than before means that counters were
    reset."""
    if sum(after.values()) < sum(before.values()):
        return after
    grown = {ns: packets - before.get(ns, 0) for ns, packets in after.items()}
    return {ns: packets for ns, packets in grown.items() if packets > 0}


def width(ns: int) -> int:
    """The width of a bucket, ns: its times have the same first two digits."""
    return int(10 ** max(0, len(str(ns)) - 2))


def percentile(counts: Counts, share: float) -> float:
    """A percentile in ns, interpolated within its bucket."""
    wanted, below = share * sum(counts.values()), 0
    for ns, packets in sorted(counts.items()):
        if below + packets >= wanted:
            return ns + width(ns) * (wanted - below) / packets
        below += packets
    raise ValueError("a percentile of nothing")


def percentiles(counts: Counts) -> Json | None:
    """Percentiles in microseconds; None if nothing was measured."""
    packets = sum(counts.values())
    if packets == 0:
        return None
    shares = {name: round(percentile(counts, p) / 1000, 3) for name, p in PERCENTILES.items()}
    return {"packets": packets, **shares}
