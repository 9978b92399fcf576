# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables and lines for people: as wide as the terminal, in characters that it has."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from vcmts.terminal import is_ascii, wrapped

WIDTH = 100  # columns of a file or pipe: rich would wrap wide tables at 80


class OutConsole(Console):
    """A console whose tables and bars have ASCII lines where is_ascii() says so."""

    @property
    def encoding(self) -> str:
        return "ascii" if is_ascii(self.file) else "utf-8"


def out_console(out: IO[str] | None = None, **options: Any) -> Console:
    """A console for `out`, the standard output without it; `options` are those of rich."""
    return OutConsole(file=out or sys.stdout, **options)


def wide_console() -> Console:
    """A console for tables wider than 80 columns: a file or pipe gets WIDTH of them."""
    return out_console(width=None if sys.stdout.isatty() else WIDTH)


def print_line(console: Console, text: str) -> None:
    """Prints text without markup; breaks it between words in a terminal only. Also for a long
    title, which a Table would wrap."""
    console.print(wrapped(text, console.file), soft_wrap=True, markup=False, highlight=False)


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
