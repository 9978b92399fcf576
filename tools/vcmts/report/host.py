# SPDX-License-Identifier: BSD-3-Clause
"""The section of a report on the host: one table with a column per measured host."""

from collections.abc import Iterator, Sequence
from typing import Any

from vcmts.jsons import Json
from vcmts.report.document import Section, Table, Text, plain
from vcmts.report.runs import Run
from vcmts.system.files import NOT_KNOWN

CLOCKS = {"tsc_hz": "TSC (reference) clock", "core_hz": "core clock, measured"}
NAMES = {
    "cpu": "processor",
    "cpus": "CPUs",
    "smt": "SMT",
    "numa_nodes": "NUMA nodes",
    "huge_pages": "measured on huge pages",
}
FIRST = ("cpu", "tsc_hz", "core_hz", "huge_pages")
# Facts that differ between runs on one host.
VOLATILE = ("memory", "core_hz", "tsc_hz", "huge_pages")
KB_PER_GIB = 1 << 20


def flags(value: Any) -> str:
    """The instruction sets of the CPU, and the missing ones."""
    if not isinstance(value, dict):
        return plain(value)
    available = [name for name, present in value.items() if present is True]
    absent = [name for name, present in value.items() if present is not True]
    return ", ".join(available) + (f"; missing: {', '.join(absent)}" if absent else "")


def cache(one: Json) -> tuple[str, str]:
    shared = one.get("cpus")
    words = f", shared by {shared} CPUs" if isinstance(shared, int) and shared > 1 else ""
    return f"cache, level {one.get('level')}, {one.get('type')}", f"{one.get('size')}{words}"


def group_facts(name: str, group: Json) -> Iterator[tuple[str, str]]:
    """Yields a row per known fact of a group, and one row for all unknown facts."""
    unknown = [key.replace("_", " ") for key, value in group.items() if value == NOT_KNOWN]
    for key, value in group.items():
        title = f"{name}: {key.replace('_', ' ')}"
        if value == NOT_KNOWN:
            continue
        if key.endswith("_kb") and isinstance(value, int):
            yield title.removesuffix(" kb"), f"{value / KB_PER_GIB:.1f} GiB"
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield title, "; ".join(plain(item) for item in value)
        else:
            yield title, plain(value)
    if unknown:
        yield f"{name}: unknown", ", ".join(unknown)


def rows(host: Json) -> Iterator[tuple[str, str]]:
    ordered = {key: host[key] for key in (*FIRST, *host) if key in host}
    for key, value in ordered.items():
        if key in CLOCKS and isinstance(value, int | float):
            yield CLOCKS[key], f"{value / 1e9:.3f} GHz"
        elif key == "isa":
            yield "instruction sets", flags(value)
        elif key == "caches" and isinstance(value, list):
            yield from (cache(one) for one in value)
        elif isinstance(value, dict):
            yield from group_facts(key.replace("_", " "), value)
        else:
            yield NAMES.get(key, key.replace("_", " ")), plain(value)


def section(runs: Sequence[Run]) -> Section:
    """The section; runs on the same host share a column."""
    out = Section("Host")
    columns: list[tuple[list[str], dict[str, str], Json]] = []
    for run in runs:
        lasting = {key: value for key, value in run.host.items() if key not in VOLATILE}
        same = next((column for column in columns if column[2] == lasting), None)
        if same is None:
            columns.append(([run.title], dict(rows(run.host)), lasting))
        else:
            same[0].append(run.title)
    names = list(dict.fromkeys(name for _, facts, _ in columns for name in facts))
    head = ["fact", *(", ".join(titles) for titles, _, _ in columns)]
    cells = [[name, *(facts.get(name, "-") for _, facts, _ in columns)] for name in names]
    if len(columns) == 1:
        head[1] = "found"
    out.blocks.append(Table("", head, cells))
    if not any("kernel" in run.host for run in runs):
        out.blocks.append(Text("The files have no more facts of the host."))
    return out
