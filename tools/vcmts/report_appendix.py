# SPDX-License-Identifier: BSD-3-Clause
"""The end of a report: the host, the commands, and every raw value."""

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from vcmts.report_document import (
    Block,
    Code,
    Details,
    Download,
    Section,
    Table,
    Text,
    number,
)
from vcmts.report_runs import Run

Json = dict[str, Any]

ROWS = 2000  # of a table of raw values; beyond, the file itself is offered alone


def plain(value: Any) -> str:
    """A value in a cell, nothing rounded."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items())
    return f"{value}"


def flags(value: Any) -> str:
    """Instruction sets: those that are there, and those that are not."""
    if not isinstance(value, dict):
        return plain(value)
    there = [name for name, present in value.items() if present is True]
    absent = [name for name, present in value.items() if present is not True]
    return ", ".join(there) + (f"; not there: {', '.join(absent)}" if absent else "")


def host_rows(host: Json) -> Iterator[tuple[str, str]]:
    """A fact a row; those of one kind are named by it."""
    for key, value in host.items():
        name = key.replace("_", " ")
        if key in ("tsc_hz", "core_hz") and isinstance(value, int | float):
            word = "TSC (reference) clock" if key == "tsc_hz" else "core clock, measured"
            yield word, f"{value / 1e9:.3f} GHz"
        elif key == "isa":
            yield "instruction sets", flags(value)
        elif key == "caches" and isinstance(value, list):
            for cache in value:
                kind = f"cache, level {cache.get('level')}, {cache.get('type')}"
                yield kind, f"{cache.get('size')}, of {cache.get('cpus')} CPUs"
        elif isinstance(value, dict):
            for inner, text in value.items():
                yield f"{name}: {inner.replace('_', ' ')}", plain(text)
        else:
            yield name, plain(value)


def host(runs: Sequence[Run]) -> Section:
    """A table, a column a host; runs of one host share it."""
    out = Section("Host")
    volatile = ("load_average", "memory", "core_hz", "tsc_hz", "huge_pages")
    columns: list[tuple[list[str], dict[str, str], Json]] = []
    for run in runs:
        lasting = {key: value for key, value in run.host.items() if key not in volatile}
        same = next((column for column in columns if column[2] == lasting), None)
        if same is None:
            columns.append(([run.title], dict(host_rows(run.host)), lasting))
        else:
            same[0].append(run.title)
    names = list(dict.fromkeys(name for _, facts, _ in columns for name in facts))
    head = ["fact", *(", ".join(titles) for titles, _, _ in columns)]
    rows = [[name, *(facts.get(name, "-") for _, facts, _ in columns)] for name in names]
    if len(columns) == 1:
        head[1] = "found"
    out.blocks.append(Table("", head, rows))
    if not any("kernel" in run.host for run in runs):
        out.blocks.append(Text("The files tell no more of the host than this."))
    return out


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
                "whole" if file["complete"] else "interrupted",
                f"`{shlex.join(file['command'])}`",
            )
        )
    out.blocks.append(Table("", ("run", "started", "took", "", "command"), rows))
    return out


def flat(value: Json, before: str = "") -> Iterator[tuple[str, Any]]:
    """The scalars and the lists of scalars of a result, by their path."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from flat(inner, f"{before}{key}.")
        elif not isinstance(inner, list) or not any(isinstance(i, dict | list) for i in inner):
            yield f"{before}{key}", inner


def deep(value: Json, before: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The lists of lists and of objects: trials, histograms."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from deep(inner, f"{before}{key}.")
        elif isinstance(inner, list) and any(isinstance(i, dict | list) for i in inner):
            yield f"{before}{key}", inner


def columns(rows: Sequence[Json]) -> Table:
    found = [dict(flat(row)) for row in rows]
    head = list(dict.fromkeys(key for row in found for key in row))
    cells = [[plain(row.get(key)) for key in head] for row in found]
    return Table("", head or ["nothing"], cells)


def listed(name: str, items: list[Any]) -> Block:
    if isinstance(items[0], dict):
        return Details(f"{name}: {len(items)}", [columns(items[:ROWS])])
    text = "\n".join(plain(item) for item in items[:ROWS])
    more = f"\n... and {len(items) - ROWS} more, in the file" if len(items) > ROWS else ""
    return Details(f"{name}: {len(items)}", [Code(text + more)])


def title_of(result: Json) -> str:
    keys = ("direction", "mix", "point", "case", "what", "value", "load", "threads")
    return ", ".join(str(result[key]) for key in keys if key in result)


def raw(runs: Sequence[Run]) -> Section:
    out = Section("Raw values")
    out.blocks.append(
        Text("Everything that was measured, unrounded. `report.json` holds the files whole.")
    )
    for run in runs:
        blocks: list[Block] = [columns(run.results[:ROWS])] if run.results else []
        for result in run.results:
            inner = [listed(name, items) for name, items in deep(result)]
            if inner:
                blocks.append(Details(title_of(result), inner))
        data = json.dumps(run.file, indent=1).encode()
        words = "as it was stored"
        blocks.append(Download(run.name.replace("/", "-"), data, "application/json", words))
        out.blocks.append(Details(f"{run.title}: {run.kind}, {len(run.results)} results", blocks))
    return out
