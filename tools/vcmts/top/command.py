# SPDX-License-Identifier: BSD-3-Clause
"""vcmts top: a data plane in service, live: service groups, stages, drops, queues, cores, modems.

Exit status: 0 when it was ended by a key, 1 when vcmtsd ended or did not answer, 2 for a mistake in
the arguments, or where there is no vcmtsd.
"""

import argparse
import json
import math
import os
import re
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from vcmts.console import WIDTH
from vcmts.control import place
from vcmts.control.client import Client, ClosedError, RefusedError, connected
from vcmts.control.trust import connect_fault
from vcmts.paths import MistakeError, complain
from vcmts.top import live, model, screens
from vcmts.top.model import Figures
from vcmts.top.samples import OddAnswerError
from vcmts.top.screens import Room, Scene
from vcmts.top.source import Told, Wish, ask
from vcmts.top.view import Level, View

ANSWER_S = 30.0  # where it is asked for figures once
SHORTEST_S, LONGEST_S = 0.1, 3600.0
TALL = 10_000  # lines where nothing is cut off
EPILOG = """keys: arrows and enter choose and go down, escape back, s orders, tab and d show more,
? tells all of them; docs/monitoring.md says what the figures are."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--pid", type=int, help="of the vcmtsd (default: the only one in service)")
    which.add_argument("--socket", metavar="PATH", type=Path, help="its control socket")
    parser.add_argument(
        "--interval", type=float, default=1.0, help="seconds between answers (default: %(default)s)"
    )
    parser.add_argument("--group", metavar="ID", help="begin with this service group")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="print one screen, and end")
    how.add_argument("--json", action="store_true", help="print one set of figures, and end")


def name_of(path: Path) -> str:
    """Of the process whose socket it is, where the socket's name tells it."""
    own = re.fullmatch(r"(\d+)-control\.sock", path.name)
    return f"vcmtsd {own[1]}" if own else f"vcmtsd at {path}"


def view_of(group: str | None) -> View:
    return View() if group is None else View(Level.GROUP, {Level.SERVER: group})


def twice(path: Path, interval: float) -> tuple[Told, Told]:
    with Client(path, ANSWER_S) as client:
        before = ask(client, Wish())
        time.sleep(interval)
        return before, ask(client, Wish())


def figures_once(path: Path, arguments: argparse.Namespace) -> Figures:
    before, after = twice(path, arguments.interval)
    figures = model.figures(before.server, after.server)
    if arguments.group is not None and figures.group(arguments.group) is None:
        allowed = ", ".join(group.id for group in figures.groups) or "none"
        raise MistakeError(f"--group: found {arguments.group}, allowed: {allowed}")
    return figures


def finite(value: Any) -> Any:
    """As JSON has no infinity: null, as all that is not known."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def print_json(figures: Figures, group: str | None) -> None:
    chosen = figures if group is None else figures.group(group)
    assert chosen is not None
    print(json.dumps(finite(asdict(chosen)), indent=2))


def print_screen(figures: Figures, scene: Scene) -> None:
    """All of it: as wide as the terminal, and as long as need be."""
    console = Console(file=sys.stdout, highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    room = Room(console.width, TALL, live.blocks(console))
    for line in screens.screen(scene, room, hints=False):
        console.print(line, no_wrap=True, crop=False)


def once(path: Path, arguments: argparse.Namespace) -> int:
    try:
        figures = figures_once(path, arguments)
    except (RefusedError, ClosedError, OddAnswerError) as error:
        complain(str(error))
        return 1
    except TimeoutError:
        complain(f"vcmtsd did not answer within {ANSWER_S:.0f} s")
        return 1
    except OSError as error:
        raise MistakeError(f"{path}: {connect_fault(path, error)}") from error
    if arguments.json:
        print_json(figures, arguments.group)
    else:
        view = replace(view_of(arguments.group), marks=False)
        scene = Scene(name_of(path), arguments.interval, view, figures=figures)
        print_screen(figures, scene)
    return 0


def main(arguments: argparse.Namespace) -> int:
    if not SHORTEST_S <= arguments.interval <= LONGEST_S:
        allowed = f"{SHORTEST_S:g} to {LONGEST_S:g}"
        raise MistakeError(f"--interval: found {arguments.interval:g}, allowed: {allowed}")
    path = place.asked_for(arguments.pid, arguments.socket)
    if arguments.once or arguments.json:
        return once(path, arguments)
    if not sys.stdout.isatty():
        raise MistakeError("the output is no terminal: --once prints one screen, --json figures")
    connected(path).close()
    scene = Scene(name_of(path), arguments.interval, view_of(arguments.group))
    top = live.Top(lambda: Client(path), scene, Console(highlight=False, markup=False))
    top.run()
    if top.ended is not None:
        complain(top.ended)
        return 1
    return 0
