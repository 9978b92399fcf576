# SPDX-License-Identifier: BSD-3-Clause
"""Measures the effect of pauses under load: added latency, and cycles per packet at full load.

Trials with polling and with pauses alternate; a value is from a pair of them.
"""

from vcmts.bench.power.measured import Bench, alternate, longest_gap, make_result
from vcmts.bench.power.plane import POLL
from vcmts.jsons import Json

LOADS = (0.1, 0.5, 0.9)
FULL = 1.0  # the rate without loss
KEYS = ("mean", "p99_9")


def latency(bench: Bench) -> None:
    """Measures latency end to end: packets wait for a pausing worker before the pipeline."""
    for load in LOADS:
        for kind in bench.kinds[1:]:
            options = bench.request(load, bench.options.seconds, latency=True)
            pairs = alternate(bench, kind, options, f"latency of {kind} at {load:.0%}")
            for way in bench.rates:
                for key in KEYS:
                    bench.add(latency_result(pairs, kind, load, way, key))
            bench.shown.advance(2 * bench.options.runs * bench.options.seconds)


def latency_result(
    pairs: list[tuple[Json, Json]], kind: str, load: float, way: str, key: str
) -> Json:
    """The result for the latency that pauses add to polling, in us."""
    values = [tuple(one[way]["latency_us"][key] for one in pair) for pair in pairs]
    return make_result(
        f"latency.{key}",
        "us",
        [paused - polled for polled, paused in values],
        idle=kind,
        load=load,
        direction=way,
        pairs=[list(pair) for pair in values],
        disturbed=any(longest_gap(pair) > 0 for pair in pairs),
    )


def cycles(answer: Json) -> float:
    """Reference cycles of busy rounds per packet of both directions."""
    ways = (answer[way]["sent"] for way in ("downstream", "upstream") if way in answer)
    return float(sum(worker["busy_cycles"] for worker in answer["workers"]) / sum(ways))


def cost(bench: Bench) -> None:
    for kind in bench.kinds[1:]:
        options = bench.request(FULL, bench.options.seconds)
        pairs = alternate(bench, kind, options, f"cost of {kind}")
        values = [(cycles(polled), cycles(paused)) for polled, paused in pairs]
        bench.add(
            make_result(
                "cost",
                "times",
                [paused / polled for polled, paused in values],
                idle=kind,
                load=FULL,
                pairs=[list(pair) for pair in values],
                disturbed=any(longest_gap(pair) > 0 for pair in pairs),
            )
        )
        bench.shown.advance(2 * bench.options.runs * bench.options.seconds)
    bench.plane.set(idle=POLL)
