# SPDX-License-Identifier: BSD-3-Clause
"""Measures the effect of pauses under load: added latency, and cycles per packet at full load.

Trials with polling and with pauses alternate; a value is from a pair of them.
"""

from vcmts.bench.power.measured import Bench, gap, result, turns
from vcmts.bench.power.plane import POLL
from vcmts.jsons import Json

LOADS = (0.1, 0.5, 0.9)
FULL = 1.0  # the rate without loss
KEYS = ("mean", "p99_9")


def latency(bench: Bench) -> None:
    """Measures latency end to end: packets wait for a pausing worker before the pipeline."""
    for load in LOADS:
        for kind in bench.kinds[1:]:
            asked = bench.request(load, bench.asked.seconds, latency=True)
            pairs = turns(bench, kind, asked, f"latency of {kind} at {load:.0%}")
            for way in bench.rates:
                for key in KEYS:
                    bench.add(of_latency(pairs, kind, load, way, key))
            bench.shown.advance(2 * bench.asked.runs * bench.asked.seconds)


def of_latency(pairs: list[tuple[Json, Json]], kind: str, load: float, way: str, key: str) -> Json:
    """The result for the latency that pauses add to polling, in us."""
    told = [tuple(one[way]["latency_us"][key] for one in pair) for pair in pairs]
    return result(
        f"latency.{key}",
        "us",
        [paused - polled for polled, paused in told],
        idle=kind,
        load=load,
        direction=way,
        pairs=[list(pair) for pair in told],
        disturbed=any(gap(pair) > 0 for pair in pairs),
    )


def cycles(answer: Json) -> float:
    """Reference cycles of busy rounds per packet of both directions."""
    ways = (answer[way]["sent"] for way in ("downstream", "upstream") if way in answer)
    return float(sum(worker["busy_cycles"] for worker in answer["workers"]) / sum(ways))


def cost(bench: Bench) -> None:
    for kind in bench.kinds[1:]:
        asked = bench.request(FULL, bench.asked.seconds)
        pairs = turns(bench, kind, asked, f"cost of {kind}")
        told = [(cycles(polled), cycles(paused)) for polled, paused in pairs]
        bench.add(
            result(
                "cost",
                "times",
                [paused / polled for polled, paused in told],
                idle=kind,
                load=FULL,
                pairs=[list(pair) for pair in told],
                disturbed=any(gap(pair) > 0 for pair in pairs),
            )
        )
        bench.shown.advance(2 * bench.asked.runs * bench.asked.seconds)
    bench.plane.set(idle=POLL)
