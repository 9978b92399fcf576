# SPDX-License-Identifier: BSD-3-Clause
"""Figures of latency: percentiles in the style of HdrHistogram, and percentiles over load."""

from collections.abc import Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report import figures

PERCENTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999))
FINE = (("p99_99", 0.9999), ("p99_999", 0.99999))
TENTH = 1 / (1 - 0.1)  # x of the tenth percentile
LOADS_SHOWN = (0.1, 0.5, 0.9, 1.0)


def curve(percentiles: Json) -> list[tuple[float, float]]:
    """Points (1 / (1 - p), us), from the histogram if there is one, else from the percentiles."""
    histogram = percentiles.get("histogram") or []
    total = sum(count for _, count in histogram)
    if not total:
        return [(1 / (1 - p), percentiles[key]) for key, p in (*PERCENTILES, *FINE)]
    points, below = [], 0
    for us, count in histogram:
        below += count
        # The last packet is p = 1, which is infinite on this axis: use half a packet less.
        points.append((total / max(total - below, 0.5), us))
    return points


def shown_loads(loads: Sequence[float]) -> list[float]:
    """The measured loads that are nearest to LOADS_SHOWN."""
    return sorted({min(loads, key=lambda load: abs(load - wanted)) for wanted in LOADS_SHOWN})


def percentiles(results: Sequence[Json], key: str) -> Any:
    """Draws a line per load; the x axis is the percentile, logarithmic in 1 / (1 - p)."""
    figure, axes = figures.new_figure()
    found = {r["load"]: r for r in results if r.get(key)}
    far, lowest = 10.0, float("inf")
    for index, load in enumerate(shown_loads(list(found))):
        points = [(x, max(us, 1e-3)) for x, us in curve(found[load][key])]
        remark = " (disturbed)" if found[load].get("disturbed") else ""
        far = max(far, points[-1][0])
        lowest = min([lowest, *(us for x, us in points if x >= TENTH)])
        axes.plot(
            *zip(*points, strict=True),
            color=figures.PALETTE[index],
            linestyle=figures.DASHES[index],
            label=f"{100 * load:.0f} % of zero-loss{remark}",
            drawstyle="steps-pre" if found[load][key].get("histogram") else "default",
        )
    nines = [10**n for n in range(7) if 10**n <= max(far, 10)]
    names = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999"]
    axes.set_ylim(bottom=lowest / 2)  # leave out the fastest packets
    figures.logarithmic(axes, "y")
    figures.logarithmic(axes, "x", [float(n) for n in nines])
    axes.set_xticks(nines, names[: len(nines)])
    axes.set_xlim(1, max(nines[-1], min(far, nines[-1] * 3)))
    axes.grid(axis="x")
    axes.set_xlabel("percentile, %")
    axes.set_ylabel("microseconds")
    figures.legend(figure, axes, columns=2)
    return figure


def over_load(results: Sequence[Json], key: str) -> Any:
    """Draws a line per percentile; markers of disturbed results are hollow."""
    figure, axes = figures.new_figure()
    found = sorted((r for r in results if r.get(key)), key=lambda r: r["load"])
    loads = [100 * r["load"] for r in found]
    names = {"p50": "median", "p99": "99 %", "p99_9": "99.9 %", "p99_999": "99.999 %"}
    for index, (name, text) in enumerate(names.items()):
        values = [max(r[key][name], 1e-3) for r in found]
        colour = figures.PALETTE[index]
        marker = figures.MARKERS[index]
        axes.plot(loads, values, marker=marker, color=colour, label=text)
        hollow = [
            (x, y) for x, y, r in zip(loads, values, found, strict=True) if r.get("disturbed")
        ]
        if hollow:
            axes.plot(
                *zip(*hollow, strict=True), marker, color=colour, markerfacecolor=figures.PAPER
            )
    figures.logarithmic(axes, "y")
    axes.set_xlim(0, max([100.0, *loads]) * 1.03)
    axes.set_xlabel("load, % of the zero-loss rate")
    axes.set_ylabel("microseconds")
    figures.legend(figure, axes, columns=4)
    return figure
