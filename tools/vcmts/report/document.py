# SPDX-License-Identifier: BSD-3-Clause
"""What a report consists of, before it is HTML or Markdown."""

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
    """A figure that is read at a glance."""

    label: str
    value: str
    unit: str
    note: str


@dataclass(frozen=True)
class Cards:
    cards: Sequence[Card]


@dataclass(frozen=True)
class Table:
    """Columns whose cells are numbers stand to the right."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def right(self) -> list[bool]:
        """By column."""
        return [
            bool(self.rows) and all(NUMBER.fullmatch(row[index]) for row in self.rows)
            for index in range(len(self.head))
        ]


@dataclass(frozen=True)
class Figure:
    """`svg` is one element, drawn by figures.svg(); `words` tell what is to be seen in it."""

    name: str  # unique in the report; of a file, too
    title: str
    words: str
    svg: str


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Download:
    """A file within the file."""

    name: str
    data: bytes
    kind: str  # its MIME type
    words: str


@dataclass(frozen=True)
class Details:
    """What is shown when it is asked for."""

    summary: str
    blocks: Sequence["Block"]


Block = Text | Items | Cards | Table | Figure | Code | Download | Details


@dataclass
class Section:
    title: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return "-".join(self.title.lower().split())


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    sections: Sequence[Section]


MOST_PLACES = 6


def number(value: float | int | None, digits: int = 3) -> str:
    """At least so many digits that count, thousands apart, as people write it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    size = abs(value)
    if value == int(value) or size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    places = digits - 1
    while size >= 10 and places > 0:
        size /= 10
        places -= 1
    while 0 < size < 1 and places < MOST_PLACES:
        size *= 10
        places += 1
    return f"{value:.{places}f}"


def plain(value: Any) -> str:
    """A value in a cell, nothing rounded."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items())
    return f"{value}"
