# SPDX-License-Identifier: BSD-3-Clause
"""Figures of cycles and memory over size, and of the scheduler compared with DPDK's."""

from collections.abc import Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report import figures
from vcmts.units import MIB

Lines = dict[str, list[Json]]

AXES = {
    "modems": "cable modems",
    "filter_rules": "filter rules per group",
    "classifiers": "classifiers per modem",
    "service_flows": "service flows per modem",
    "channels": "downstream channels",
    "flows": "concurrent flows",
}
SCHEDULERS = (
    ("this scheduler", None, figures.BLUE),
    ("rte_sched", "rte_sched", figures.ORANGE),
    ("rte_sched, pipes round robin", "rte_sched_turns", figures.SKY),
)


def lines(results: Sequence[Json]) -> Lines:
    """The results by direction and mix, each sorted by the value."""
    found: Lines = {}
    for result in sorted(results, key=lambda r: r["value"]):
        found.setdefault(f"{result['direction']}, {result['mix']}", []).append(result)
    return found


MOST_SPREAD = 1.6  # the end of the axis over the highest bar


def quantity_axis(axes: Any, results: Sequence[Json], what: str) -> None:
    values = sorted({r["value"] for r in results})
    spans = len(values) > 1 and values[0] > 0 and values[-1] / values[0] >= 8
    if spans:
        figures.logarithmic(axes, "x", spaced_values(values))
    else:
        axes.set_xticks(values)
        figures.plain_numbers(axes.xaxis)
    axes.set_xlabel(AXES.get(what, what))


def spaced_values(values: Sequence[float]) -> list[float]:
    """The values whose tick labels do not overlap on a logarithmic axis."""
    kept: list[float] = []
    for value in values:
        if not kept or value / kept[-1] >= (values[-1] / values[0]) ** 0.12:
            kept.append(value)
    return kept


def cycles(results: Sequence[Json], what: str) -> Any:
    figure, axes = figures.new_figure(height=2.9)
    for index, (label, found) in enumerate(lines(results).items()):
        points = [
            figures.Point(r["value"], r["cycles_per_packet"], r["min"], r["max"]) for r in found
        ]
        figures.ranges(axes, points, index, label)
    axes.set_ylim(bottom=0)
    figures.plain_numbers(axes.yaxis)
    axes.set_ylabel("reference cycles per packet")
    quantity_axis(axes, results, what)
    figures.legend(figure, axes, columns=2)
    return figure


def memory(results: Sequence[Json], what: str) -> Any:
    """Draws the memory of the service group, which does not depend on the traffic."""
    figure, axes = figures.new_figure(height=2.9)
    by_value = {r["value"]: r["memory_bytes"] for r in results if r.get("memory_bytes")}
    points = sorted(by_value.items())
    values, sizes = [v for v, _ in points], [size / MIB for _, size in points]
    axes.plot(values, sizes, color=figures.BLUE, marker="o")
    for value, size in zip(values, sizes, strict=True):
        style = {"textcoords": "offset points", "ha": "right", "fontsize": 8}
        axes.annotate(f"{size:,.0f}", (value, size), (-2, 5), **style)
    axes.set_ylim(0, max(sizes, default=1) * 1.15)
    axes.set_ylabel("MiB of the service group")
    figures.plain_numbers(axes.yaxis)
    quantity_axis(axes, results, what)
    return figure


def scheduler(results: Sequence[Json]) -> Any:
    """Draws bars per case and load, one for each of three schedulers."""
    figure, axes = figures.new_figure(height=3.5)
    width = 0.27
    for index, (label, key, colour) in enumerate(SCHEDULERS):
        found = [(at, r if key is None else r.get(key)) for at, r in enumerate(results)]
        positions = [(at + (index - 1) * width, one) for at, one in found if one]
        for at, one in positions:
            axes.bar([at], [one["cycles_per_packet"]], width * 0.92, color=colour)
            axes.plot([at] * 2, [one["min"], one["max"]], color=figures.INK, linewidth=1)
        axes.bar([0], [0], color=colour, label=label)
    axes.set_xticks(range(len(results)), [f"{r['load']:g} %" for r in results], fontsize=8)
    cases = list(dict.fromkeys(r["case"] for r in results))
    for case in cases:
        own = [index for index, r in enumerate(results) if r["case"] == case]
        axes.annotate(
            case,
            (sum(own) / len(own), 0),
            (0, -17),
            xycoords="data",
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            annotation_clip=False,
        )
        if own[0] > 0:
            axes.axvline(own[0] - 0.5, color=figures.FAINT, linewidth=0.8)
    # A run without its core for a time would make all bars small.
    axes.set_ylim(0, MOST_SPREAD * max(bar.get_height() for bar in axes.patches))
    axes.set_xlabel("load of the channels", labelpad=18)
    axes.set_ylabel("reference cycles per packet")
    figures.plain_numbers(axes.yaxis)
    figures.legend(figure, axes)
    return figure
