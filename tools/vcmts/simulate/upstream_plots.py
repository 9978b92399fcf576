# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figure of docs/upstream-scheduler.md: latency and use of minislots over load."""

import math
from typing import Any

from vcmts.jsons import Json
from vcmts.simulate.plots import load, log_axis

Result = Json

# Colours of the palette by Okabe and Ito, safe for the colour-blind: quantiles, uses of minislots.
QUANTILES = {"p50": "#0072b2", "p99": "#d55e00", "max": "#999999"}
USES = {
    "granted and used": "#0072b2",
    "granted, unused": "#d55e00",
    "maintenance, idle": "#eeeeee",
    "request opportunities": "#c9dcea",
}


def draw_delays(axes: Any, points: list[tuple[float, Result]], label: bool) -> None:
    loads = [100 * load for load, _ in points]
    for quantile, colour in QUANTILES.items():
        values = [result["flows"][0]["latency_ms"][quantile] for _, result in points]
        width = 1.0 if quantile == "max" else 1.8
        axes.plot(loads, values, "o-", color=colour, linewidth=width, markersize=4)
        if label:
            at = len(loads) // 3
            axes.annotate(
                {"p50": "median", "p99": "99th percentile", "max": "longest"}[quantile],
                (loads[at], values[at]),
                xytext=(0, -15 if quantile == "p50" else 7),
                textcoords="offset points",
                ha="center",
                color=colour,
            )


def shares(use: Json) -> dict[str, float]:
    """Percent of the minislots by USES."""
    used = 100 * use["data"] * min(use["data_used"], 1)
    return {
        "granted and used": used,
        "granted, unused": 100 * use["data"] - used,
        "maintenance, idle": 100 * (1 - use["data"] - use["contention"]),
        "request opportunities": 100 * use["contention"],
    }


def draw_uses(axes: Any, points: list[tuple[float, Result]]) -> None:
    loads = [100 * load for load, _ in points]
    found = [shares(result["use"]) for _, result in points]
    areas = [[values[name] for values in found] for name in USES]
    axes.stackplot(loads, *areas, colors=list(USES.values()), labels=list(USES))
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 50, 100])


def most(results: dict[tuple[int, float], Result]) -> float:
    """The upper end of the latencies, ms: a line that leaves the chart would hide its values."""
    longest = max(result["flows"][0]["latency_ms"]["max"] for result in results.values())
    decade = 10 ** math.floor(math.log10(longest))
    return float(next(n * decade for n in (2, 5, 10) if n * decade > longest))


def over_load(results: dict[tuple[int, float], Result]) -> Any:
    """Draws latency and use of minislots over load, one column per number of modems."""
    counts = sorted({count for count, _ in results})
    figure, axes = load().subplots(
        2,
        len(counts),
        sharex=True,
        sharey="row",
        squeeze=False,
        figsize=(9, 5.2),
        height_ratios=(2.2, 1),
        layout="constrained",
    )
    for column, count in enumerate(counts):
        points = [(load, result) for (of, load), result in results.items() if of == count]
        above, below = axes[0][column], axes[1][column]
        draw_delays(above, points, column == 0)
        log_axis(above, 1, most(results), "%g")
        above.set_title(f"{count:,} modems")
        draw_uses(below, points)
        below.set_xlim(8, 97)
        below.set_xticks([10, 30, 50, 70, 90])
        below.set_xlabel("load of four OFDMA channels, %")
    axes[0][0].set_ylabel("latency, ms")
    axes[1][0].set_ylabel("minislots, %")
    handles, names = axes[1][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(USES))
    return figure
