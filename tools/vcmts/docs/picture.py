# SPDX-License-Identifier: BSD-3-Clause
"""The pipeline's picture, drawn from the lists that the data plane runs."""

from dataclasses import dataclass
from html import escape

MARGIN, BOX, ABOUT, ROW, HEAD = 20, 190, 520, 46, 44
BOX_HEIGHT, GAP = 32, 18
QUEUE, QUEUE_HEIGHT = 40, 22  # what a queue between two boxes takes, and is
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
.queue { fill: #fff4d6; stroke: #b7791f; stroke-width: 1.2 }
.exit { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.2 }
.link { stroke: #2774ae; stroke-width: 1.5; fill: none; stroke-dasharray: 4 3 }
.tip { marker-end: url(#tip) }
.way { stroke: #2774ae; stroke-width: 1.5; fill: none; marker-end: url(#tip) }
""".strip()


@dataclass(frozen=True)
class Stage:
    """A row of a list; the names are those of queues, rings and ports."""

    name: str
    about: str
    dpdk: str
    source: str = ""  # where it takes packets from, if not from the stage above
    gives: str = ""  # where it puts them, if not before the stage below
    also: tuple[str, ...] = ()  # where else it puts something


@dataclass(frozen=True)
class StageList:
    name: str
    stages: list[Stage]
    queues: dict[str, str]  # what is in them, by name

    @property
    def ends_at_a_port(self) -> bool:
        """What leaves by a port comes to no further list: that one is fed in another way."""
        return self.stages[-1].dpdk == PORT

    def is_inside(self, queue: str) -> bool:
        """Whether it stands between stages of this list."""
        return any(queue in (s.gives, *s.also) for s in self.stages if queue)


@dataclass(frozen=True)
class Ring:
    """What stages put beside the packets, for a stage of another list."""

    name: str
    sources: tuple[str, ...]
    sink: str


@dataclass(frozen=True)
class Exit:
    """Where stages hand out what does not go down the list."""

    stages: tuple[str, ...]
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
    """Down from the middle of a box at `x`."""
    return way_down(x + BOX // 2, y, length)


def way_down(x: int, y: int, length: int) -> str:
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
    """A queue from the box that ends at `y` to the next; `direct`: packets pass beside it, too."""
    left = columns.box + (BOX // 3 if direct else BOX // 6)
    width = columns.box + BOX - BOX // 6 - left
    top = y + (ROW + QUEUE - BOX_HEIGHT - QUEUE_HEIGHT) // 2
    middle, below = left + width // 2, y + ROW + QUEUE - BOX_HEIGHT
    parts = [
        f'<rect class="queue" x="{left}" y="{top}" width="{width}" height="{QUEUE_HEIGHT}" '
        f'rx="{QUEUE_HEIGHT // 2}"/>',
        text(middle, top + 15, "dpdk", name, "middle"),
        text(columns.words, top + 15, "dpdk", about),
        way_down(middle, y, top - y),
        way_down(middle, top + QUEUE_HEIGHT, below - top - QUEUE_HEIGHT),
    ]
    return [*parts, way_down(columns.box + BOX // 6, y, below - y)] if direct else parts


def ring_ways(ring: Ring, places: dict[str, int], right: int) -> list[str]:
    """A line that collects from the sources' boxes and ends in the sink's."""
    middles = [places[name] + BOX_HEIGHT // 2 for name in ring.sources]
    rail, end = right + RAIL, places[ring.sink] + BOX_HEIGHT // 2
    parts = [f'<path class="link" d="M{right} {y} H{rail}"/>' for y in middles[1:]]
    parts.append(f'<path class="link tip" d="M{right} {middles[0]} H{rail} V{end} H{right}"/>')
    return [*parts, text(rail - 8, places[ring.sink] - HEAD // 2, "dpdk", ring.name, "end")]


def exit_ways(way: Exit, places: dict[str, int], left: int) -> list[str]:
    """A box beside the first of the stages; what the others hand out goes up to it."""
    first, *others = (places[name] for name in way.stages)
    middle = first + BOX_HEIGHT // 2
    parts = [
        box(MARGIN, first, EXIT, "exit"),
        text(MARGIN + EXIT // 2, middle + 5, "about", way.name, "middle"),
        f'<path class="way" d="M{left} {middle} H{MARGIN + EXIT}"/>',
    ]
    for y in others:
        ways = f"M{left} {y + BOX_HEIGHT // 2} H{MARGIN + EXIT // 2} V{first + BOX_HEIGHT}"
        parts.append(f'<path class="way" d="{ways}"/>')
    return parts


def list_rows(stage_list: StageList, columns: Columns, y: int) -> tuple[list[str], dict[str, int]]:
    """The stages below each other from `y` on, with the queues between them, and their heights."""
    parts: list[str] = []
    places: dict[str, int] = {}
    for place, stage in enumerate(stage_list.stages):
        if place:
            above, end = stage_list.stages[place - 1], y - ROW + BOX_HEIGHT
            if stage_list.is_inside(stage.source):
                about = stage_list.queues[stage.source]
                parts += queue_row(stage.source, about, columns, end, not above.gives)
                y += QUEUE
            else:
                parts.append(arrow(columns.box, end, ROW - BOX_HEIGHT))
        places[stage.name] = y
        parts += stage_row(stage, columns, y)
        y += ROW
    return parts, places


def stage_columns(lists: list[StageList], columns: Columns) -> tuple[list[str], dict[str, int]]:
    """The lists, one below the other, and the heights of their stages."""
    parts: list[str] = []
    places: dict[str, int] = {}
    y = MARGIN
    for index, stage_list in enumerate(lists):
        if index and not lists[index - 1].ends_at_a_port:
            parts.append(arrow(columns.box, y - ROW + BOX_HEIGHT, ROW - BOX_HEIGHT + HEAD))
        parts.append(text(columns.words, y + HEAD // 2, "list", stage_list.name))
        rows, heights = list_rows(stage_list, columns, y + HEAD)
        parts += rows
        places |= heights
        y = max(heights.values()) + ROW
    return parts, places


def side_ways(lists: list[StageList]) -> tuple[list[Ring], list[Exit]]:
    """Where stages put something beside the way down: for another list, or out."""
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
    """An SVG of the lists as a packet walks them, and of what leaves them in their midst."""
    rings, exits = side_ways(lists)
    left = MARGIN + (EXIT + 2 * GAP if exits else 0)
    columns = Columns(left, left + BOX + GAP + (RAIL if rings else 0))
    parts, places = stage_columns(lists, columns)
    for ring in rings:
        parts += ring_ways(ring, places, left + BOX)
    for way_out in exits:
        parts += exit_ways(way_out, places, left)
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
