# SPDX-License-Identifier: BSD-3-Clause
"""Splits a line of the shell into words."""

from dataclasses import dataclass

OPENING, CLOSING, QUOTES = "[{", "]}", "\"'"


@dataclass(frozen=True)
class Split:
    words: tuple[str, ...]  # with their quotes, which YAML removes from values
    last: str  # the word at the end, without white space behind it; "": none
    is_open: bool  # a quote or bracket is not closed yet


def split(line: str) -> Split:
    """Splits at white space outside of quotes and brackets. `#` before a word begins a comment."""
    words, word, quote, depth = [], "", "", 0
    for letter in line:
        if not quote and not depth and (letter.isspace() or (letter == "#" and not word)):
            words += [word] if word else []
            word = ""
            if letter == "#":
                break
            continue
        word += letter
        if quote:
            quote = "" if letter == quote else quote
        elif letter in QUOTES:
            quote = letter
        else:
            depth += (letter in OPENING) - (letter in CLOSING)
    words += [word] if word else []
    return Split(tuple(words), word, bool(quote) or depth > 0)
