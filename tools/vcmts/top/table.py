# SPDX-License-Identifier: BSD-3-Clause
"""Rows under columns, of which a narrow terminal shows those that are needed most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rich.cells import set_cell_size
from rich.text import Text

from vcmts.top.words import printable

Row = TypeVar("Row")
GAP = 1
CUT = ".."
MARK = "> "  # before the row that is chosen


@dataclass(frozen=True)
class Column(Generic[Row]):
    """`need`: the lower, the sooner it is shown; `most`: how wide it may become."""

    key: str
    title: str
    width: int
    need: int
    text: Callable[[Row], str]
    order: Callable[[Row], Any]  # None goes last
    over: str = ""  # title of several columns
    left: bool = False
    most: int = 0
    style: Callable[[Row], str] = lambda row: ""


def fitted(columns: Sequence[Column[Row]], width: int) -> list[Column[Row]]:
    """Those that have room, the first needed one in any case; what is left goes to names."""
    left, chosen = width + GAP, set[str]()
    for column in sorted(columns, key=lambda column: column.need):
        if chosen and column.width + GAP > left:
            break
        chosen.add(column.key)
        left -= column.width + GAP
    shown = [column for column in columns if column.key in chosen]
    for place, column in enumerate(shown):
        more = max(0, min(column.most - column.width, left))
        shown[place] = replace(column, width=column.width + more)
        left -= more
    return shown


def fill(text: str, width: int, *, left: bool) -> str:
    """Exactly as wide. What is cut off is the beginning: names of groups differ at their ends."""
    clean = printable(text)
    while Text(clean).cell_len > width > len(CUT):
        clean = CUT + clean.removeprefix(CUT)[1:]
    cut = set_cell_size(clean, min(width, Text(clean).cell_len))
    space = " " * (width - Text(cut).cell_len)
    return cut + space if left else space + cut


def ordered(
    rows: Sequence[Row], columns: Sequence[Column[Row]], key: str, *, reverse: bool
) -> list[Row]:
    """Numbers from the largest on, texts from A on; where nothing is known, last. Rows that are
    alike stay in their order."""
    order = next((column.order for column in columns if column.key == key), None)
    if order is None:
        return list(rows)
    known = [row for row in rows if order(row) is not None]
    unknown = [row for row in rows if order(row) is None]
    down = any(isinstance(order(row), int | float) for row in known) != reverse
    return sorted(known, key=order, reverse=down) + unknown


def over_line(columns: Sequence[Column[Row]]) -> Text:
    """The titles of several columns, each at the right of what it is over."""
    line, place = Text(" " * len(MARK), style="bold"), 0
    while place < len(columns):
        end = place + 1
        while end < len(columns) and columns[end].over == columns[place].over:
            end += 1
        width = sum(column.width + GAP for column in columns[place:end]) - GAP
        line.append(fill(columns[place].over, width, left=False) + " " * GAP)
        place = end
    return line


def title_line(columns: Sequence[Column[Row]], sort: str) -> Text:
    line = Text(" " * len(MARK), style="bold")
    for column in columns:
        style = "underline" if column.key == sort else ""
        blank = " " * (column.width - len(column.title))
        parts = (column.title, blank) if column.left else (blank, column.title)
        for part in parts:
            line.append(part, style=style if part is column.title else "")
        line.append(" " * GAP)
    return line


def row_line(columns: Sequence[Column[Row]], row: Row, *, chosen: bool) -> Text:
    line = Text(MARK if chosen else " " * len(MARK), style="reverse" if chosen else "")
    for column in columns:
        told = fill(column.text(row), column.width, left=column.left)
        line.append(told, style=column.style(row))
        line.append(" " * GAP)
    return line


def window(count: int, chosen: int, room: int) -> range:
    """Which rows are seen: the chosen one among them."""
    start = max(0, min(chosen - room // 2, count - room))
    return range(start, min(count, start + max(0, room)))


def table(
    rows: Sequence[Row],
    columns: Sequence[Column[Row]],
    *,
    size: tuple[int, int],
    sort: str = "",
    chosen: int | None = None,
) -> list[Text]:
    """At most as many lines as there is room for (width, height): titles only where rows remain
    beside them. The chosen row is always seen."""
    width, height = size
    shown = fitted(columns, width - len(MARK))
    titles = [over_line(shown)] if any(column.over for column in shown) else []
    titles.append(title_line(shown, sort))
    titles = titles[len(titles) - max(0, min(len(titles), height - 2)) :]
    seen = window(len(rows), chosen or 0, height - len(titles))
    lines = [row_line(shown, rows[place], chosen=place == chosen) for place in seen]
    return [*titles, *lines]
