# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of `vcmts power simulate`: load, modelled watts, savings and frequencies."""

from pathlib import Path
from typing import Any

from planning.power.show import WORDS
from vcmts.jsons import Json
from vcmts.paths import MistakeError, missing_package
from vcmts.simulate import plots
from vcmts.streams import whole_file

# Distinguishable with colour blindness (Okabe and Ito). Grey: polling, the reference.
COLOURS = {"none": "#555555", "pauses": "#e69f00", "frequency": "#0072b2", "both": "#009e73"}
KINDS = ("-", "--")  # line style per kind of worker
LOAD = "#bbbbbb"
HEIGHTS = (1, 2, 2, 1.4)


def value(steps: list[Json], key: str, mode: str) -> list[Any]:
    return [step[key][mode] for step in steps]


def watts(axes: Any, answer: Json, hours: list[float]) -> None:
    for mode in answer["means"]["cpu"]:
        for key, line in (("modelled_platform_watts", "--"), ("modelled_cpu_watts", "-")):
            found = value(answer["steps"], key, mode)
            if None not in found:
                axes.plot(hours, found, line, color=COLOURS[mode])
    axes.set_ylim(bottom=0)
    axes.set_ylabel("modelled W")
    axes.set_title("processors (lines) and server (dashed)", loc="left", fontsize=9)


def saving(axes: Any, answer: Json, hours: list[float]) -> None:
    polling = value(answer["steps"], "modelled_cpu_watts", "none")
    for mode, found in answer["saved"]["cpu"].items():
        now = value(answer["steps"], "modelled_cpu_watts", mode)
        shares = [100 * (1 - a / b) for a, b in zip(now, polling, strict=True)]
        axes.plot(hours, shares, color=COLOURS[mode])
        own = found["modelled_percent"]["average"]
        axes.plot([24.3], [own], "o", color=COLOURS[mode], markersize=4, clip_on=False)
        if "published_percent" in found:
            average = found["published_percent"]["average"]
            axes.plot([25.1], [average], "D", color=COLOURS[mode], markersize=4, clip_on=False)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("modelled saving, %")
    title = "saved of the processors' watts; at the right its average (dot) and the published one"
    axes.set_title(f"{title} (diamond)", loc="left", fontsize=9)


def frequency(axes: Any, answer: Json, hours: list[float]) -> None:
    mode = next((m for m in ("frequency", "both") if m in answer["means"]["cpu"]), "none")
    kinds = [kind["carries"] for kind in answer["machine"]["workers"]]
    for index, (name, line) in enumerate(zip(kinds, KINDS, strict=False)):
        found = [step["ghz"][mode][index] for step in answer["steps"]]
        axes.plot(hours, found, line, color=COLOURS[mode], drawstyle="steps-post", label=name)
    axes.set_ylim(bottom=0)
    axes.set_ylim(top=1.1 * max(state["ghz"] for state in answer["machine"]["core_states"]))
    axes.set_ylabel("GHz, modelled")
    axes.set_title("of a worker's core", loc="left", fontsize=9)
    if len(kinds) > 1:
        axes.legend(loc="lower right", ncols=2)


def day(answer: Json) -> Any:
    """The figure: panels over the hours of the day."""
    try:
        pyplot = plots.load()
    except ModuleNotFoundError as error:
        raise MistakeError(f"--plot: {missing_package(error.name, 'plot')}") from error
    figure, (top, middle, share, low) = pyplot.subplots(
        4, 1, sharex=True, figsize=(8, 8.5), height_ratios=HEIGHTS, layout="constrained"
    )
    hours = [step["hour"] for step in answer["steps"]]
    top.fill_between(hours, [step["gbps"] for step in answer["steps"]], color=LOAD, linewidth=0)
    top.set_ylim(bottom=0)
    top.set_ylabel("Gbps")
    name = answer["machine"]["name"]
    top.set_title(f"{name}: modelled, not measured", loc="left", fontsize=10)
    watts(middle, answer, hours)
    saving(share, answer, hours)
    frequency(low, answer, hours)
    low.set_xlim(0, 24)
    low.set_xticks(range(0, 25, 3), [f"{hour}:00" for hour in range(0, 25, 3)])
    low.set_xlabel("hour of the day")
    modes = [mode for mode in COLOURS if mode in answer["means"]["cpu"]]
    handles = [pyplot.Line2D([], [], color=COLOURS[mode], label=WORDS[mode]) for mode in modes]
    plots.legend_on_top(figure, handles=handles, ncols=4)
    figure.align_ylabels()
    return figure


def write(figure: Any, path: Path) -> None:
    if path.suffix == ".png":
        with whole_file(path) as part:
            figure.savefig(part, format="png", dpi=110)
    else:
        plots.write(figure, path, "`vcmts power simulate`, option `plot`")
