# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figure of docs/upstream-scheduler.md: latency and use of minislots over load."""

from typing import Any

from vcmts.jsons import Json
from vcmts.simulate.plots import MARK, load, log_axis

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
                xytext=(0, 7),
                textcoords="offset points",
                ha="center",
                color=colour,
            )


def draw_uses(axes: Any, points: list[tuple[float, Result]]) -> None:
    loads = [100 * load for load, _ in points]
    used, unused, requests, idle = [], [], [], []
    for _, result in points:
        use = result["use"]
        part = min(use["data_used"], 1)
        used.append(100 * use["data"] * part)
        unused.append(100 * use["data"] * (1 - part))
        requests.append(100 * use["contention"])
        idle.append(100 * (1 - use["data"] - use["contention"]))
    axes.stackplot(loads, used, unused, idle, requests, colors=list(USES.values()))
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 50, 100])


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
        log_axis(above, 1, 100, "%g")
        above.set_yticks([1, 2, 5, 10, 20, 50, 100])
        above.set_title(f"{count:,} modems")
        draw_uses(below, points)
        below.set_xlim(8, 97)
        below.set_xticks([10, 30, 50, 70, 90])
    axes[0][0].set_ylabel("latency, ms")
    axes[1][0].set_ylabel("minislots, %")
    below = axes[1][0]
    below.text(12, 80, "request opportunities", color=MARK)
    below.text(93, 12, "granted and used", color="white", ha="right")
    figure.supxlabel("load of four OFDMA channels, %", fontsize=10)
    return figure
