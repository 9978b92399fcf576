# SPDX-License-Identifier: BSD-3-Clause
"""The screen of a server: its service groups, polling threads and ports."""

import re
from collections.abc import Callable, Sequence

from rich.text import Text

from vcmts.top import words
from vcmts.top.model import Delay, Direction, Drop, Figures, Group, Worker, number_or_text
from vcmts.top.table import Column, ordered, table
from vcmts.top.view import View, row_index

Value = Callable[[Group], float | None]
Words = Callable[[float | None], str]

FIGURES = 38  # columns of a worker's line without its bar and what it runs
SHORTEST = 5  # columns of a bar
SHORT = {"downstream": "down", "upstream": "up"}
REASON = 32  # columns of a drop reason, or more for a longer one
DROPPING, BUSY = "bold red", 0.9


def value_of(
    group: Group, direction: str, what: Callable[[Direction], float | None]
) -> float | None:
    part = group.directions.get(direction)
    return None if part is None else what(part)


def delay_text(delay: Delay) -> str:
    return words.at_most(delay.p99, delay.least)


def drop_style(rate: float | None) -> str:
    return DROPPING if rate else ""


def direction_columns(direction: str, first: int) -> list[Column[Group]]:
    """The columns of a direction. `first`: the `need` of the most important one, the rate."""
    down = direction == "downstream"

    def network(group: Group, which: int) -> float | None:
        return value_of(group, direction, lambda part: part.network(direction)[which])

    def drops(group: Group) -> float | None:
        return value_of(group, direction, lambda part: part.dropped)

    def delay(group: Group) -> Delay:
        part = group.directions.get(direction)
        return group.delay if down or part is None else part.latency

    def cycles(group: Group) -> float | None:
        return value_of(group, direction, lambda part: part.cycles)

    def column(title: str, width: int, need: int, value: Value, text: Words) -> Column[Group]:
        return Column(
            *(f"{SHORT[direction]} {title}", title, width, first + need),
            *(lambda group: text(value(group)), value, direction),
            style=lambda group: drop_style(value(group)) if value is drops else "",
        )

    return [
        column("bps", 5, 0, lambda group: network(group, 0), words.short),
        column("pkt/s", 5, 6, lambda group: network(group, 1), words.short),
        column("drop/s", 6, 2, drops, words.short),
        Column(
            *(f"{SHORT[direction]} p99", "p99", 6, first + (8 if down else 30)),
            *(lambda group: delay_text(delay(group)), lambda group: delay(group).p99, direction),
        ),
        column("cycles", 6, 10, cycles, words.short),
    ]


GROUP_COLUMNS: list[Column[Group]] = [
    Column("id", "id", 3, 0, lambda g: g.id, lambda g: number_or_text(g.id)),
    Column("name", "name", 5, 15, lambda g: g.name, lambda g: g.name, left=True, most=26),
    Column("modems", "modems", 6, 20, lambda g: words.integer(g.modems), lambda g: g.modems),
    *direction_columns("downstream", 1),
    *direction_columns("upstream", 2),
]


def by_order(figures: Figures, view: View) -> list[Group]:
    sort = view.sort(GROUP_COLUMNS[0].key)
    return ordered(figures.groups, GROUP_COLUMNS, sort.key, reverse=sort.reverse)


def sum_text(figures: Figures, direction: str) -> Text:
    moved, packets, dropped = figures.sums[direction]
    text = Text(f"{SHORT[direction]} {words.bits(moved)} {words.per_second(packets)}, dropped ")
    return text.append(words.per_second(dropped), style=drop_style(dropped))


def sum_lines(figures: Figures, width: int) -> list[Text]:
    parts = [sum_text(figures, direction) for direction in SHORT]
    joined = Text("    ").join(parts)
    return [joined] if joined.cell_len <= width else parts


def runs_of(workers: Sequence[Worker], width: int) -> list[str]:
    """What each worker runs; in short form if one has more than `width` characters."""
    whole = [words.printable(worker.runs or worker.name) for worker in workers]
    if max(map(len, whole), default=0) <= width:
        return whole
    return [re.sub(r" of groups? ", " of ", text) for text in whole]


def worker_line(worker: Worker, runs: str, bar_width: int, *, blocks: bool) -> Text:
    """Core, busy and paused share, and long rounds of a worker; then what it runs."""
    style = "yellow" if (worker.busy or 0) > BUSY else "green"
    line = Text(f"  {worker.core:>4} ")
    line.append_text(words.bar(worker.busy, bar_width, style, blocks=blocks))
    line.append(f" {words.share(worker.busy):>6} {words.share(worker.paused):>6}")
    line.append(f" {words.integer(worker.descheduled):>6} {words.duration(worker.longest):>7}")
    return line.append(f"  {runs}")


def worker_lines(workers: Sequence[Worker], width: int, height: int, *, blocks: bool) -> list[Text]:
    if height < 2:
        return []
    runs = runs_of(workers, width - FIGURES - SHORTEST)
    longest = max(map(len, runs), default=0)
    bar_width = max(SHORTEST, min(width // 3 - 6, width - FIGURES - longest))
    left = width - FIGURES - bar_width
    title = Text(f"  core {'busy':<{bar_width}}        paused  >1 ms longest  runs", style="bold")
    visible = list(zip(workers, runs, strict=True))[: height - 1]
    lines = [
        worker_line(worker, words.clip(text, left), bar_width, blocks=blocks)
        for worker, text in visible
    ]
    if len(visible) < len(workers):
        lines[-1] = Text(f"  and {len(workers) - len(visible) + 1} more", style="dim")
    return [title, *lines]


def drop_lines(title: str, drops: Sequence[Drop], height: int) -> list[Text]:
    """A title and the most frequent drops: their total and rate."""
    if not drops or height < 2:
        return []
    shown = [(words.printable(drop.reason), drop) for drop in drops[: height - 1]]
    width = max(REASON, *(len(reason) for reason, _ in shown))
    lines = [Text(f"  {title:<{width}}  total     now", style="bold")]
    for reason, drop in shown:
        line = Text(f"  {reason:<{width}} {words.short(drop.total):>6} ")
        line.append(f"{words.per_second(drop.rate):>7}", style=drop_style(drop.rate))
        lines.append(line)
    return lines


def lines(figures: Figures, view: View, width: int, height: int, *, blocks: bool) -> list[Text]:
    rows = by_order(figures, view)
    index = row_index(view, [group.id for group in rows]) if view.marks else None
    head = sum_lines(figures, width) if height >= 5 else []
    left = height - len(head)
    below = min(len(figures.workers) + 2, left // 2) if left > 7 else 0
    ports = min(len(figures.port_drops) + 2, (left - below) // 3) if left > 11 else 0
    sort = view.sort(GROUP_COLUMNS[0].key).key
    size = (width, left - below - ports)
    groups = table(rows, GROUP_COLUMNS, size=size, sort=sort, chosen=index)
    if not figures.groups:
        groups = [Text("  no service group is in service", style="bold")]
    whole = [*head, *groups]
    for part in (
        worker_lines(figures.workers, width, below - 1, blocks=blocks),
        drop_lines("lost at ports", figures.port_drops, ports - 1),
    ):
        whole += [Text(), *part] if part else []
    return whole
