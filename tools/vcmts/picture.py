# SPDX-License-Identifier: BSD-3-Clause
"""The pipeline's picture, drawn from the lists that the data plane runs."""

from dataclasses import dataclass
from html import escape

MARGIN, BOX, ABOUT, ROW, HEAD = 20, 190, 520, 46, 44
BOX_HEIGHT = 32
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


def text(x: int, y: int, css: str, content: str) -> str:
    return f'<text x="{x}" y="{y}" class="{css}">{escape(content)}</text>'


def arrow(y: int, length: int) -> str:
    x = MARGIN + BOX // 2
    return f'<path class="way" d="M{x} {y} v{length}"/>'


def stage_row(stage: Stage, y: int) -> list[str]:
    middle = y + BOX_HEIGHT // 2
    return [
        f'<rect class="box" x="{MARGIN}" y="{y}" width="{BOX}" height="{BOX_HEIGHT}" rx="5"/>',
        text(MARGIN + 12, middle + 5, "stage", stage.name),
        text(MARGIN + BOX + 18, middle - 2, "about", stage.about),
        text(MARGIN + BOX + 18, middle + 14, "dpdk", stage.dpdk),
    ]


def draw(lists: list[StageList]) -> str:
    """An SVG of the lists, one below the other, as a packet walks them."""
    parts: list[str] = []
    y = MARGIN
    for index, stage_list in enumerate(lists):
        if index and not lists[index - 1].ends_at_a_port:
            parts.append(arrow(y - ROW + BOX_HEIGHT, ROW - BOX_HEIGHT + HEAD))
        parts.append(text(MARGIN + BOX + 18, y + HEAD // 2, "list", stage_list.name))
        y += HEAD
        for place, stage in enumerate(stage_list.stages):
            parts += stage_row(stage, y)
            if place + 1 < len(stage_list.stages):
                parts.append(arrow(y + BOX_HEIGHT, ROW - BOX_HEIGHT))
            y += ROW
    width = 2 * MARGIN + BOX + ABOUT
    height = y + MARGIN
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
