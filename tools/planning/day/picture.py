# SPDX-License-Identifier: BSD-3-Clause
"""Draws the day as panels over its hours: load, busy and paused time, frequency, latencies, power.
A panel without data is left out."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planning.day.moment import HOURS
from planning.day.show import measured_names, policy_text
from vcmts import options
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import MistakeError, missing_package
from vcmts.simulate import plots
from vcmts.streams import whole_file

Draw = Callable[[Any, Json], bool]  # returns whether there was something to draw

BLUE, VERMILION = plots.COLOURS["docsis-pie"], plots.COLOURS["tail-drop"]
# Okabe and Ito's palette, as in all pictures of the project.
COLOURS = (BLUE, VERMILION, "#009e73", "#e69f00", "#56b4e9", "#cc79a7")
WAYS = dict(zip(DIRECTIONS, COLOURS, strict=False))
LABEL = 26  # characters of a legend's line
WIDTH, HEIGHT = 9.5, 1.55  # inches; the height is that of one panel
DPI = 150
NAN = float("nan")


def column(day: Json, *path: str | int, factor: float = 1.0) -> list[float]:
    """The value at a path of keys and indexes in each sample; NaN, which draws a gap, if
    unknown."""
    found = []
    for sample in day["samples"]:
        value: Any = sample
        for step in path:
            known = step < len(value) if isinstance(step, int) else step in (value or {})
            value = value[step] if known else None
            if value is None:
                break
        found.append(NAN if value is None else factor * value)
    return found


def plot(axes: Any, day: Json, drawn: list[float], **options: Any) -> bool:
    """Draws a line. Returns False if no value is known."""
    known = any(value == value for value in drawn)
    if known:
        axes.plot([sample["hour"] for sample in day["samples"]], drawn, **options)
    return known


def load(axes: Any, day: Json) -> bool:
    for way in DIRECTIONS:
        plot(axes, day, column(day, f"{way}_gbps"), color=WAYS[way], label=way)
    groups = day["whole"]["groups"]
    for index in range(len(groups) if len(groups) > 1 else 0):
        drawn = column(day, "groups", index, "downstream_gbps")
        label = "of a group" if index == 0 else None
        plot(axes, day, drawn, color=BLUE, alpha=0.5, linewidth=0.8, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("load\nGbps")
    return True


def by_worker(axes: Any, day: Json, key: str) -> bool:
    """Draws a line per worker. With more workers than colours, draws pale lines and their mean."""
    workers = day["whole"]["workers"]
    several = len(workers) > len(COLOURS)
    drawn = False
    for index, worker in enumerate(workers):
        label = f"core {worker['core']}: {worker['runs']}"
        label = textwrap.fill(label, LABEL)
        pale = {"color": BLUE, "alpha": 0.3, "linewidth": 0.6}
        line = pale if several else {"color": COLOURS[index], "label": label}
        drawn |= plot(axes, day, column(day, "workers", index, key, factor=100), **line)
    if several:
        mean = column(day, key, factor=100)
        plot(axes, day, mean, color=BLUE, label=f"mean of {len(workers)} cores")
    axes.set_ylim(0, 103)
    return drawn


def busy(axes: Any, day: Json) -> bool:
    axes.set_ylabel("busy\n% of the time")
    return by_worker(axes, day, "busy")


def paused(axes: Any, day: Json) -> bool:
    axes.set_ylabel("paused\n% of the time")
    return by_worker(axes, day, "paused")


def frequency(axes: Any, day: Json) -> bool:
    simulated = "\nsimulated" if day["driver"] == "simulated" else ""
    axes.set_ylabel(f"frequency{simulated}\nGHz")
    drawn = False
    for index, core in enumerate(day["whole"]["cores"]):
        colour = COLOURS[index % len(COLOURS)]
        label = f"core {core['core']}" if index < len(COLOURS) else None
        ghz = column(day, "cores", index, "hertz", factor=1e-9)
        wished = column(day, "cores", index, "wished_hertz", factor=1e-9)
        drawn |= plot(axes, day, ghz, color=colour, label=label)
        name = "requested" if index == 0 else None
        plot(axes, day, wished, color=colour, linewidth=0.8, linestyle=plots.DASHES, label=name)
    axes.set_ylim(bottom=0)
    return drawn


def hourly(day: Json, way: str, percentile: str) -> list[float]:
    """A percentile of each hour of the day; NaN where it was not measured."""
    found = [NAN] * HOURS
    for figures in day["hours"]:
        latency = figures["latency_us"][way] or {}
        found[int(figures["hour"])] = latency.get(percentile) or NAN
    return found


def latency(axes: Any, day: Json, way: str) -> bool:
    """Bands of each hour: the median, and how far 99 % and 99.9 % of the packets reach."""
    p50, p99, p99_9 = (hourly(day, way, name) for name in ("p50", "p99", "p99_9"))
    axes.set_ylabel(f"{way}\nin the pipeline\nus")
    if not any(value == value for value in p50):
        return False
    edges, colour = list(range(HOURS + 1)), WAYS[way]

    def band(low: list[float], high: list[float], alpha: float, label: str) -> None:
        axes.fill_between(
            edges,
            [*low, low[-1]],
            [*high, high[-1]],
            step="post",
            color=colour,
            alpha=alpha,
            linewidth=0,
            label=label,
        )

    axes.stairs(p50, edges, baseline=None, color=colour, linewidth=1.6, label="median of the hour")
    band(p50, p99, 0.45, "up to 99 %")
    band(p99, p99_9, 0.18, "up to 99.9 %")
    known = [value for value in (*p50, *p99_9) if value == value]
    plots.log_axis(axes, max(0.1, min(known) / 2), max(10.0, max(known) * 1.5), "%g")
    return True


def latency_downstream(axes: Any, day: Json) -> bool:
    return latency(axes, day, "downstream")


def latency_upstream(axes: Any, day: Json) -> bool:
    return latency(axes, day, "upstream")


def power(axes: Any, day: Json) -> bool:
    """Measured watts, and modelled ones of a machine that the user described."""
    axes.set_ylabel("power\nW" if measured_names(day) else "power, modelled\nW")
    drawn = False
    if day["modelled_machine"]:
        lines = {"cpu_polling": (plots.MARK, "polling, fastest"), "cpu": (BLUE, "as it was")}
        for key, (colour, name) in lines.items():
            watts = column(day, "modelled_watts", key)
            drawn |= plot(axes, day, watts, color=colour, label=f"modelled: {name}")
    for index, what in enumerate(measured_names(day), 1):
        watts = column(day, "measured_watts", what)
        colour = COLOURS[index % len(COLOURS)]
        drawn |= plot(axes, day, watts, color=colour, label=f"measured: {what}")
    axes.set_ylim(bottom=0)
    return drawn


PANELS: dict[str, Draw] = {
    "load": load,
    "busy": busy,
    "paused": paused,
    "frequency": frequency,
    "latency-downstream": latency_downstream,
    "latency-upstream": latency_upstream,
    "power": power,
}


def check(path: Path) -> None:
    """Raises MistakeError if the picture cannot be drawn; called before the measurement."""
    options.picture_path(str(path))
    try:
        plots.load()
    except ModuleNotFoundError as error:
        raise MistakeError(f"--plot: {missing_package(error.name, 'plot')}") from error


def drawable(day: Json) -> dict[str, Draw]:
    """The panels that have data."""
    trial = plots.load().figure()
    found = {name: draw for name, draw in PANELS.items() if draw(trial.add_subplot(), day)}
    plots.load().close(trial)
    return found


def day_figure(day: Json) -> Any:
    drawn = drawable(day)
    figure, panels = plots.load().subplots(
        len(drawn), 1, sharex=True, figsize=(WIDTH, HEIGHT * len(drawn)), layout="constrained"
    )
    for axes, (name, draw) in zip(panels, drawn.items(), strict=True):
        axes.set_gid(f"panel-{name}")
        axes.grid(True, axis="x")
        draw(axes, day)
        axes.legend(loc="center left", bbox_to_anchor=(1.005, 0.5), handlelength=1.5, fontsize=8)
    panels[-1].set_xlim(0, HOURS)
    panels[-1].set_xticks(range(0, HOURS + 1, 3), [f"{hour}:00" for hour in range(0, HOURS + 1, 3)])
    panels[-1].set_xlabel(f"hour of the day; {HOURS} hours were {day['length_seconds']:g} s")
    figure.align_ylabels()
    title = f"{day['load']}; {policy_text(day)}"
    if day["modelled_machine"]:
        title += f"\nmodelled: {day['modelled_machine']}"
    figure.suptitle(title, fontsize=9, x=0.01, ha="left")
    return figure


def draw(day: Json, path: Path) -> None:
    figure = day_figure(day)
    if path.suffix == ".svg":
        plots.write(figure, path, "`vcmts run`, option `day`")
    else:
        with whole_file(path) as part:
            figure.savefig(part, dpi=DPI, facecolor="white")
    plots.load().close(figure)
