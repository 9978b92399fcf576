# SPDX-License-Identifier: BSD-3-Clause
"""The elements of a report, independent of HTML and Markdown; and the format of numbers.

Texts are plain, with `code` in backticks. The renderers escape them and mark the code; only
Figure.svg is inserted as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(e[-+]?\d+)?( ?%)?|-")


@dataclass(frozen=True)
class Text:
    words: str


@dataclass(frozen=True)
class Items:
    lines: Sequence[str]


@dataclass(frozen=True)
class Card:
    """A single number, shown large."""

    label: str
    value: str
    unit: str
    note: str


@dataclass(frozen=True)
class Cards:
    cards: Sequence[Card]


@dataclass(frozen=True)
class Table:
    """A table; each row has a cell per column. Columns of only numbers or "-" are right-aligned."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def right(self) -> list[bool]:
        """Whether each column is right-aligned. False without rows."""
        return [
            bool(self.rows) and all(NUMBER.fullmatch(row[index]) for row in self.rows)
            for index in range(len(self.head))
        ]


@dataclass(frozen=True)
class Figure:
    """A drawing. `svg` is one element made by figures.svg(). `words`: its caption, and the
    description for screen readers."""

    name: str  # unique in the report; an HTML id, and the name of Markdown's file without .svg
    title: str
    words: str
    svg: str


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Download:
    """A file embedded in the report."""

    name: str
    data: bytes
    kind: str  # its MIME type
    words: str


@dataclass(frozen=True)
class Details:
    """Blocks that the reader can unfold."""

    summary: str
    blocks: Sequence["Block"]


Block = Text | Items | Cards | Table | Figure | Code | Download | Details


@dataclass
class Section:
    title: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The HTML id: titles must differ, and have only letters, digits and blanks."""
        return "-".join(self.title.lower().split())


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    sections: Sequence[Section]


MAX_DECIMALS = 6


def number(value: float | int | None, digits: int = 3) -> str:
    """Formats a number with thousands separators. Whole numbers stay whole. Others get `digits`
    significant digits, but at least all of the integer part, and at most MAX_DECIMALS decimals, so
    smaller values appear as 0. Must be finite. None: "-"; bool: yes or no."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    size = abs(value)
    if value == int(value) or size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    decimals = digits - 1
    while size >= 10 and decimals > 0:
        size /= 10
        decimals -= 1
    while 0 < size < 1 and decimals < MAX_DECIMALS:
        size *= 10
        decimals += 1
    return f"{value:,.{decimals}f}"


def plain(value: Any) -> str:
    """A value as text, not rounded; lists and maps as their items, "none" for an empty list. None:
    "-"; bool: yes or no."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items())
    return f"{value}"
