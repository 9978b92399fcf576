# SPDX-License-Identifier: BSD-3-Clause
"""The screen of a server: its service groups, polling threads and ports."""

from collections.abc import Callable, Sequence

from rich.text import Text

from vcmts.top import words
from vcmts.top.model import Direction, Drop, Figures, Group, Worker, number_or_text
from vcmts.top.table import Column, ordered, table
from vcmts.top.view import View, row_index

Value = Callable[[Group], float | None]
Words = Callable[[float | None], str]

NARROW = 60  # columns below which bars are short
SHORT = {"downstream": "down", "upstream": "up"}
DROPPING, BUSY = "bold red", 0.9


def value_of(
    group: Group, direction: str, what: Callable[[Direction], float | None]
) -> float | None:
    part = group.directions.get(direction)
    return None if part is None else what(part)


def drop_style(rate: float | None) -> str:
    return DROPPING if rate else ""


def direction_columns(direction: str, first: int) -> list[Column[Group]]:
    """The columns of a direction. `first`: the `need` of the most important one, the rate."""
    down = direction == "downstream"

    def network(group: Group, which: int) -> float | None:
        return value_of(group, direction, lambda part: part.network(direction)[which])

    def drops(group: Group) -> float | None:
        return value_of(group, direction, lambda part: part.dropped)

    def delay(group: Group) -> float | None:
        return (
            group.delay.p99 if down else value_of(group, direction, lambda part: part.latency.p99)
        )

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
        column("p99", 6, 8 if down else 30, delay, words.duration),
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


def worker_line(worker: Worker, width: int, *, blocks: bool) -> Text:
    """Core, busy and paused share, and long rounds of a worker; then what it runs."""
    bar_width = max(4, width // 4 if width < NARROW else width // 3 - 6)
    style = "yellow" if (worker.busy or 0) > BUSY else "green"
    line = Text(f"  {worker.core:>4} ").append(
        words.bar(worker.busy, bar_width, blocks=blocks), style=style
    )
    line.append(f" {words.share(worker.busy):>6} {words.share(worker.paused):>6}")
    line.append(f" {words.integer(worker.descheduled):>6} {words.duration(worker.longest):>7}")
    return line.append(f"  {words.printable(worker.runs or worker.name)}")


def worker_lines(workers: Sequence[Worker], width: int, height: int, *, blocks: bool) -> list[Text]:
    if height < 2:
        return []
    bar_width = max(4, width // 4 if width < NARROW else width // 3 - 6)
    title = Text(f"  core {'busy':<{bar_width}}        paused   away longest  runs", style="bold")
    visible = list(workers[: height - 1])
    lines = [worker_line(worker, width, blocks=blocks) for worker in visible]
    if len(visible) < len(workers):
        lines[-1] = Text(f"  and {len(workers) - len(visible) + 1} more", style="dim")
    return [title, *lines]


def drop_line(drop: Drop) -> Text:
    line = Text(f"  {words.printable(drop.reason):<32} {words.short(drop.total):>6} ")
    return line.append(f"{words.per_second(drop.rate):>7}", style=drop_style(drop.rate))


def port_lines(drops: Sequence[Drop], height: int) -> list[Text]:
    if not drops or height < 2:
        return []
    return [Text("  lost at ports", style="bold"), *map(drop_line, drops[: height - 1])]


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
        port_lines(figures.port_drops, ports - 1),
    ):
        whole += [Text(), *part] if part else []
    return whole
