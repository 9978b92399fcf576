# SPDX-License-Identifier: BSD-3-Clause
"""Reads the pipeline latency that a running vcmtsd measures, and formats tables."""

from rich.table import Table

from vcmts.console import figures_table
from vcmts.jsons import Json
from vcmts.telemetry.plane import Plane

METHOD = "latency.get"
RESET = "reset"
KEYS = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")
NOT_MEASURED = "not measured: `./vcmts control measure.set latency=true` starts it"
EMPTY: Json = dict.fromkeys(KEYS, 0.0) | {"histogram": []}


def answer(source: Plane, *, reset: bool = False) -> Json:
    """Latency by measured direction: `packets` since the last reset, and figures in us."""
    found: Json = source.of_group(METHOD, reset=reset)
    return {way: EMPTY | one for way, one in found.items()}


def read(source: Plane, *, reset: bool) -> Json:
    """The latency in the form of `pipeline_latency_us` of a summary."""
    found = answer(source, reset=reset)
    return {way: {key: one[key] for key in EMPTY} for way, one in found.items()}


def table(found: Json, direction: str | None) -> Table | str:
    """Percentiles, or with a `direction` its histogram; a sentence if nothing was measured."""
    if not found:
        return NOT_MEASURED
    if direction in found:
        return histogram_table(found, str(direction))
    return percentiles_table(found)


def percentiles_table(found: Json) -> Table:
    drawn = figures_table(("", *found), title="time in the pipeline, us")
    drawn.add_row("packets", *(f"{one['packets']:,}" for one in found.values()))
    for key in KEYS:
        figures = (f"{one[key]:,.1f}" if one["packets"] else "-" for one in found.values())
        drawn.add_row(key.replace("_", "."), *figures)
    return drawn


def histogram_table(found: Json, direction: str) -> Table:
    drawn = Table(title=f"time in the pipeline {direction}", title_justify="left")
    drawn.add_column("from us", justify="right")
    drawn.add_column("packets", justify="right")
    for us, packets in found.get(direction, EMPTY)["histogram"]:
        drawn.add_row(f"{us:,.2f}", f"{packets:,.0f}")
    return drawn
