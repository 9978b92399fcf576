# SPDX-License-Identifier: BSD-3-Clause
"""Answers of the control socket as plain tables, whose columns are as wide as they must be."""

from collections.abc import Iterator
from typing import Any

from vcmts.jsons import Json


def plain(value: Any) -> bool:
    """Whether it goes into one cell."""
    if isinstance(value, list):
        return all(not isinstance(one, dict | list) for one in value)
    return not isinstance(value, dict)


def cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(cell, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def counted(value: Any) -> bool:
    """Numbers by name, of which most are 0."""
    return isinstance(value, dict) and all(type(one) is int for one in value.values())


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Cells in columns; there is a cell for each column in every row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def rows_table(rows: list[Json]) -> Iterator[str]:
    keys = list(dict.fromkeys(key for row in rows for key in row if plain(row[key])))
    if keys:
        yield from aligned([keys, *([cell(row.get(key, "-")) for key in keys] for row in rows)])


def named_table(values: Json) -> Iterator[str]:
    yield from aligned([[name, cell(value)] for name, value in values.items()])


def titled(title: str, lines: Iterator[str]) -> Iterator[str]:
    inside = list(lines)
    if inside:
        yield from ("", f"{title}:", *(f"  {line}" for line in inside))


def inner(key: str, value: Any) -> Iterator[str]:
    """What has a title of its own: its path."""
    if counted(value):
        above = {name: number for name, number in value.items() if number}
        yield from titled(f"{key}, those above 0", named_table(above))
    elif isinstance(value, dict):
        yield from titled(key, named_table({k: v for k, v in value.items() if plain(v)}))
        for name, one in value.items():
            yield from () if plain(one) else inner(f"{key} {name}", one)
    else:
        yield from titled(key, rows_table(value))
        for number, row in enumerate(value):
            for name, one in row.items():
                yield from () if plain(one) else inner(f"{key} {row.get('id', number)} {name}", one)


def answer_lines(answer: Json) -> Iterator[str]:
    """Plain values first, then what is inside of it."""
    yield from named_table({key: value for key, value in answer.items() if plain(value)})
    for key, value in answer.items():
        yield from () if plain(value) else inner(key, value)


def usage(params: list[Json]) -> str:
    """The keys of a method, those that may be left out in brackets."""
    return " ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in params)


def method_lines(described: Json) -> Iterator[str]:
    """A line each."""
    rows = [[m["name"], usage(m["params"]), m["summary"]] for m in described["methods"]]
    yield from aligned([["method", "parameters", "does"], *rows])
