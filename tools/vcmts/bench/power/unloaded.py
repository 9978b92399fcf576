# SPDX-License-Identifier: BSD-3-Clause
"""Measures pauses without traffic: paused time, CPU time, and the latency of the first packet."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from vcmts.bench.latency_merge import merge
from vcmts.bench.power.measured import Bench, longest_gap, make_result
from vcmts.bench.power.plane import POLL, SLEEP
from vcmts.bench.trials import ProgramError
from vcmts.jsons import Json

SHORT_PAUSE_US = 1  # longest pause of the published measurement
PAUSED = "vcmts_worker_paused_seconds_total"
BUSY, IDLE = "vcmts_worker_busy_seconds_total", "vcmts_worker_idle_seconds_total"
# Idle times before single packets: a short one, and one after which sleeping workers, whose sleep
# grows with the idle time, sleep for their maximum.
APART_SECONDS, LONG_APART_SECONDS = 0.1, 1.5
PACKETS, LONG_PACKETS = 15, 4  # in a run
PACKET_BYTES = 1024
QUANTILES = ("p50", "p99", "max")


def idle_seconds(seconds: float) -> float:
    """The duration of a measurement: long compared to the longest pause. `seconds`: of a trial."""
    return max(seconds, 2 * APART_SECONDS)


def paused(bench: Bench) -> None:
    """Measures the paused share of workers' time, with pauses of the published maximum."""
    longest = bench.plane.get()["longest_pause_us"]
    for kind in bench.kinds[1:]:
        bench.plane.set(idle=kind, longest_pause_us=SHORT_PAUSE_US)
        values = []
        for _ in range(bench.options.runs):
            before = bench.plane.counted(PAUSED, BUSY, IDLE)
            time.sleep(bench.options.seconds)
            after = bench.plane.counted(PAUSED, BUSY, IDLE)
            spent = {name: after[name] - before[name] for name in after}
            values.append(spent[PAUSED] / (spent[BUSY] + spent[IDLE]))
            bench.shown.advance(bench.options.seconds, f"idle, {kind}")
        bench.add(
            make_result("paused", "share", values, idle=kind, longest_pause_us=SHORT_PAUSE_US)
        )
    bench.plane.set(idle=POLL, longest_pause_us=longest)


def cpu(bench: Bench) -> None:
    """Measures the CPU time of vcmtsd as a share of a core, with the longest pauses."""
    for kind in bench.kinds:
        bench.plane.set(idle=kind)
        if bench.options.runs > 1:
            time.sleep(LONG_APART_SECONDS)  # until pauses are longest
        values = []
        for _ in range(bench.options.runs):
            before, begin = bench.plane.cpu_seconds(), time.monotonic()
            time.sleep(idle_seconds(bench.options.seconds))
            spent = bench.plane.cpu_seconds() - before
            values.append(spent / (time.monotonic() - begin))
            bench.shown.advance(idle_seconds(bench.options.seconds), f"CPU, {kind}")
        bench.add(make_result("cpu", "cores", values, idle=kind))
    bench.plane.set(idle=POLL)


@dataclass(frozen=True)
class SinglePackets:
    """Single packets with an idle time before each."""

    packets: int
    apart: float  # seconds

    @property
    def request(self) -> Json:
        return {
            "seconds": self.packets * self.apart,
            "rate": round(PACKET_BYTES * 8 / self.apart),
            "mix": str(PACKET_BYTES),
            "latency": True,
            "prove": 1,
            "drop": True,
        }


def idle_times(kind: str, runs: int) -> list[SinglePackets]:
    """The idle times for a kind of pause; a long one only for SLEEP, as others do not grow."""
    found = [SinglePackets(PACKETS if runs > 1 else 1, APART_SECONDS)]
    if kind == SLEEP and runs > 1:
        found.append(SinglePackets(LONG_PACKETS, LONG_APART_SECONDS))
    return found


def first(bench: Bench) -> None:
    """Measures the latency of first packets after an idle time, without repeating runs."""
    runs = bench.options.runs
    for kind in bench.kinds:
        bench.plane.set(idle=kind)
        for packets in idle_times(kind, runs):
            made = []
            for number in range(runs):
                time.sleep(packets.apart)
                made.append(bench.plane.ask(packets.request))
                bench.shown.at(bench.shown.done, f"first packet, {kind}, {number + 1}")
            add_first(bench, kind, packets, made)
            bench.shown.advance(runs * packets.packets * packets.apart)
    bench.plane.set(idle=POLL)


def add_first(bench: Bench, kind: str, packets: SinglePackets, used: list[Json]) -> None:
    """Adds the results of a kind of pause: quantiles of all packets together, and of each run."""
    each = [answer["downstream"]["latency_us"] for answer in used]
    whole = merge(each)
    if whole is None:
        raise ProgramError("no packet was received after an idle time")
    lost = sum(one["downstream"]["lost"] for one in used)
    for key in QUANTILES:
        values = [one[key] for one in each if one]
        more = {"idle": kind, "apart_seconds": packets.apart, "packets": packets.packets}
        result = make_result(
            f"first.{key}", "us", values, **more, lost=lost, disturbed=longest_gap(used) > 0
        )
        bench.add(result | {"value": whole[key]})


def first_seconds(kinds: Iterable[str], runs: int) -> float:
    """The duration of first() for these kinds of pause."""
    each = (packets for kind in kinds for packets in idle_times(kind, runs))
    return runs * sum((packets.packets + 1) * packets.apart for packets in each)
