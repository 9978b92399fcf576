# SPDX-License-Identifier: BSD-3-Clause
"""The last sections of a report: the commands of the measurements, and all raw values."""

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report.document import (
    Block,
    Code,
    Details,
    Download,
    Section,
    Table,
    Text,
    number,
    plain,
)
from vcmts.report.runs import Run

ROWS = 2000  # maximum of a table of raw values; the attached file has all


def commands(runs: Sequence[Run]) -> Section:
    out = Section("Commands")
    rows = []
    for run in runs:
        file = run.file
        seconds = file.get("seconds")
        rows.append(
            (
                run.title,
                file["started"],
                f"{number(seconds)} s" if seconds is not None else "-",
                "complete" if file["complete"] else "interrupted",
                f"`{shlex.join(file['command'])}`",
            )
        )
    out.blocks.append(Table("", ("run", "started", "took", "", "command"), rows))
    return out


def flat_values(value: Json, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the scalars and lists of scalars of a result, with their paths."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from flat_values(inner, f"{before}{key}.")
        elif not isinstance(inner, list) or not any(isinstance(i, dict | list) for i in inner):
            yield f"{before}{key}", inner


def nested_lists(value: Json, before: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yields the lists of lists or objects of a result, with their paths: trials, histograms."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from nested_lists(inner, f"{before}{key}.")
        elif isinstance(inner, list) and any(isinstance(i, dict | list) for i in inner):
            yield f"{before}{key}", inner


def value_table(rows: Sequence[Json]) -> Table:
    """A table of the scalars of objects: one row per object, one column per key."""
    found = [dict(flat_values(row)) for row in rows]
    head = list(dict.fromkeys(key for row in found for key in row))
    cells = [[plain(row.get(key)) for key in head] for row in found]
    return Table("", head or ["nothing"], cells)


def list_details(name: str, items: list[Any]) -> Block:
    if isinstance(items[0], dict):
        return Details(f"{name}: {len(items)}", [value_table(items[:ROWS])])
    text = "\n".join(plain(item) for item in items[:ROWS])
    more = f"\n... and {len(items) - ROWS} more, in the file" if len(items) > ROWS else ""
    return Details(f"{name}: {len(items)}", [Code(text + more)])


def title_of(result: Json) -> str:
    keys = ("direction", "mix", "point", "case", "what", "value", "load", "threads")
    return ", ".join(dict.fromkeys(str(result[key]) for key in keys if key in result))


def raw(runs: Sequence[Run]) -> Section:
    out = Section("Raw values")
    out.blocks.append(
        Text("All measured values, not rounded. `report.json` contains the complete files.")
    )
    for run in runs:
        blocks: list[Block] = [value_table(run.results[:ROWS])] if run.results else []
        for result in run.results:
            inner = [list_details(name, items) for name, items in nested_lists(result)]
            if inner:
                blocks.append(Details(title_of(result), inner))
        data = json.dumps(run.file, indent=1).encode()
        words = "as it was stored"
        blocks.append(Download(run.name.replace("/", "-"), data, "application/json", words))
        out.blocks.append(Details(f"{run.title}: {run.kind}, {len(run.results)} results", blocks))
    return out
