# SPDX-License-Identifier: BSD-3-Clause
"""Where tables go, and how those of figures look."""

import sys
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table

WIDTH = 100  # where there is no terminal: what wide tables need


def wide_console() -> Console:
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)


def say(console: Console, text: str) -> None:
    """A line as it is: a title of a table would be broken where its columns end."""
    console.print(text, soft_wrap=True, markup=False, highlight=False)


def figures_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]] = (),
    title: str | None = None,
    texts: Collection[str] = (),
    *,
    no_wrap: bool = False,
) -> Table:
    """Of figures, to the right; the first column and those of `texts` are to the left."""
    table = Table(title=title, title_justify="left")
    for number, head in enumerate(heads):
        is_text = number == 0 or head in texts
        table.add_column(head, justify="left" if is_text else "right", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*row)
    return table
