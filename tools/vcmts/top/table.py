# SPDX-License-Identifier: BSD-3-Clause
"""A table with column titles. A narrow terminal shows only the most important columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rich.cells import set_cell_size
from rich.text import Text

from vcmts.top.words import printable

Row = TypeVar("Row")
GAP = 1
ELLIPSIS = ".."
MARK = "> "  # before the selected row


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column. Widths are terminal cells. `width`: at least the title's. `need`: importance; 0 is
    the last to be hidden. `most`: the column grows up to this width for long texts."""

    key: str
    title: str
    width: int
    need: int
    text: Callable[[Row], str]
    order: Callable[[Row], Any]  # sort key; None sorts last
    over: str = ""  # common title of adjacent columns
    left: bool = False
    most: int = 0
    style: Callable[[Row], str] = lambda row: ""


def fit_columns(columns: Sequence[Column[Row]], width: int) -> list[Column[Row]]:
    """The columns to show, in the order of `columns`: those that fit, by importance, at least one.
    The gap after the last column may exceed `width`."""
    left, chosen = width + GAP, set[str]()
    for column in sorted(columns, key=lambda column: column.need):
        if not chosen or column.width + GAP <= left:
            chosen.add(column.key)
            left -= column.width + GAP
    return [column for column in columns if column.key in chosen]


def as_wide_as_texts(column: Column[Row], rows: Sequence[Row]) -> Column[Row]:
    """The column, as wide as its longest text, up to `most`."""
    longest = max((Text(printable(column.text(row))).cell_len for row in rows), default=0)
    return replace(column, width=max(column.width, min(longest, column.most)))


def fill(text: str, width: int, *, left: bool) -> str:
    """Pads or truncates to `width`. A long text loses its beginning, as names of groups differ at
    the end.
    `left`: align to the left."""
    clean = printable(text)
    while Text(clean).cell_len > width > len(ELLIPSIS):
        clean = ELLIPSIS + clean.removeprefix(ELLIPSIS)[1:]
    clipped = set_cell_size(clean, min(width, Text(clean).cell_len))
    space = " " * (width - Text(clipped).cell_len)
    return clipped + space if left else space + clipped


def ordered(
    rows: Sequence[Row], columns: Sequence[Column[Row]], key: str, *, reverse: bool
) -> list[Row]:
    """Stable sort by the column `key`: numbers descending, texts ascending; `reverse` inverts both.
    Unknown values (None) are always last. An unknown `key` keeps the order."""
    order = next((column.order for column in columns if column.key == key), None)
    if order is None:
        return list(rows)
    known = [row for row in rows if order(row) is not None]
    unknown = [row for row in rows if order(row) is None]
    down = any(isinstance(order(row), int | float) for row in known) != reverse
    return sorted(known, key=order, reverse=down) + unknown


def group_title_line(columns: Sequence[Column[Row]]) -> Text:
    """The line with the common titles of adjacent columns, right-aligned."""
    line, index = Text(" " * len(MARK), style="bold"), 0
    while index < len(columns):
        end = index + 1
        while end < len(columns) and columns[end].over == columns[index].over:
            end += 1
        width = sum(column.width + GAP for column in columns[index:end]) - GAP
        line.append(fill(columns[index].over, width, left=False) + " " * GAP)
        index = end
    return line


def title_line(columns: Sequence[Column[Row]], sort: str) -> Text:
    """The line with the titles; that of the column `sort` is underlined."""
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
    """The line of a row; `chosen`: marked as the selected one."""
    line = Text(MARK if chosen else " " * len(MARK), style="reverse" if chosen else "")
    for column in columns:
        cell = fill(column.text(row), column.width, left=column.left)
        line.append(cell, style=column.style(row))
        line.append(" " * GAP)
    return line


def window(count: int, chosen: int, height: int) -> range:
    """The range of at most `height` visible rows out of `count`, with the row `chosen`."""
    start = max(0, min(chosen - height // 2, count - height))
    return range(start, min(count, start + max(0, height)))


def table(
    rows: Sequence[Row],
    columns: Sequence[Column[Row]],
    *,
    size: tuple[int, int],
    sort: str = "",
    chosen: int | None = None,
) -> list[Text]:
    """The lines of a table of sorted rows: at most `size` (width, height), but the caller crops the
    width.

    The title of the column `sort` is underlined. `chosen`: index of the selected row, which is
    always visible. A small height leaves out titles, so that two lines remain for rows.
    """
    width, height = size
    wide = [as_wide_as_texts(column, rows) if column.most else column for column in columns]
    shown = fit_columns(wide, width - len(MARK))
    titles = [group_title_line(shown)] if any(column.over for column in shown) else []
    titles.append(title_line(shown, sort))
    titles = titles[len(titles) - max(0, min(len(titles), height - 2)) :]
    visible = window(len(rows), chosen or 0, height - len(titles))
    lines = [row_line(shown, rows[index], chosen=index == chosen) for index in visible]
    return [*titles, *lines]
