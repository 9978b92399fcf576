# SPDX-License-Identifier: BSD-3-Clause
"""Figures of cycles per packet: stacked by stage, and over packet size."""

from collections.abc import Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report import figures

Runs = Sequence[tuple[str, Sequence[Json]]]  # a label, and the results of one direction

SHOWN = 7  # stages with their own colour
OTHERS = "others"


def mixes(runs: Runs) -> list[str]:
    """The names of all mixes: named mixes first, then sizes ascending."""
    names = {result["mix"] for _, results in runs for result in results}
    return sorted(names, key=lambda name: (name.isdigit(), int(name) if name.isdigit() else 0))


def mix_label(mix: str) -> str:
    return f"{mix} B" if mix.isdigit() else mix.replace("upstream-imix", "imix")


def shown_stages(runs: Runs) -> list[str]:
    """The most expensive stages in the order of the pipeline, up to SHOWN."""
    most: dict[str, float] = {}
    for _, results in runs:
        for result in results:
            for stage, cycles in result["stages"].items():
                most[stage] = max(most.get(stage, 0.0), cycles)
    if len(most) <= SHOWN:
        return list(most)
    dearest = sorted(most, key=lambda stage: -most[stage])[:SHOWN]
    return [stage for stage in most if stage in dearest]


def heights(result: Json, stages: Sequence[str]) -> list[float]:
    """The cycles of the shown stages, then of all others together."""
    found: dict[str, float] = result["stages"]
    own = [found.get(stage, 0.0) for stage in stages]
    return [*own, sum(found.values()) - sum(own)]


def stacked(runs: Runs) -> Any:
    """Draws a bar per mix and run, a part per stage, and a tick at crypto alone."""
    names, stages = mixes(runs), shown_stages(runs)
    figure, axes = figures.new_figure(height=3.7)
    colours = [*figures.PALETTE[: len(stages)], figures.GREY]
    width = 0.8 / len(runs)
    for index, (label, results) in enumerate(runs):
        by_mix = {result["mix"]: result for result in results}
        shift = (index - (len(runs) - 1) / 2) * width
        for at, mix in enumerate(names):
            if mix not in by_mix:
                continue
            bar(axes, at + shift, width * 0.9, heights(by_mix[mix], stages), colours)
            spread(axes, at + shift, width * 0.32, by_mix[mix])
            if len(runs) > 1:
                top = max(by_mix[mix]["max"], by_mix[mix]["cycles_per_packet"])
                axes.annotate(
                    label,
                    (at + shift, top),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                )
    for colour, name in zip(colours, [*stages, OTHERS], strict=True):
        axes.bar([0], [0], color=colour, label=name)
    axes.plot([], [], color=figures.INK, linewidth=1.8, label="crypto alone")
    axes.set_xticks(range(len(names)), [mix_label(name) for name in names])
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylabel("reference cycles per packet")
    figures.plain_numbers(axes.yaxis)
    figures.legend(figure, axes, columns=3)
    return figure


def bar(axes: Any, at: float, width: float, parts: Sequence[float], colours: Sequence[str]) -> None:
    bottom = 0.0
    for height, colour in zip(parts, colours, strict=True):
        axes.bar(
            [at], [height], width, bottom, color=colour, edgecolor=figures.PAPER, linewidth=0.4
        )
        bottom += height


def spread(axes: Any, at: float, reach: float, result: Json) -> None:
    """Draws the range of the runs, and the tick for crypto alone."""
    axes.plot([at] * 2, [result["min"], result["max"]], color=figures.INK, linewidth=1)
    bound = result["crypto_bound_cycles"]
    if bound:
        axes.plot([at - reach, at + reach], [bound] * 2, color=figures.INK, linewidth=1.8)


def fit(results: Sequence[Json], fits: Sequence[Json]) -> Any:
    """Draws cycles over packet size: measured points, and the lines fixed + per byte."""
    figure, axes = figures.new_figure()
    sizes = sorted((r for r in results if r["mix"].isdigit()), key=lambda r: int(r["mix"]))
    fits = sorted(fits, key=lambda f: (f["stage"] != "all", -f["per_byte"]))[: 1 + 4]
    most = max((r["mean_bytes"] for r in sizes), default=1518.0)
    for index, line in enumerate(fits):
        colour = figures.PALETTE[index]
        name = "all stages" if line["stage"] == "all" else line["stage"]
        axes.plot(
            [0, most],
            [line["fixed"], line["fixed"] + line["per_byte"] * most],
            color=colour,
            linestyle=figures.DASHES[index % len(figures.DASHES)],
            label=f"{name}: {line['fixed']:.0f} + {line['per_byte']:.2f} per byte",
        )
        points = [
            (r["mean_bytes"], r["cycles_per_packet"] if name == "all stages" else cycles)
            for r in sizes
            for cycles in [r["stages"].get(line["stage"], 0.0)]
        ]
        axes.plot(*zip(*points, strict=True), figures.MARKERS[index], color=colour) if points else 0
    axes.set_xlabel("bytes of the Ethernet frame, without CRC")
    axes.set_ylabel("reference cycles per packet")
    axes.set_xlim(0, most * 1.03)
    axes.set_ylim(bottom=0)
    figures.plain_numbers(axes.xaxis)
    figures.plain_numbers(axes.yaxis)
    figures.legend(figure, axes, columns=2, fontsize=7)
    return figure
