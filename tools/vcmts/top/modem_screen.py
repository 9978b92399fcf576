# SPDX-License-Identifier: BSD-3-Clause
"""The screens of a service group's modems, and of one modem with its downstream service flows."""

from collections.abc import Sequence

from rich.text import Text

from vcmts.top import words
from vcmts.top.model import number_or_text
from vcmts.top.modems import Flow, Modem
from vcmts.top.server_screen import drop_lines, drop_style
from vcmts.top.table import Column, ordered, table
from vcmts.top.view import View, row_index

NOTHING_YET = "  no answer yet"
MODEM_COLUMNS: list[Column[Modem]] = [
    Column("modem", "modem", 17, 0, lambda m: m.mac, lambda m: m.mac, left=True),
    Column("bps", "bps", 5, 1, lambda m: words.short(m.bits), lambda m: m.bits),
    Column("pkt/s", "pkt/s", 5, 3, lambda m: words.short(m.packets), lambda m: m.packets),
    Column(
        *("drop/s", "drop/s", 6, 2, lambda m: words.short(m.dropped), lambda m: m.dropped),
        style=lambda m: drop_style(m.dropped),
    ),
    Column("waiting", "waiting", 7, 4, lambda m: words.short(m.waiting), lambda m: m.waiting),
    Column("active", "active", 6, 5, lambda m: words.integer(m.active), lambda m: m.active),
]


def limit_text(flow: Flow) -> str:
    return "any" if flow.limit == 0 else words.short(flow.limit)


FLOW_COLUMNS: list[Column[Flow]] = [
    Column("SFID", "SFID", 7, 0, lambda f: f.sfid, lambda f: number_or_text(f.sfid)),
    Column("bps", "bps", 5, 1, lambda f: words.short(f.bits), lambda f: f.bits),
    Column("limit", "limit", 5, 3, limit_text, lambda f: f.limit),
    Column("pkt/s", "pkt/s", 5, 4, lambda f: words.short(f.packets), lambda f: f.packets),
    Column(
        *("drop/s", "drop/s", 6, 2, lambda f: words.short(f.dropped), lambda f: f.dropped),
        style=lambda f: drop_style(f.dropped),
    ),
    Column("waiting", "waiting", 7, 5, lambda f: words.short(f.waiting), lambda f: f.waiting),
    Column(
        *("bytes", "bytes", 5, 7, lambda f: words.short(f.waiting_bytes)),
        lambda f: f.waiting_bytes,
    ),
    Column("delay", "~delay", 6, 6, lambda f: words.duration(f.delay), lambda f: f.delay),
    Column("PIE", "PIE", 6, 8, lambda f: words.share(f.probability), lambda f: f.probability),
]


def modems_by_order(modems: Sequence[Modem], view: View) -> list[Modem]:
    sort = view.sort(MODEM_COLUMNS[0].key)
    return ordered(modems, MODEM_COLUMNS, sort.key, reverse=sort.reverse)


def flows_by_order(flows: Sequence[Flow], view: View) -> list[Flow]:
    sort = view.sort(FLOW_COLUMNS[0].key)
    return ordered(flows, FLOW_COLUMNS, sort.key, reverse=sort.reverse)


def list_lines(modems: Sequence[Modem] | None, view: View, width: int, height: int) -> list[Text]:
    """The lines of the screen with all modems; None: there is no answer yet."""
    title = Text(f"modems of service group {view.group}", style="bold")
    if modems is None:
        return [title, Text(NOTHING_YET, style="dim")]
    rows = modems_by_order(modems, view)
    title.append(f"  {len(rows):,}, downstream", style="not bold")
    index = row_index(view, [modem.mac for modem in rows])
    head = [title] if height >= 4 else []
    sort = view.sort(MODEM_COLUMNS[0].key).key
    size = (width, height - len(head))
    return [*head, *table(rows, MODEM_COLUMNS, size=size, sort=sort, chosen=index)]


def modem_line(modem: Modem | None, view: View) -> Text:
    line = Text(f"modem {words.printable(view.modem)}", style="bold")
    if modem is None:
        return line
    text = f"  {words.bits(modem.bits)} {words.per_second(modem.packets)}, dropped "
    line.append(text, style="not bold")
    line.append(words.per_second(modem.dropped), style=drop_style(modem.dropped) or "not bold")
    return line.append(f", {words.integer(modem.active)} active addresses", style="not bold")


def lines(
    modem: Modem | None, flows: Sequence[Flow] | None, view: View, width: int, height: int
) -> list[Text]:
    """The lines of the screen of one modem: its service flows, and its drops."""
    head = [modem_line(modem, view)] if height >= 4 else []
    if flows is None:
        return [*head, Text(NOTHING_YET, style="dim")]
    if not flows:
        return [*head, Text("  the modem has no service flow, or does not exist", style="dim")]
    rows = flows_by_order(flows, view)
    index = row_index(view, [flow.sfid for flow in rows])
    dropped = modem.drops if modem is not None else ()
    below = min(len(dropped) + 2, height // 3) if dropped and height > 8 else 0
    sort = view.sort(FLOW_COLUMNS[0].key).key
    size = (width, height - len(head) - below)
    whole = [*head, *table(rows, FLOW_COLUMNS, size=size, sort=sort, chosen=index)]
    if below:
        whole += [Text(), *drop_lines("dropped", dropped, below - 1)]
    return whole
