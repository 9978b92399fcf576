# SPDX-License-Identifier: BSD-3-Clause
"""Formats the results of `vcmts bench power` as tables."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console

from vcmts.console import figures_table, print_line
from vcmts.jsons import Json
from vcmts.report.document import number

DISTURBED = "!"
HEAD = 9  # characters per line of a column title, unless a word is longer


@dataclass(frozen=True)
class TableData:
    """A table: title, column titles, rows."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def select(file: Json, what: str) -> list[Json]:
    return [one for one in file["results"] if one["what"] == what]


def mark(*results: Json) -> str:
    return DISTURBED if any(one.get("disturbed") for one in results) else ""


def percent(share: float) -> str:
    return f"{share:.0%}"


def governor(one: Json) -> str:
    if one["policy"] == "none":
        return "none"
    return one["policy"] if one["queues"] else f"{one['policy']}, busy share only"


def steps(file: Json) -> TableData:
    rows = [
        (
            one["idle"],
            governor(one),
            percent(one["load"]),
            f"{one['steps']:,}",
            f"{one['value']:,.1f}",
            "-" if one.get("jumps_a_step") is None else f"{one['jumps_a_step']:.2f}",
            f"{one['repeated']:,}",
            f"{one['repeated_lost']:,}" if "repeated_lost" in one else "-",
            mark(one),
        )
        for one in select(file, "steps")
    ]
    head = ("pauses", "governor", "to", "steps", "lost per 1,000", "jumps per step", "repeated")
    return TableData(
        "steps from idle, lost packets of both directions",
        (*head, "lost, repeated", ""),
        rows,
    )


def latency(file: Json) -> TableData:
    """The table of latencies, with mean and 99.9 % side by side."""
    rows = []
    for mean in select(file, "latency.mean"):
        where = {key: mean[key] for key in ("idle", "load", "direction")}
        [high] = [one for one in select(file, "latency.p99_9") if where.items() <= one.items()]
        cells = [mean["idle"], percent(mean["load"]), mean["direction"]]
        for one in (mean, high):
            polled = sorted(pair[0] for pair in one["pairs"])[len(one["pairs"]) // 2]
            cells += [f"{polled:,.1f}", f"{one['value']:+,.1f}"]
        rows.append((*cells, mark(mean)))
    head = ("pauses", "load", "direction", "mean, polling", "pauses", "99.9 %, polling", "pauses")
    return TableData(
        "latency end to end, us: with polling, and the difference by pauses", (*head, ""), rows
    )


def cost(file: Json) -> TableData:
    rows = [
        (
            one["idle"],
            f"{one['value']:.4f}",
            f"{one['min']:.4f} to {one['max']:.4f}",
            number(sorted(pair[0] for pair in one["pairs"])[len(one["pairs"]) // 2]),
            mark(one),
        )
        for one in select(file, "cost")
    ]
    head = ("pauses", "over polling", "range", "cycles per packet, polling", "")
    return TableData("reference cycles per packet at full load", head, rows)


def idle(file: Json) -> TableData:
    rows = []
    shares = {
        what: {one["idle"]: f"{one['value']:.1%}" for one in select(file, what)}
        for what in ("paused", "cpu")
    }
    for kind in {**shares["cpu"], **shares["paused"]}:
        rows.append((kind, shares["paused"].get(kind, "-"), shares["cpu"].get(kind, "-")))
    head = ("pauses", "paused, max. 1 us", "vcmtsd, of a core")
    return TableData("without packets", head, rows)


def first(file: Json) -> TableData:
    rows = []
    for one in select(file, "first.p50"):
        where = {key: one[key] for key in ("idle", "apart_seconds")}
        more = [r for what in ("first.p99", "first.max") for r in select(file, what)]
        quantiles = [one, *(r for r in more if where.items() <= r.items())]
        cells = [f"{r['value']:,.0f}" for r in quantiles]
        rows.append((one["idle"], f"{one['apart_seconds']:g} s", *cells, mark(*quantiles)))
    head = ("pauses", "after", "50 %", "99 %", "max", "")
    return TableData("first packet after an idle time, end to end, us", head, rows)


def tables(file: Json) -> Iterator[TableData]:
    """Yields the tables that have rows."""
    return (table for make in (steps, latency, cost, idle, first) if (table := make(file)).rows)


def show(file: Json, console: Console) -> None:
    gbps = file.get("zero_loss_gbps", {})
    rate = " + ".join(f"{rate:.2f} {way}" for way, rate in gbps.items())
    text = f"power, {file['configuration']}: without loss {rate} Gbps, wires of {file['ring']}"
    text += f" packets, clocks {file['driver']}"
    print_line(console, text)
    marked = False
    for table in tables(file):
        heads = [textwrap.fill(name, HEAD, break_long_words=False) for name in table.head]
        console.print(figures_table(heads, table.rows, table.title, ("pauses",), no_wrap=True))
        marked = marked or any(row[-1] == DISTURBED for row in table.rows)
    if marked:
        console.print(f"{DISTURBED} a thread lost its core in some trials", highlight=False)
