# SPDX-License-Identifier: BSD-3-Clause
"""What pauses are worth where nothing comes, and how late they make the first packet."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from vcmts.bench.latency_merge import merged
from vcmts.bench.power.measured import Bench, gap, result
from vcmts.bench.power.plane import POLL, SLEEP
from vcmts.bench.trials import TroubleError
from vcmts.jsons import Json

SHORT_PAUSE_US = 1  # the published one
PAUSED = "vcmts_worker_paused_seconds_total"
BUSY, IDLE = "vcmts_worker_busy_seconds_total", "vcmts_worker_idle_seconds_total"
# Single packets, with nothing else for so long before each: a while, and long enough that whoever
# sleeps the longer the longer nothing comes has come to his longest.
APART_SECONDS, LONG_APART_SECONDS = 0.1, 1.5
PACKETS, LONG_PACKETS = 15, 4  # in a run
PACKET_BYTES = 1024
QUANTILES = ("p50", "p99", "max")


def idle_seconds(seconds: float) -> float:
    """That are looked at, where trials take `seconds`: a longest pause is short beside it."""
    return max(seconds, 2 * APART_SECONDS)


def paused(bench: Bench) -> None:
    """The share of workers' time, with pauses no longer than the published ones."""
    longest = bench.plane.get()["longest_pause_us"]
    for kind in bench.kinds[1:]:
        bench.plane.set(idle=kind, longest_pause_us=SHORT_PAUSE_US)
        values = []
        for _ in range(bench.asked.runs):
            before = bench.plane.counted(PAUSED, BUSY, IDLE)
            time.sleep(bench.asked.seconds)
            after = bench.plane.counted(PAUSED, BUSY, IDLE)
            spent = {name: after[name] - before[name] for name in after}
            values.append(spent[PAUSED] / (spent[BUSY] + spent[IDLE]))
            bench.shown.advance(bench.asked.seconds, f"idle, {kind}")
        bench.add(result("paused", "share", values, idle=kind, longest_pause_us=SHORT_PAUSE_US))
    bench.plane.set(idle=POLL, longest_pause_us=longest)


def cpu(bench: Bench) -> None:
    """What the whole of vcmtsd takes of a core, with pauses as long as they may be."""
    for kind in bench.kinds:
        bench.plane.set(idle=kind)
        if bench.asked.runs > 1:
            time.sleep(LONG_APART_SECONDS)  # until they are
        values = []
        for _ in range(bench.asked.runs):
            before, begin = bench.plane.cpu_seconds(), time.monotonic()
            time.sleep(idle_seconds(bench.asked.seconds))
            spent = bench.plane.cpu_seconds() - before
            values.append(spent / (time.monotonic() - begin))
            bench.shown.advance(idle_seconds(bench.asked.seconds), f"CPU, {kind}")
        bench.add(result("cpu", "cores", values, idle=kind))
    bench.plane.set(idle=POLL)


@dataclass(frozen=True)
class Lone:
    """Single packets."""

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


def lone(kind: str, runs: int) -> list[Lone]:
    """Long silences for those that sleep alone: others pause no longer after them."""
    found = [Lone(PACKETS if runs > 1 else 1, APART_SECONDS)]
    if kind == SLEEP and runs > 1:
        found.append(Lone(LONG_PACKETS, LONG_APART_SECONDS))
    return found


def first(bench: Bench) -> None:
    """From the making of a packet behind a silence to the modem that has it. In so long a time some
    core is always taken away somewhere, and seldom from a packet: nothing is made again."""
    runs = bench.asked.runs
    for kind in bench.kinds:
        bench.plane.set(idle=kind)
        for packets in lone(kind, runs):
            made = []
            for number in range(runs):
                time.sleep(packets.apart)
                made.append(bench.plane.ask(packets.request))
                bench.shown.at(bench.shown.done, f"first packet, {kind}, {number + 1}")
            of_first(bench, kind, packets, made)
            bench.shown.advance(runs * packets.packets * packets.apart)
    bench.plane.set(idle=POLL)


def of_first(bench: Bench, kind: str, packets: Lone, used: list[Json]) -> None:
    """The quantiles of all packets together, and those of each run."""
    each = [answer["downstream"]["latency_us"] for answer in used]
    whole = merged(each)
    if whole is None:
        raise TroubleError("of packets behind a silence none came")
    lost = sum(one["downstream"]["lost"] for one in used)
    for key in QUANTILES:
        values = [one[key] for one in each if one]
        more = {"idle": kind, "apart_seconds": packets.apart, "packets": packets.packets}
        told = result(f"first.{key}", "us", values, **more, lost=lost, disturbed=gap(used) > 0)
        bench.add(told | {"value": whole[key]})


def first_seconds(kinds: Iterable[str], runs: int) -> float:
    """That all of it takes, where nothing is made again."""
    each = (packets for kind in kinds for packets in lone(kind, runs))
    return runs * sum((packets.packets + 1) * packets.apart for packets in each)
