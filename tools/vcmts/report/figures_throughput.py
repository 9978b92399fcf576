# SPDX-License-Identifier: BSD-3-Clause
"""Figures of throughput by packet size, compared with the capacity of OFDM channels."""

from collections.abc import Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report import figures
from vcmts.report.figures_cycles import mix_label, mixes

OFDM_GBPS = 1.89  # of one OFDM channel of 192 MHz, as in the published profiles
STEPS = (1, 2, 4, 8, 16, 32, 64)
LINES = 6  # maximum lines of channel capacity


def limits(most: float) -> list[int]:
    """The numbers of OFDM channels that get a line in a figure of up to `most` Gbps."""
    count = int(most / OFDM_GBPS)
    step = next((step for step in STEPS if count / step <= LINES), STEPS[-1])
    return list(range(step, count + 1, step)) or [1]


def channel_lines(axes: Any, most: float) -> None:
    """Draws dashed lines at the capacity of OFDM channels, labelled at the right end."""
    for count in limits(most):
        axes.axhline(
            count * OFDM_GBPS, color=figures.SOFT, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0.5
        )
        axes.annotate(
            f"{count} OFDM",
            (1.005, count * OFDM_GBPS),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            annotation_clip=False,
        )


def zero_loss(runs: Sequence[tuple[str, Sequence[Json]]]) -> Any:
    """Draws bars per point: downstream, upstream on top of it, and the range of the total."""
    renamed = [(label, [{**r, "mix": r["point"]} for r in results]) for label, results in runs]
    names = mixes(renamed)
    figure, axes = figures.new_figure()
    width, most = 0.8 / len(runs), 0.0
    for index, (label, results) in enumerate(renamed):
        shift = (index - (len(runs) - 1) / 2) * width
        for result in results:
            at = names.index(result["mix"]) + shift
            down = result["gbps"].get("downstream", 0.0)
            total = result["gbps"]["total"]
            style = {"edgecolor": figures.PAPER, "linewidth": 0.5}
            axes.bar([at], [down], width * 0.9, color=figures.BLUE, **style)
            axes.bar([at], [total - down], width * 0.9, down, color=figures.ORANGE, **style)
            axes.plot([at] * 2, [result["min"], result["max"]], color=figures.INK, linewidth=1.2)
            top = max(total, result["max"])
            most = max(most, top)
            text = f"{label}\n{total:.1f}" if len(runs) > 1 else f"{total:.1f}"
            axes.annotate(
                text, (at, top), (0, 2), textcoords="offset points", ha="center", fontsize=7
            )
    axes.bar([0], [0], color=figures.BLUE, label="downstream")
    axes.bar([0], [0], color=figures.ORANGE, label="upstream")
    axes.plot([], [], color=figures.INK, linewidth=1.2, label="spread of the searches")
    finish(figure, axes, names, most, "Gbps without loss", lines=True)
    return figure


def per_core_point(at: int, result: Json) -> figures.Point:
    """The rate at the median, the highest and the lowest cost of a packet."""
    rate, cycles = result["gbps_per_core"], result["cycles_per_packet"]
    return figures.Point(at, rate, rate * cycles / result["max"], rate * cycles / result["min"])


def per_core(
    runs: Sequence[tuple[str, Sequence[Json]]],
    published: Sequence[tuple[str, float]] = (),
    *,
    downstream: bool = True,
) -> Any:
    """Draws the rate per core by the cycles of each mix. `published`: (year, Gbps)."""
    figure, axes = figures.new_figure()
    names, most = mixes(runs), 0.0
    for index, (label, results) in enumerate(runs):
        by_mix = {result["mix"]: result for result in results}
        points = [per_core_point(at, by_mix[m]) for at, m in enumerate(names) if m in by_mix]
        most = max([most, *(point.high for point in points)])
        # From one size to the next a line means something, from one mix to the next it does not.
        sizes = [point.x for point in points if names[int(point.x)].isdigit()]
        figures.ranges(axes, points, index, label, joined=sizes)
    if published and not names[0].isdigit():
        values = [value for _, value in published]
        most = max([most, *values])
        style = {"color": figures.INK, "markerfacecolor": "none", "markersize": 5}
        name = "published " + ", ".join(year for year, _ in published)
        axes.plot([-0.3] * len(values), values, "D", label=name, **style)
    finish(figure, axes, names, most, "Gbps per core", lines=downstream)
    return figure


def finish(
    figure: Any, axes: Any, names: Sequence[str], most: float, label: str, *, lines: bool
) -> None:
    axes.set_xticks(range(len(names)), [mix_label(name) for name in names])
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlim(-0.6, len(names) - 0.4)
    top = max(most * 1.12, OFDM_GBPS * 1.1)
    axes.set_ylim(0, top)
    axes.set_ylabel(label)
    if lines:
        axes.grid(visible=False)
        axes.spines["left"].set_visible(True)
        channel_lines(axes, top * 0.99)
    figures.legend(figure, axes)
