# SPDX-License-Identifier: BSD-3-Clause
"""The common style of a report's figures, and their conversion to SVG for a page.

Text stays text. Colours of text and lines are CSS variables of the page with fallbacks for other
viewers. The SVG has no external references.
"""

import importlib
import io
import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from vcmts.paths import MistakeError, missing_package
from vcmts.simulate import plots

# The palette by Okabe and Ito, which is safe for the colour-blind; the first two as in plots.py.
BLUE, VERMILION = plots.COLOURS["docsis-pie"], plots.COLOURS["tail-drop"]
GREEN, ORANGE, SKY, PINK, YELLOW, GREY = (
    "#009e73",
    "#e69f00",
    "#56b4e9",
    "#cc79a7",
    "#f0e442",
    "#999999",
)
PALETTE = (BLUE, ORANGE, GREEN, SKY, VERMILION, PINK, YELLOW)
MARKERS = "os^Dv*P"
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 2, 1, 2)))

# Placeholder colours for drawing, and the CSS variables with fallbacks that svg() replaces them by.
INK, SOFT, FAINT, PAPER = "#010203", "#040506", "#020304", "#030405"
VARIABLES = {
    INK: ("--ink", "#1d2329"),
    SOFT: ("--soft", "#59636e"),
    FAINT: ("--line", "#d5dadf"),
    PAPER: ("--paper", "#ffffff"),
}
FEW_DECADES = 1000.0  # a logarithmic axis with a smaller span has ticks at 1, 2, 5
SIZE = (4.6, 3.2)  # inches; on a phone a point is slightly more than a pixel
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
STYLE = {
    "svg.hashsalt": "vcmts",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.edgecolor": FAINT,
    "grid.color": FAINT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


class Point(NamedTuple):
    """A median at x, and the lowest and highest of its runs."""

    x: float
    y: float
    low: float
    high: float


def load() -> Any:
    """Imports and configures matplotlib; returns pyplot. Raises MistakeError if it is missing."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise MistakeError(f"report: {missing_package('matplotlib', 'plot')}") from error
    matplotlib.use("svg")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    return importlib.import_module("matplotlib.pyplot")


def new_figure(width: float = SIZE[0], height: float = SIZE[1]) -> tuple[Any, Any]:
    """A figure and its axes."""
    figure, axes = load().subplots(figsize=(width, height), layout="constrained")
    return figure, axes


def legend(figure: Any, axes: Any, columns: int = 3, **options: Any) -> None:
    """Adds a legend above the axes."""
    handles, labels = axes.get_legend_handles_labels()
    pairs = list(zip(handles, labels, strict=True))
    areas = [pair for pair in pairs if hasattr(pair[0], "patches")]
    pairs = [*areas, *(pair for pair in pairs if pair not in areas)]
    if pairs:
        plots.legend_on_top(
            figure,
            handles=[handle for handle, _ in pairs],
            labels=[label for _, label in pairs],
            ncols=columns,
            handlelength=1.6,
            columnspacing=1.2,
            **options,
        )


def plain_numbers(axis: Any) -> None:
    """Thousands with a comma instead of powers of ten."""
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def logarithmic(axes: Any, axis: str, ticks: list[float] | None = None) -> None:
    """Makes the axis "x" or "y" logarithmic, with ticks only at `ticks` if given."""
    ticker = importlib.import_module("matplotlib.ticker")
    getattr(axes, f"set_{axis}scale")("log")
    one = getattr(axes, f"{axis}axis")
    if ticks is not None:
        one.set_major_locator(ticker.FixedLocator(ticks))
    else:
        low, high = getattr(axes, f"get_{axis}lim")()
        few = high / max(low, 1e-9) < FEW_DECADES
        one.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if few else (1,)))
    one.set_minor_locator(ticker.NullLocator())
    plain_numbers(one)


def svg(figure: Any, name: str) -> str:
    """Converts a figure to one SVG element: ids unique by `name`, colours of the page, no size."""
    out = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(out, format="svg", metadata=metadata)
    load().close(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"(href=\"#|url\(#)", rf"\g<1>{name}-", text)
    for colour, (variable, fallback) in VARIABLES.items():
        text = text.replace(colour, f"var({variable}, {fallback})")
    text = re.sub(r"'DejaVu Sans'(, sans-serif)?", FONT, text)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    head = text[: text.index(">") + 1]
    box = re.search(r'viewBox="[^"]*"', head)
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    start = f'<svg {names} {box[0] if box else ""} role="img" style="stroke-linejoin: round">'
    return start + re.sub(r"\n\s*", "\n", text[len(head) :])


def ranges(
    axes: Any,
    points: Sequence[Point],
    index: int,
    label: str,
    joined: Collection[float] | None = None,
) -> None:
    """Draws points with their ranges. Joins two of them (with x in `joined`, if given) by a line
    only if their ranges do not overlap: otherwise the runs do not show which one is higher."""
    colour, marker = PALETTE[index % len(PALETTE)], MARKERS[index % len(MARKERS)]
    below = [max(0.0, point.y - point.low) for point in points]
    above = [max(0.0, point.high - point.y) for point in points]
    axes.errorbar(
        [point.x for point in points],
        [point.y for point in points],
        [below, above],
        color=colour,
        linestyle="none",
        elinewidth=1,
        marker=marker,
        markersize=3.5,
        capsize=3,
        label=label,
    )
    for one, two in pairwise(points):
        known = joined is None or (one.x in joined and two.x in joined)
        if known and (one.high < two.low or two.high < one.low):
            axes.plot([one.x, two.x], [one.y, two.y], color=colour, alpha=0.6)
