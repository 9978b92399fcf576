# SPDX-License-Identifier: BSD-3-Clause
"""Formats answers of the control socket as plain-text tables."""

from collections.abc import Iterator
from typing import Any

from vcmts.jsons import Json
from vcmts.terminal import wrap_line


def is_plain(value: Any) -> bool:
    """Whether the value fits one cell: a scalar or a list of scalars."""
    if isinstance(value, list):
        return all(not isinstance(one, dict | list) for one in value)
    return not isinstance(value, dict)


def cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(cell, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def is_counters(value: Any) -> bool:
    """Whether the value is a map of numbers, such as counters."""
    return isinstance(value, dict) and all(type(one) is int for one in value.values())


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Aligns the cells of rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def rows_table(rows: list[Json], width: int | None) -> Iterator[str]:
    """A line per row, or a block of lines per row if a line is wider than `width`."""
    keys = list(dict.fromkeys(key for row in rows for key in row if is_plain(row[key])))
    if not keys:
        return
    lines = list(aligned([keys, *([cell(row.get(key, "-")) for key in keys] for row in rows)]))
    if width is None or max(map(len, lines)) <= width:
        yield from lines
        return
    for number, row in enumerate(rows):
        yield from [""] if number else []
        yield from named_table({key: row[key] for key in keys if key in row})


def named_table(values: Json) -> Iterator[str]:
    yield from aligned([[name, cell(value)] for name, value in values.items()])


def with_title(title: str, lines: Iterator[str]) -> Iterator[str]:
    inside = list(lines)
    if inside:
        yield from ("", f"{title}:", *(f"  {line}" for line in inside))


def nested_lines(key: str, value: Any, width: int | None) -> Iterator[str]:
    """Tables of a nested value, each with its path as title."""
    if is_counters(value):
        above = {name: number for name, number in value.items() if number}
        yield from with_title(f"{key}, those above 0", named_table(above))
    elif isinstance(value, dict):
        yield from with_title(key, named_table({k: v for k, v in value.items() if is_plain(v)}))
        for name, one in value.items():
            yield from () if is_plain(one) else nested_lines(f"{key} {name}", one, width)
    else:
        yield from with_title(key, rows_table(value, None if width is None else width - 2))
        for number, row in enumerate(value):
            for name, one in row.items():
                yield from (
                    ()
                    if is_plain(one)
                    else nested_lines(f"{key} {row.get('id', number)} {name}", one, width)
                )


def answer_lines(answer: Json, width: int | None = None) -> Iterator[str]:
    """Formats an answer: scalars first, then nested values. Tables are at most `width` columns
    wide, if their items allow it; None: any width."""
    yield from named_table({key: value for key, value in answer.items() if is_plain(value)})
    for key, value in answer.items():
        yield from () if is_plain(value) else nested_lines(key, value, width)


def usage(params: list[Json]) -> str:
    """The parameters of a method, optional ones in brackets."""
    return " ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in params)


def method_lines(described: Json, width: int | None = None) -> Iterator[str]:
    """A line per method; at most `width` characters wide with each summary below its method."""
    if width is not None:
        for m in described["methods"]:
            yield wrap_line(f"{m['name']} {usage(m['params'])}".rstrip(), width)
            yield wrap_line(f"    {m['summary']}", width)
        return
    rows = [[m["name"], usage(m["params"]), m["summary"]] for m in described["methods"]]
    yield from aligned([["method", "parameters", "does"], *rows])
