# SPDX-License-Identifier: BSD-3-Clause
"""How long packets stay in the pipeline of a vcmtsd in service (`vcmtsd run --latency`)."""

from collections.abc import Callable
from typing import Any

from rich.table import Table

from vcmts.directions import DIRECTIONS

Json = dict[str, Any]
Ask = Callable[[str, str | None], Any]  # a command of the telemetry, and its parameter

COMMAND = "/vcmts/latency"
RESET = "reset"
KEYS = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")


def histogram(ask: Ask, direction: str) -> list[list[float]]:
    """[[us, packets], ..]: comes in parts, each from the shortest time not told yet."""
    told: dict[int, int] = {}
    while part := ask(COMMAND, f"{direction} {max(told, default=-1) + 1}"):
        told |= {int(ns): packets for ns, packets in part.items()}
    return [[ns / 1000, packets] for ns, packets in sorted(told.items())]


def microseconds(told: Json) -> Json:
    return {key: told[f"{key}_ns"] / 1000 for key in KEYS}


def read(ask: Ask, *, reset: bool) -> Json:
    """By direction that is measured, as `pipeline_latency_us` of a summary: since the last reset.
    With `reset` the next answer begins anew; where packets are on their way meanwhile, the
    histogram may miss some of those that the percentiles have."""
    histograms = {way: histogram(ask, way) for way in DIRECTIONS}
    answer = ask(COMMAND, RESET if reset else None)
    return {
        way: microseconds(told) | {"histogram": histograms[way]} for way, told in answer.items()
    }


def percentiles_table(answer: Json) -> Table:
    drawn = Table(title="time in the pipeline, us", title_justify="left")
    drawn.add_column("direction")
    for column in ("packets", *KEYS):
        drawn.add_column(column, justify="right")
    for way, told in answer.items():
        figures = (f"{value:,.1f}" for value in microseconds(told).values())
        drawn.add_row(way, f"{told['packets']:,}", *figures)
    return drawn


def histogram_table(ask: Ask, direction: str) -> Table:
    drawn = Table(title=f"time in the pipeline {direction}", title_justify="left")
    drawn.add_column("from us", justify="right")
    drawn.add_column("packets", justify="right")
    for us, packets in histogram(ask, direction):
        drawn.add_row(f"{us:,.2f}", f"{packets:,.0f}")
    return drawn


def table(ask: Ask, which: str | None) -> Table:
    """All percentiles, or the histogram of the direction `which`."""
    if which in DIRECTIONS:
        return histogram_table(ask, str(which))
    return percentiles_table(ask(COMMAND, which))
