# SPDX-License-Identifier: BSD-3-Clause
"""Composes a screen of head, body and foot: lines that fit the terminal exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from vcmts.top import group_screen, modem_screen, server_screen, words
from vcmts.top.model import Figures
from vcmts.top.modems import Flow, Modem
from vcmts.top.view import Level, Shown, View

HELP = (
    ("up down k j", "select a row; also page up, page down, home, end"),
    ("enter right", "open: group, its modems, a modem's service flows"),
    ("escape left", "go back"),
    ("s  S", "sort by the next column, by the previous one"),
    ("r", "reverse the order"),
    ("tab", "group: show stages, drops or delays first"),
    ("d", "switch direction, if only one fits"),
    ("p  space", "pause; continue"),
    ("q", "quit"),
    ("", ""),
    ("bps pkt/s", "at the network port, without CRC"),
    ("drop/s", "all reasons; upstream packets, bursts, segments, frames"),
    ("p99", "delay since the last update: downstream in queues, upstream in"),
    ("", "the pipeline (./vcmts control measure.set latency=true)"),
    ("cycles", "TSC cycles per packet, all stages together"),
    (">1 ms", "rounds longer than that: the kernel ran something else"),
    ("~delay", "an estimate: waiting packets / packet rate"),
)
HINTS = {
    Level.SERVER: "enter group  s sort  r reverse",
    Level.GROUP: "tab next  d direction  enter modems  esc back",
    Level.MODEMS: "enter modem  s sort  r reverse  esc back",
    Level.MODEM: "s sort  r reverse  esc back",
}
LOW = 6  # minimum lines of a screen with hints
COLUMNS = {
    Level.SERVER: [column.key for column in server_screen.GROUP_COLUMNS],
    Level.MODEMS: [column.key for column in modem_screen.MODEM_COLUMNS],
    Level.MODEM: [column.key for column in modem_screen.FLOW_COLUMNS],
}


@dataclass(frozen=True)
class Scene:
    """The content. `trouble`: why figures are old, or ""; figures are None before an answer."""

    title: str
    interval: float
    view: View
    trouble: str = ""
    figures: Figures | None = None
    modems: Sequence[Modem] | None = None
    flows: Sequence[Flow] | None = None

    @property
    def modem(self) -> Modem | None:
        return next((one for one in self.modems or () if one.mac == self.view.modem), None)


@dataclass(frozen=True)
class Terminal:
    """The size in characters; `blocks`: the terminal has block characters for bars."""

    width: int
    height: int
    blocks: bool = True


def shown(scene: Scene) -> Shown:
    """The rows and columns of the screen on which keys act."""
    view, rows = scene.view, list[str]()
    if view.level is Level.SERVER and scene.figures is not None:
        rows = [group.id for group in server_screen.by_order(scene.figures, view)]
    elif view.level is Level.MODEMS:
        rows = [modem.mac for modem in modem_screen.modems_by_order(scene.modems or (), view)]
    elif view.level is Level.MODEM:
        rows = [flow.sfid for flow in modem_screen.flows_by_order(scene.flows or (), view)]
    return Shown(rows, COLUMNS.get(view.level, ("",)))


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def head(scene: Scene, width: int) -> Text:
    """The first line. A problem comes first, as a narrow terminal truncates the line."""
    line = Text()
    if scene.trouble:
        line.append(f"{words.printable(scene.trouble)}  ", style="bold red")
    if scene.view.paused:
        line.append("PAUSED  ", style="bold yellow")
    line.append(scene.title, style="bold")
    if scene.figures is not None:
        modems = sum(group.modems or 0 for group in scene.figures.groups)
        line.append(f"  up {words.clock(scene.figures.uptime)}")
        line.append(f"  {plural(len(scene.figures.groups), 'group')}")
        line.append(f"  {modems:,.0f} modems")
    every = f"every {scene.interval:g} s"
    if line.cell_len + len(every) + 2 <= width:
        line.append(" " * (width - line.cell_len - len(every)) + every)
    return line


def foot(scene: Scene) -> Text:
    line = Text("q quit  ? help  ", style="reverse")
    line.append(HINTS[scene.view.level])
    if scene.view.level in COLUMNS:
        sort = scene.view.sort(COLUMNS[scene.view.level][0])
        line.append(f"  by {sort.key}{', reversed' if sort.reverse else ''}")
    return line


def help_lines() -> list[Text]:
    return [Text(f"  {keys:<12} {meaning}") for keys, meaning in HELP]


def body(scene: Scene, terminal: Terminal) -> list[Text]:
    view, figures, size = scene.view, scene.figures, (terminal.width, terminal.height)
    if view.help:
        return help_lines()
    if figures is None:
        return [Text("  waiting for figures", style="dim")]
    if view.level is Level.SERVER:
        return server_screen.lines(figures, view, *size, blocks=terminal.blocks)
    group = figures.group(view.group)
    if group is None:
        text = f"service group {words.printable(view.group)} is not in service (esc: all)"
        return [Text(text, style="bold")]
    if view.level is Level.GROUP:
        return group_screen.lines(group, view, *size, blocks=terminal.blocks)
    if view.level is Level.MODEMS:
        return modem_screen.list_lines(scene.modems, view, *size)
    return modem_screen.lines(scene.modem, scene.flows, view, *size)


def screen(scene: Scene, terminal: Terminal, *, hints: bool = True) -> list[Text]:
    """The lines; with `hints` it fills the terminal and ends with a foot."""
    below = 1 if hints and terminal.height >= LOW else 0
    inner = Terminal(terminal.width, max(0, terminal.height - 1 - below), terminal.blocks)
    inside = body(scene, inner)[: inner.height]
    whole = [head(scene, terminal.width), *inside]
    if hints:
        whole += [Text() for _ in range(inner.height - len(inside))]
    if below:
        whole.append(foot(scene))
    for line in whole:
        line.no_wrap = True
        line.truncate(terminal.width, overflow="crop", pad=hints)
        line.rstrip() if not hints else None
    return whole
