# SPDX-License-Identifier: BSD-3-Clause
"""The state of the view, and how each key changes it. Independent of the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum


class Level(Enum):
    SERVER = "server"
    GROUP = "group"
    MODEMS = "modems"
    MODEM = "modem"


UPWARDS = {Level.GROUP: Level.SERVER, Level.MODEMS: Level.GROUP, Level.MODEM: Level.MODEMS}
SECTIONS = 3  # of a service group: stages, drops, queues
LISTS = (Level.SERVER, Level.MODEMS, Level.MODEM)  # with a selected row and a sort order


@dataclass(frozen=True)
class Sort:
    key: str
    reverse: bool = False


@dataclass(frozen=True)
class View:
    """The state of the view. `chosen`: the name of the selected row per list."""

    level: Level = Level.SERVER
    chosen: Mapping[Level, str] = field(default_factory=dict)
    sorts: Mapping[Level, Sort] = field(default_factory=dict)
    section: int = 0
    direction: int = 0  # 0 or 1, the one to show if only one fits
    scroll: int = 0
    paused: bool = False
    help: bool = False
    marks: bool = True  # mark the selected row
    quit: bool = False

    @property
    def group(self) -> str:
        return self.chosen.get(Level.SERVER, "")

    @property
    def modem(self) -> str:
        return self.chosen.get(Level.MODEMS, "")

    def sort(self, first: str) -> Sort:
        return self.sorts.get(self.level, Sort(first))


@dataclass(frozen=True)
class Shown:
    """The names of the rows and columns on the screen, in their order."""

    rows: Sequence[str] = ()
    columns: Sequence[str] = ("",)


def row_index(view: View, rows: Sequence[str]) -> int:
    """The index of the selected row; 0 if there is none or it was removed."""
    name = view.chosen.get(view.level, "")
    return rows.index(name) if name in rows else 0


def choose(view: View, name: str) -> View:
    return replace(view, chosen={**view.chosen, view.level: name})


def move(view: View, shown: Shown, by: int) -> View:
    if view.level not in LISTS:
        return replace(view, scroll=max(0, view.scroll + by))
    if not shown.rows:
        return view
    index = max(0, min(len(shown.rows) - 1, row_index(view, shown.rows) + by))
    return choose(view, shown.rows[index])


def enter(view: View, shown: Shown) -> View:
    below = {Level.SERVER: Level.GROUP, Level.GROUP: Level.MODEMS, Level.MODEMS: Level.MODEM}
    if view.level not in below:
        return view
    if view.level in LISTS:
        if not shown.rows:
            return view
        view = choose(view, shown.rows[row_index(view, shown.rows)])
    return replace(view, level=below[view.level], scroll=0)


def leave(view: View) -> View:
    if view.help:
        return replace(view, help=False)
    return replace(view, level=UPWARDS.get(view.level, view.level), scroll=0)


def next_sort(view: View, shown: Shown, by: int) -> View:
    key = view.sort(shown.columns[0]).key
    index = shown.columns.index(key) if key in shown.columns else 0
    chosen = Sort(shown.columns[(index + by) % len(shown.columns)])
    return replace(view, sorts={**view.sorts, view.level: chosen})


def reversed_sort(view: View, shown: Shown) -> View:
    sort = view.sort(shown.columns[0])
    return replace(view, sorts={**view.sorts, view.level: replace(sort, reverse=not sort.reverse)})


STEPS = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -10, "page down": 10}
ENDS = {"home": -(10**9), "end": 10**9}


def press_key(view: View, key: str, shown: Shown) -> View:
    """The view after a key; unchanged for an unknown key."""
    if key == "q":
        return replace(view, quit=True)
    if key in ("?", "h"):
        return replace(view, help=not view.help)
    if key in ("escape", "left", "backspace"):
        return leave(view)
    if view.help:
        return replace(view, help=False)
    if key in STEPS or key in ENDS:
        return move(view, shown, STEPS[key] if key in STEPS else ENDS[key])
    if key in ("enter", "right"):
        return enter(view, shown)
    return switch_view(view, key, shown)


def switch_view(view: View, key: str, shown: Shown) -> View:
    """The view after a key that changes order, section, direction or pause."""
    if key in ("s", "S", "r") and view.level in LISTS:
        if key == "r":
            return reversed_sort(view, shown)
        return next_sort(view, shown, 1 if key == "s" else -1)
    if key == "tab":
        return replace(view, section=(view.section + 1) % SECTIONS, scroll=0)
    if key == "d":
        return replace(view, direction=1 - view.direction)
    if key in ("p", " "):
        return replace(view, paused=not view.paused)
    return view
