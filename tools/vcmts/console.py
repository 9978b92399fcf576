# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables of figures to stdout with rich."""

import sys
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table

WIDTH = 100  # columns if stdout is no terminal: wide tables need them


def wide_console() -> Console:
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)


def print_line(console: Console, text: str) -> None:
    """Prints a line without wrapping: rich would wrap a table's title at the table's width."""
    console.print(text, soft_wrap=True, markup=False, highlight=False)


def figures_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]] = (),
    title: str | None = None,
    texts: Collection[str] = (),
    *,
    no_wrap: bool = False,
) -> Table:
    """A table whose columns are right-aligned, except the first and those in `texts`."""
    table = Table(title=title, title_justify="left")
    for number, head in enumerate(titles):
        is_text = number == 0 or head in texts
        table.add_column(head, justify="left" if is_text else "right", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*row)
    return table
