# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of docs/scheduler.md with matplotlib, which is imported only for drawing."""

import importlib
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

from vcmts.jsons import Json
from vcmts.simulate.scenarios import MATRIX_COUNTS, MATRIX_RATES, TARGET
from vcmts.streams import whole_file

# Colours of the palette by Okabe and Ito, which is safe for the colour-blind.
COLOURS = {"tail-drop": "#d55e00", "docsis-pie": "#0072b2"}
NAMES = {"tail-drop": "tail drop", "docsis-pie": "DOCSIS-PIE"}
MARK = "#555555"
DASHES = (0, (4, 3))
STYLE = {
    "svg.hashsalt": "vcmts",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MARK,
    "axes.titlesize": 11,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "lines.linewidth": 1.3,
}
# REUSE-IgnoreStart
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
# REUSE-IgnoreEnd


def load() -> Any:
    """Imports matplotlib, sets STYLE and the SVG backend, and returns pyplot."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams.update(STYLE)
    return importlib.import_module("matplotlib.pyplot")


def log_axis(axes: Any, least: float, most: float, form: str) -> None:
    """A logarithmic y axis whose numbers are not powers of ten. `form` is their printf format."""
    ticker = importlib.import_module("matplotlib.ticker")
    axes.set_yscale("log")
    axes.set_ylim(least, most)
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter(form))
    axes.yaxis.set_minor_locator(ticker.NullLocator())


def target_line(axes: Any, label: str | None = None) -> None:
    axes.axhline(TARGET * 1000, color=MARK, linewidth=1, linestyle=DASHES, label=label)


def over_time(results: dict[str, Json]) -> Any:
    """Draws delay, drop probability and throughput over time with a drop of the rate."""
    figure, (delay, probability, throughput) = load().subplots(
        3, 1, sharex=True, figsize=(8, 6), height_ratios=(2.2, 1, 1), layout="constrained"
    )
    for aqm, result in results.items():
        series = result["series"][0]
        times = [series["interval"] * (i + 1) for i in range(len(series["mbps"]))]
        # An interval without a packet has no delay; a logarithmic axis has no 0.
        delays = [float("nan") if d is None else max(d, 0.1) for d in series["delay_ms"]]
        delay.plot(times, delays, color=COLOURS[aqm], label=NAMES[aqm])
        throughput.plot(times, series["mbps"], color=COLOURS[aqm])
        if aqm == "docsis-pie":
            drawn = [max(p, 1e-9) for p in series["drop_probability"]]
            probability.plot(times, drawn, color=COLOURS[aqm])
    target_line(delay, "latency target")
    log_axis(delay, 1, 1000, "%g")
    delay.set_ylabel("delay in the queue, ms")
    delay.legend(loc="lower left", ncols=3, bbox_to_anchor=(0, 1.06), borderaxespad=0)
    for (start, end), rate in zip(pairwise((0, 30, 60, 90)), (100, 20, 100), strict=True):
        delay.text((start + end) / 2, 700, f"{rate} Mbps", ha="center", color=MARK)
        throughput.plot([start, end], [rate] * 2, color=MARK, linewidth=1, linestyle=DASHES)
    for axes in (delay, probability, throughput):
        for change in (30, 60):
            axes.axvline(change, color="#bbbbbb", linewidth=0.8)
    log_axis(probability, 1e-5, 1, "%g")
    probability.set_yticks([1e-4, 1e-2, 1], ["0.0001", "0.01", "1"])
    probability.set_ylabel("drop probability")
    throughput.set_ylim(0, 115)
    throughput.set_xlim(0, 90)
    throughput.set_ylabel("Mbps")
    throughput.set_xlabel("time, s")
    figure.align_ylabels()
    return figure


def quantiles(axes: Any, x: float, result: Json, colour: str) -> None:
    """Draws the median (dot), and lines to the 95th (thick) and the 99th percentile (thin)."""
    delay = result["service_flows"][0]["delay_ms"]
    axes.plot([x] * 2, [delay["median"], delay["p99"]], color=colour, linewidth=1.2)
    axes.plot([x] * 2, [delay["median"], delay["p95"]], color=colour, linewidth=3.6)
    axes.plot([x], [delay["median"]], "o", color=colour, markersize=6, markeredgecolor="white")


def over_rates(results: dict[tuple[str, int, int], Json]) -> Any:
    """Draws quantiles of the delay, and utilisation, per rate and number of senders."""
    pyplot = load()
    figure, axes = pyplot.subplots(
        2,
        len(MATRIX_RATES),
        sharey="row",
        sharex=True,
        figsize=(9, 5),
        height_ratios=(2.4, 1),
        layout="constrained",
    )
    for column, rate in enumerate(MATRIX_RATES):
        above, below = axes[0][column], axes[1][column]
        for shift, aqm in ((-0.16, "tail-drop"), (0.16, "docsis-pie")):
            used = []
            for x, count in enumerate(MATRIX_COUNTS):
                result = results[aqm, rate, count]
                quantiles(above, x + shift, result, COLOURS[aqm])
                used.append(100 * result["service_flows"][0]["utilisation"])
            positions = [x + shift for x in range(len(used))]
            below.plot(positions, used, "o", color=COLOURS[aqm], markeredgecolor="white")
        target_line(above)
        log_axis(above, 3, 200, "%g")
        above.set_title(f"{rate} Mbps" if rate < 1000 else f"{rate // 1000} Gbps")
        below.set_ylim(94, 101)
        below.set_yticks([95, 100])
        above.set_yticks([3, 10, 30, 100])
        below.set_xticks(range(len(MATRIX_COUNTS)), [str(count) for count in MATRIX_COUNTS])
    axes[0][0].set_ylabel("delay in the queue, ms")
    axes[1][0].set_ylabel("rate used, %")
    figure.supxlabel("CUBIC senders", fontsize=10)
    lines = importlib.import_module("matplotlib.lines")
    handles = [
        *(
            lines.Line2D([], [], color=COLOURS[aqm], marker="o", linewidth=3, label=NAMES[aqm])
            for aqm in COLOURS
        ),
        lines.Line2D([], [], color=MARK, linewidth=1, linestyle=DASHES, label="latency target"),
    ]
    legend_on_top(figure, handles=handles, ncols=3)
    note = "dot: median, thick: to the 95th percentile, thin: to the 99th"
    figure.text(0.995, 0.975, note, ha="right", va="top", color=MARK, fontsize=9)
    return figure


def legend_on_top(figure: Any, **options: Any) -> None:
    """A legend above all axes. Before matplotlib 3.7 one of the top axes has to be moved."""
    version = importlib.import_module("matplotlib").__version_info__
    if version >= (3, 7):
        figure.legend(loc="outside upper left", **options)
    else:
        figure.axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.1), **options)


def write(figure: Any, path: Path, by: str = "`vcmts simulate`, option `plot`") -> None:
    """Writes a figure as SVG with a licence comment. The same figure gives the same bytes."""
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata=metadata)
    head, rest = svg.getvalue().split("\n", 1)
    notes = f"<!-- {LICENCE} -->\n<!-- Drawn by {by} -->"
    with whole_file(path) as part:
        part.write_text(f"{head}\n{notes}\n{rest}", encoding="utf-8")
