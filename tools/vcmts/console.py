# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables of figures to stdout with rich."""

import sys
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table

WIDTH = 100  # columns of a file or pipe: rich would wrap wide tables at 80


def wide_console() -> Console:
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)


def print_line(console: Console, text: str) -> None:
    """Prints text without wrapping or markup; also a long title, which a Table would wrap."""
    console.print(text, soft_wrap=True, markup=False, highlight=False)


def figures_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]] = (),
    title: str | None = None,
    texts: Collection[str] = (),
    *,
    no_wrap: bool = False,
) -> Table:
    """A table. The first column and those with a title in `texts` are left-aligned, others right.

    Cells are rich markup. With `no_wrap` a cell that is too wide ends in an ellipsis."""
    table = Table(title=title, title_justify="left")
    for number, head in enumerate(titles):
        is_text = number == 0 or head in texts
        table.add_column(head, justify="left" if is_text else "right", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*row)
    return table
