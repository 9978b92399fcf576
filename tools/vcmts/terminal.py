# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal shows: its width and its characters. Without rich, as each program needs it."""

import os
import re
import sys
import textwrap
from typing import IO

LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")  # the first one that is set counts
# Between a number and its unit, where no line is broken.
UNIT = re.compile(r"(?<=\d) (?=(?:[GMk]?bps|[GMk]?B|[um]?s|min|h|%)(?!\w))")
UNBROKEN = "\N{NO-BREAK SPACE}"


def is_ascii(out: IO[str]) -> bool:
    """Whether `out` gets ASCII only: not a terminal, or a locale without UTF-8 (LC_ALL=C)."""
    locale = next((os.environ[name] for name in LOCALE if os.environ.get(name)), "C")
    return not out.isatty() or "utf" not in locale.lower()


def terminal_width(out: IO[str]) -> int | None:
    """Characters of a line of the terminal; None: `out` is none."""
    return (os.get_terminal_size(out.fileno()).columns or 80) if out.isatty() else None


def wrapped(text: str, out: IO[str]) -> str:
    """Breaks lines that are wider than the terminal `out` between words; other outputs get `text`.

    Continued lines are indented by two more columns than the line."""
    width = terminal_width(out)
    if width is None:
        return text
    return "\n".join(wrap_line(line, width) for line in text.split("\n"))


def print_wrapped(text: str, out: IO[str] | None = None) -> None:
    """Prints text to standard output, or to `out`, with lines as wide as a terminal."""
    out = out or sys.stdout
    print(wrapped(text, out), file=out, flush=True)


def wrap_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())] + "  "
    if len(line) <= width or len(indent) >= width // 2:
        return line
    filled = textwrap.fill(
        UNIT.sub(UNBROKEN, line),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return filled.replace(UNBROKEN, " ")
