# SPDX-License-Identifier: BSD-3-Clause
"""What a trial tells of latencies, as docs/results.md has it, and as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts import offered
from vcmts.results import Measurement
from vcmts.verdict import judge

Json = dict[str, Any]

ROUND_TRIP_US = 10_000  # published for DOCSIS, the cable included
PERCENTILES = ("mean", "p50", "p99", "p99_9", "p99_999", "max")


def pipeline_latency(answer: Json, way: str) -> Json | None:
    """In the data plane alone; None where it does not measure that."""
    told: Json | None = (answer.get("pipeline_latency_us") or {}).get(way)
    return told


def result(load: float, answer: Json, way: str, attempts: int, ring: int) -> Json:
    """As docs/results.md has it."""
    part, gaps = answer[way], offered.descheduled(answer)
    outcome = judge(answer, 0.0, ring)
    latency = part["latency_us"]
    share = latency["mean"] / ROUND_TRIP_US if latency else None
    return {
        "load": load,
        "asked_gbps": offered.told(outcome)["asked_gbps"],
        "gbps": offered.carried_gbps(answer),
        "direction": way,
        "end_to_end_us": latency,
        "pipeline_us": pipeline_latency(answer, way),
        "share_of_round_trip": share,
        "disturbed": gaps["count"] > 0,
        "descheduled": gaps,
        "verdict": outcome.verdict,
        "lost": part["lost"] + part["corrupted"],
        "attempts": attempts,
    }


def told(latency: Json | None, key: str) -> str:
    return f"{latency[key]:,.0f}" if latency and key in latency else "-"


def show(measurement: Measurement, console: Console) -> None:
    """A table a direction."""
    name = measurement.configuration
    for way in offered.WAYS:
        found = [one for one in measurement.results if one["direction"] == way]
        if not found:
            continue
        title = f"latency {way}, {name}, us end to end, and in the pipeline alone"
        console.print(title, soft_wrap=True, markup=False, highlight=False)
        table = Table()
        for column in ("load", "Gbps", *PERCENTILES, "of 10 ms", "pipeline", "p99_9", ""):
            table.add_column(column, justify="right")
        for one in found:
            table.add_row(
                f"{one['load']:.0%}",
                f"{one['gbps'][way]:.2f}",
                *(told(one["end_to_end_us"], key) for key in PERCENTILES),
                f"{one['share_of_round_trip'] or 0:.1%}",
                *(told(one["pipeline_us"], key) for key in ("mean", "p99_9")),
                "disturbed" if one["disturbed"] else "",
            )
        console.print(table)
    added = measurement.more["cost_of_measuring"]
    if added is not None:
        cycles = ", ".join(f"{cycles:.0f} {way}" for way, cycles in added.items())
        console.print(f"measuring adds reference cycles a packet: {cycles}", highlight=False)
