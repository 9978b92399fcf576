# SPDX-License-Identifier: BSD-3-Clause
"""Hides modem keys in messages: text that may be a key is replaced by its length.

vcmtsd has the same rule in src/platform/secret/secret_text.c.
"""

import string
from collections.abc import Iterator

import yaml

SHORTEST = 16  # characters of a DES key
MAX_NON_HEX = 2  # non-hexadecimal characters in any SHORTEST ones: a mistyped key has some
DIGITS = frozenset(string.hexdigits)
DELIMITERS = frozenset(string.whitespace + "\"'=:,;()[]{}")


def possible_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yields begin and end of each part of the text that may be a key."""
    non_hex = begin = end = 0
    for at, letter in enumerate(text):
        non_hex += letter not in DIGITS
        if at >= SHORTEST:
            non_hex -= text[at - SHORTEST] not in DIGITS
        first = at + 1 - SHORTEST
        if first < 0 or non_hex > MAX_NON_HEX:
            continue
        if first > end and end:
            yield begin, end
            end = 0
        if not end:
            begin = first
        end = at + 1
    if end:
        yield begin, end


def hide_keys(text: str) -> str:
    """Returns the text with possible keys replaced by their length."""
    parts, at = [], 0
    for begin, end in possible_keys(text):
        edge = MAX_NON_HEX + 1  # characters at either end that may belong to an adjacent word
        begin += max((i + 1 for i in range(edge) if text[begin + i] in DELIMITERS), default=0)
        end -= max((i + 1 for i in range(edge) if text[end - 1 - i] in DELIMITERS), default=0)
        parts += [text[at:begin], f"({end - begin} characters, not shown)"]
        at = end
    return "".join([*parts, text[at:]])


def yaml_error_text(error: yaml.YAMLError) -> str:
    """A YAML error with line and column, without quoted text, which may be a key."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return "characters that YAML does not allow"
    mark = error.problem_mark or error.context_mark
    why = (error.problem or error.context or "no YAML").partition("'")[0].strip()
    return f"{why} at line {mark.line + 1}, column {mark.column + 1}" if mark else why
