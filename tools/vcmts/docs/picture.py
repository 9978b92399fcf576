# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pipeline as SVG from the stage lists of `vcmtsd describe`."""

import math
from dataclasses import dataclass
from html import escape

MARGIN, BOX, ROW, HEAD = 20, 190, 46, 44
LETTER = 8.2  # width of a letter of 14 px, in the widest usual font
BOX_HEIGHT, GAP = 32, 18
QUEUE, QUEUE_HEIGHT = 40, 22  # additional space for a queue, and its height
RAIL = 22  # width of the space for a ring's line
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
.queue { fill: #fff4d6; stroke: #b7791f; stroke-width: 1.2 }
.exit { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.2 }
.link { stroke: #2774ae; stroke-width: 1.5; fill: none; stroke-dasharray: 4 3 }
.tip { marker-end: url(#tip) }
.way { stroke: #2774ae; stroke-width: 1.5; fill: none; marker-end: url(#tip) }
""".strip()


@dataclass(frozen=True)
class Stage:
    """A stage. Sources and sinks are names of queues, rings and ports."""

    name: str
    about: str
    dpdk: str
    source: str = ""  # of its packets; "": the stage above
    gives: str = ""  # sink of its packets; "": the stage below
    also: tuple[str, ...] = ()  # further sinks


@dataclass(frozen=True)
class StageList:
    name: str
    stages: list[Stage]
    queues: dict[str, str]  # descriptions by name

    @property
    def ends_at_a_port(self) -> bool:
        """Whether the list transmits to a port, so that the next list has another source."""
        return self.stages[-1].dpdk == PORT

    def is_inside(self, queue: str) -> bool:
        """Whether the queue is between stages of this list."""
        return any(queue in (s.gives, *s.also) for s in self.stages if queue)


@dataclass(frozen=True)
class Ring:
    """A ring from stages to a stage of another list."""

    name: str
    sources: tuple[str, ...]
    sink: str


@dataclass(frozen=True)
class Exit:
    """A sink of stages that is outside of the lists."""

    stages: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class Columns:
    """x coordinates of boxes and of the text beside them; the width of exit boxes."""

    box: int
    words: int
    exit: int


def text_width(words: str) -> int:
    return math.ceil(LETTER * len(words))


def text(x: int, y: int, css: str, content: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{css}" text-anchor="{anchor}">{escape(content)}</text>'


def box(x: int, y: int, width: int, css: str) -> str:
    return f'<rect class="{css}" x="{x}" y="{y}" width="{width}" height="{BOX_HEIGHT}" rx="5"/>'


def arrow(x: int, y: int, length: int) -> str:
    """An arrow down from the middle of a box at `x`."""
    return arrow_at(x + BOX // 2, y, length)


def arrow_at(x: int, y: int, length: int) -> str:
    return f'<path class="way" d="M{x} {y} v{length}"/>'


def stage_row(stage: Stage, columns: Columns, y: int) -> list[str]:
    middle = y + BOX_HEIGHT // 2
    return [
        box(columns.box, y, BOX, "box"),
        text(columns.box + 12, middle + 5, "stage", stage.name),
        text(columns.words, middle - 2, "about", stage.about),
        text(columns.words, middle + 14, "dpdk", stage.dpdk),
    ]


def queue_row(name: str, about: str, columns: Columns, y: int, direct: bool) -> list[str]:
    """A queue between the box that ends at `y` and the next. `direct`: packets may bypass it."""
    left = columns.box + (BOX // 3 if direct else BOX // 6)
    width = columns.box + BOX - BOX // 6 - left
    top = y + (ROW + QUEUE - BOX_HEIGHT - QUEUE_HEIGHT) // 2
    middle, below = left + width // 2, y + ROW + QUEUE - BOX_HEIGHT
    parts = [
        f'<rect class="queue" x="{left}" y="{top}" width="{width}" height="{QUEUE_HEIGHT}" '
        f'rx="{QUEUE_HEIGHT // 2}"/>',
        text(middle, top + 15, "dpdk", name, "middle"),
        text(columns.words, top + 15, "dpdk", about),
        arrow_at(middle, y, top - y),
        arrow_at(middle, top + QUEUE_HEIGHT, below - top - QUEUE_HEIGHT),
    ]
    return [*parts, arrow_at(columns.box + BOX // 6, y, below - y)] if direct else parts


def ring_lines(ring: Ring, tops: dict[str, int], right: int) -> list[str]:
    """Lines from the boxes of the sources to the box of the sink."""
    middles = [tops[name] + BOX_HEIGHT // 2 for name in ring.sources]
    rail, end = right + RAIL, tops[ring.sink] + BOX_HEIGHT // 2
    parts = [f'<path class="link" d="M{right} {y} H{rail}"/>' for y in middles[1:]]
    parts.append(f'<path class="link tip" d="M{right} {middles[0]} H{rail} V{end} H{right}"/>')
    return [*parts, text(rail - 8, tops[ring.sink] - HEAD // 2, "dpdk", ring.name, "end")]


def exit_lines(way: Exit, tops: dict[str, int], columns: Columns) -> list[str]:
    """An exit box beside the first of its stages, and lines from all of them."""
    left, width = columns.box, columns.exit
    first, *others = (tops[name] for name in way.stages)
    middle = first + BOX_HEIGHT // 2
    parts = [
        box(MARGIN, first, width, "exit"),
        text(MARGIN + width // 2, middle + 5, "about", way.name, "middle"),
        f'<path class="way" d="M{left} {middle} H{MARGIN + width}"/>',
    ]
    for y in others:
        ways = f"M{left} {y + BOX_HEIGHT // 2} H{MARGIN + width // 2} V{first + BOX_HEIGHT}"
        parts.append(f'<path class="way" d="{ways}"/>')
    return parts


def list_rows(stage_list: StageList, columns: Columns, y: int) -> tuple[list[str], dict[str, int]]:
    """Draws a list from `y` on. Returns the drawing, and the y coordinate of each stage."""
    parts: list[str] = []
    tops: dict[str, int] = {}
    for index, stage in enumerate(stage_list.stages):
        if index:
            above, end = stage_list.stages[index - 1], y - ROW + BOX_HEIGHT
            if stage_list.is_inside(stage.source):
                about = stage_list.queues[stage.source]
                parts += queue_row(stage.source, about, columns, end, not above.gives)
                y += QUEUE
            else:
                parts.append(arrow(columns.box, end, ROW - BOX_HEIGHT))
        tops[stage.name] = y
        parts += stage_row(stage, columns, y)
        y += ROW
    return parts, tops


def stage_columns(lists: list[StageList], columns: Columns) -> tuple[list[str], dict[str, int]]:
    """Draws all lists. Returns the drawing, and the y coordinate of each stage."""
    parts: list[str] = []
    tops: dict[str, int] = {}
    y = MARGIN
    for index, stage_list in enumerate(lists):
        if index and not lists[index - 1].ends_at_a_port:
            parts.append(arrow(columns.box, y - ROW + BOX_HEIGHT, ROW - BOX_HEIGHT + HEAD))
        parts.append(text(columns.words, y + HEAD // 2, "list", stage_list.name))
        rows, heights = list_rows(stage_list, columns, y + HEAD)
        parts += rows
        tops |= heights
        y = max(heights.values()) + ROW
    return parts, tops


def rings_and_exits(lists: list[StageList]) -> tuple[list[Ring], list[Exit]]:
    """Rings between lists, and exits."""
    stages = [stage for stage_list in lists for stage in stage_list.stages]
    rings, exits = [], []
    for name in dict.fromkeys(name for stage in stages for name in stage.also):
        sources = tuple(stage.name for stage in stages if name in stage.also)
        takers = [stage_list for stage_list in lists for s in stage_list.stages if s.source == name]
        if not takers:
            exits.append(Exit(sources, name))
        elif not takers[0].is_inside(name):
            sink = next(stage.name for stage in stages if stage.source == name)
            rings.append(Ring(name, sources, sink))
    return rings, exits


def draw(lists: list[StageList]) -> str:
    """Returns the SVG."""
    rings, exits = rings_and_exits(lists)
    exit_width = max((text_width(way.name) for way in exits), default=0) + GAP
    left = MARGIN + (exit_width + 2 * GAP if exits else 0)
    columns = Columns(left, left + BOX + GAP + (RAIL if rings else 0), exit_width)
    parts, tops = stage_columns(lists, columns)
    for ring in rings:
        parts += ring_lines(ring, tops, left + BOX)
    for way_out in exits:
        parts += exit_lines(way_out, tops, columns)
    abouts = [stage.about for stage_list in lists for stage in stage_list.stages]
    width = columns.words + max(map(text_width, abouts)) + MARGIN
    height = max(tops.values()) + ROW + MARGIN
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
