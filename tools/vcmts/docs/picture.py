# SPDX-License-Identifier: BSD-3-Clause
"""The pipeline's picture, drawn from the lists that the data plane runs."""

from dataclasses import dataclass
from html import escape

MARGIN, BOX, ABOUT, ROW, HEAD = 20, 190, 520, 46, 44
BOX_HEIGHT, GAP = 32, 18
EXIT, RAIL = 110, 22  # a box beside the stages, and a ring's line
PORT = "ethdev"
# REUSE-IgnoreStart
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
# REUSE-IgnoreEnd
STYLE = """
text { font: 14px sans-serif; fill: #1f2933 }
.list { font-weight: bold; font-size: 15px }
.stage { font-family: monospace; font-weight: bold }
.dpdk { fill: #52606d; font-size: 12px }
.page { fill: #ffffff }
.box { fill: #e3f1fd; stroke: #2774ae; stroke-width: 1.2 }
.exit { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.2 }
.link { stroke: #2774ae; stroke-width: 1.5; fill: none; stroke-dasharray: 4 3 }
.tip { marker-end: url(#tip) }
.way { stroke: #2774ae; stroke-width: 1.5; fill: none; marker-end: url(#tip) }
""".strip()


@dataclass(frozen=True)
class Stage:
    name: str
    about: str
    dpdk: str


@dataclass(frozen=True)
class StageList:
    name: str
    stages: list[Stage]

    @property
    def ends_at_a_port(self) -> bool:
        """What leaves by a port comes to no further list: that one is fed in another way."""
        return self.stages[-1].dpdk == PORT


@dataclass(frozen=True)
class Ring:
    """What stages put beside the packets, for a stage of another list."""

    name: str
    sources: tuple[str, ...]
    sink: str


@dataclass(frozen=True)
class Exit:
    """Where a stage hands out what does not go down the list."""

    stage: str
    name: str


@dataclass(frozen=True)
class Columns:
    """Where boxes and the words behind them begin."""

    box: int
    words: int


def text(x: int, y: int, css: str, content: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{css}" text-anchor="{anchor}">{escape(content)}</text>'


def box(x: int, y: int, width: int, css: str) -> str:
    return f'<rect class="{css}" x="{x}" y="{y}" width="{width}" height="{BOX_HEIGHT}" rx="5"/>'


def arrow(x: int, y: int, length: int) -> str:
    return f'<path class="way" d="M{x + BOX // 2} {y} v{length}"/>'


def stage_row(stage: Stage, columns: Columns, y: int) -> list[str]:
    middle = y + BOX_HEIGHT // 2
    return [
        box(columns.box, y, BOX, "box"),
        text(columns.box + 12, middle + 5, "stage", stage.name),
        text(columns.words, middle - 2, "about", stage.about),
        text(columns.words, middle + 14, "dpdk", stage.dpdk),
    ]


def ring_ways(ring: Ring, places: dict[str, int], right: int) -> list[str]:
    """A line that collects from the sources' boxes and ends in the sink's."""
    middles = [places[name] + BOX_HEIGHT // 2 for name in ring.sources]
    rail, end = right + RAIL, places[ring.sink] + BOX_HEIGHT // 2
    parts = [f'<path class="link" d="M{right} {y} H{rail}"/>' for y in middles[1:]]
    parts.append(f'<path class="link tip" d="M{right} {middles[0]} H{rail} V{end} H{right}"/>')
    return [*parts, text(rail - 8, places[ring.sink] - HEAD // 2, "dpdk", ring.name, "end")]


def exit_way(way: Exit, places: dict[str, int], left: int) -> list[str]:
    y = places[way.stage]
    middle = y + BOX_HEIGHT // 2
    return [
        box(MARGIN, y, EXIT, "exit"),
        text(MARGIN + EXIT // 2, middle + 5, "about", way.name, "middle"),
        f'<path class="way" d="M{left} {middle} H{MARGIN + EXIT}"/>',
    ]


def stage_columns(lists: list[StageList], columns: Columns) -> tuple[list[str], dict[str, int]]:
    """The lists, one below the other, and the heights of their stages."""
    parts: list[str] = []
    places: dict[str, int] = {}
    y = MARGIN
    for index, stage_list in enumerate(lists):
        if index and not lists[index - 1].ends_at_a_port:
            parts.append(arrow(columns.box, y - ROW + BOX_HEIGHT, ROW - BOX_HEIGHT + HEAD))
        parts.append(text(columns.words, y + HEAD // 2, "list", stage_list.name))
        y += HEAD
        for place, stage in enumerate(stage_list.stages):
            places[stage.name] = y
            parts += stage_row(stage, columns, y)
            if place + 1 < len(stage_list.stages):
                parts.append(arrow(columns.box, y + BOX_HEIGHT, ROW - BOX_HEIGHT))
            y += ROW
    return parts, places


def draw(lists: list[StageList], ring: Ring | None = None, way_out: Exit | None = None) -> str:
    """An SVG of the lists as a packet walks them, and of what leaves them in their midst."""
    left = MARGIN + (EXIT + 2 * GAP if way_out else 0)
    columns = Columns(left, left + BOX + GAP + (RAIL if ring else 0))
    parts, places = stage_columns(lists, columns)
    if ring:
        parts += ring_ways(ring, places, left + BOX)
    if way_out:
        parts += exit_way(way_out, places, left)
    width = columns.words - GAP + ABOUT + MARGIN
    height = max(places.values()) + ROW + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<!-- {LICENCE} -->",
            "<!-- Written by `make docs` -->",
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
            'markerHeight="6" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#2774ae"/></marker>'
            "</defs>",
            f'<rect class="page" width="{width}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )
