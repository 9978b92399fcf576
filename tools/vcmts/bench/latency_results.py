# SPDX-License-Identifier: BSD-3-Clause
"""Converts trials to the results of `vcmts bench latency` (docs/results.md), and prints tables."""

from statistics import mean

from rich.console import Console
from rich.table import Table

from vcmts.bench import offered
from vcmts.bench.latency_advice import advice
from vcmts.bench.latency_merge import merge
from vcmts.bench.verdict import ORDER, evaluate
from vcmts.console import print_line
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.results import Measurement

ROUND_TRIP_US = 10_000  # published round-trip time of DOCSIS, including the cable
DISTURBED = "!"
PERCENTILES = ("mean", "p50", "p99", "p99_9", "p99_999", "max")


def pipeline_latency(answer: Json, way: str) -> Json | None:
    """Latency in the data plane only; None if it was not measured."""
    latency: Json | None = (answer.get("pipeline_latency_us") or {}).get(way)
    return latency


def mean_gbps(answers: list[Json]) -> dict[str, float]:
    rates = [offered.received_gbps(answer) for answer in answers]
    return {way: mean(rate[way] for rate in rates) for way in rates[0]}


def result(load: float, answers: list[Json], way: str, attempts: int, ring: int) -> Json:
    """The result of all trials at one load. `ring`: packets that a wire buffers."""
    gaps = [offered.descheduled(answer) for answer in answers]
    outcomes = [evaluate(answer, 0.0, ring) for answer in answers]
    latency = merge([answer[way]["latency_us"] for answer in answers])
    return {
        "load": load,
        "asked_gbps": offered.trial_result(outcomes[0])["asked_gbps"],
        "gbps": mean_gbps(answers),
        "direction": way,
        "end_to_end_us": latency,
        "pipeline_us": merge([pipeline_latency(answer, way) for answer in answers]),
        "share_of_round_trip": latency["mean"] / ROUND_TRIP_US if latency else None,
        "disturbed": any(gap["count"] for gap in gaps),
        "descheduled": {
            "count": sum(gap["count"] for gap in gaps),
            "longest_us": max(gap["longest_us"] for gap in gaps),
        },
        "verdict": min((one.verdict for one in outcomes), key=ORDER.index),
        "lost": sum(answer[way]["lost"] + answer[way]["corrupted"] for answer in answers),
        "trials": len(answers),
        "attempts": attempts,
    }


def format_latency(latency: Json | None, key: str) -> str:
    return f"{latency[key]:,.0f}" if latency and key in latency else "-"


def loads_table(found: list[Json], way: str) -> Table:
    table = Table()
    for column in ("load", "Gbps", *PERCENTILES, "of 10 ms", "inside", "p99_9", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for one in found:
        table.add_row(
            f"{one['load']:.0%}",
            f"{one['gbps'][way]:.2f}",
            *(format_latency(one["end_to_end_us"], key) for key in PERCENTILES),
            f"{one['share_of_round_trip'] or 0:.1%}",
            *(format_latency(one["pipeline_us"], key) for key in ("mean", "p99_9")),
            DISTURBED if one["disturbed"] else "",
        )
    return table


def show(measurement: Measurement, console: Console) -> None:
    """Prints a table per direction, and what to do about the figures."""
    name = measurement.configuration
    for way in DIRECTIONS:
        found = [one for one in measurement.results if one["direction"] == way]
        if not found:
            continue
        title = f"latency {way}, {name}, us end to end, and inside the pipeline"
        print_line(console, title)
        console.print(loads_table(found, way))
        if any(one["disturbed"] for one in found):
            console.print(
                f"{DISTURBED} a polling thread lost its core in every trial", highlight=False
            )
    added = measurement.more["cost_of_measuring"]
    if added is not None:
        cycles = ", ".join(f"{cycles:.0f} {way}" for way, cycles in added.items())
        console.print(f"reference cycles per packet for measuring: {cycles}", highlight=False)
    for line in advice(DIRECTIONS, measurement.results):
        print_line(console, line)
