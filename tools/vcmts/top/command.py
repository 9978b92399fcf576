# SPDX-License-Identifier: BSD-3-Clause
"""vcmts top: shows a running data plane live: service groups, stages, drops, queues, cores, modems.

Exit status: 0 after the key q, 1 if vcmtsd ended or did not answer, 2 for an error in the arguments
or if no vcmtsd was found.
"""

import argparse
import math
import os
import re
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vcmts import options
from vcmts.console import WIDTH, out_console
from vcmts.control import sockets
from vcmts.control.client import Client, ClosedError, RefusedError, connected
from vcmts.control.trust import connect_fault
from vcmts.output import write_json
from vcmts.paths import MistakeError, notify
from vcmts.top import live, model, screens
from vcmts.top.model import Figures
from vcmts.top.samples import OddAnswerError
from vcmts.top.screens import Scene, Terminal
from vcmts.top.source import Reply, Request, ask
from vcmts.top.view import Level, View

ANSWER_S = 30.0  # timeout with --once and --json
SHORTEST_S, LONGEST_S = 0.1, 3600.0
TALL = 10_000  # lines of a screen that is never truncated
EPILOG = """keys: arrows select, enter opens, escape goes back, s sorts, tab and d switch the view,
? lists all keys; docs/monitoring.md explains the figures."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    options.add_server(parser)
    parser.add_argument(
        "--interval", type=float, default=1.0, help="seconds between updates (default: %(default)s)"
    )
    parser.add_argument("--group", metavar="ID", help="show this service group first")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="print one screen and exit")
    options.add_json(how, "the figures once, and exit,")


def name_of(path: Path) -> str:
    """The name of the vcmtsd with a control socket: its process ID, if the socket's name has it."""
    own = re.fullmatch(r"(\d+)-control\.sock", path.name)
    return f"vcmtsd {own[1]}" if own else f"vcmtsd at {path}"


def view_of(group: str | None) -> View:
    return View() if group is None else View(Level.GROUP, {Level.SERVER: group})


def two_answers(path: Path, interval: float) -> tuple[Reply, Reply]:
    with Client(path, ANSWER_S) as client:
        before = ask(client, Request())
        time.sleep(interval)
        return before, ask(client, Request())


def figures_once(path: Path, arguments: argparse.Namespace) -> Figures:
    before, after = two_answers(path, arguments.interval)
    figures = model.figures(before.server, after.server)
    if arguments.group is not None and figures.group(arguments.group) is None:
        allowed = ", ".join(group.id for group in figures.groups) or "none"
        raise MistakeError(f"--group: found {arguments.group}, allowed: {allowed}")
    return figures


def without_infinity(value: Any) -> Any:
    """Replaces infinity, which JSON does not have, by None, as for unknown values."""
    if isinstance(value, dict):
        return {key: without_infinity(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinity(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def write_figures(path: str, figures: Figures, group: str | None) -> None:
    chosen = figures if group is None else figures.group(group)
    assert chosen is not None
    write_json(path, without_infinity(asdict(chosen)), indent=2)


def print_screen(figures: Figures, scene: Scene) -> None:
    """Prints a screen as wide as the terminal, without truncating its lines."""
    console = out_console(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    terminal = Terminal(console.width, TALL, live.blocks(console))
    for line in screens.screen(scene, terminal, hints=False):
        console.print(line, no_wrap=True, crop=False)


def once(path: Path, arguments: argparse.Namespace) -> int:
    try:
        figures = figures_once(path, arguments)
    except (RefusedError, ClosedError, OddAnswerError) as error:
        notify(str(error))
        return 1
    except TimeoutError:
        notify(f"vcmtsd did not answer within {ANSWER_S:.0f} s")
        return 1
    except OSError as error:
        raise MistakeError(f"{path}: {connect_fault(path, error)}") from error
    if arguments.json:
        write_figures(arguments.json, figures, arguments.group)
    else:
        view = replace(view_of(arguments.group), marks=False)
        scene = Scene(name_of(path), arguments.interval, view, figures=figures)
        print_screen(figures, scene)
    return 0


def main(arguments: argparse.Namespace) -> int:
    if not SHORTEST_S <= arguments.interval <= LONGEST_S:
        allowed = f"{SHORTEST_S:g} to {LONGEST_S:g}"
        raise MistakeError(f"--interval: found {arguments.interval:g}, allowed: {allowed}")
    path = sockets.select_socket(arguments.pid, arguments.socket)
    if arguments.once or arguments.json:
        return once(path, arguments)
    if not sys.stdout.isatty():
        raise MistakeError(
            "stdout is not a terminal: use --once for one screen, --json for figures"
        )
    connected(path).close()
    scene = Scene(name_of(path), arguments.interval, view_of(arguments.group))
    top = live.Top(lambda: Client(path), scene, out_console(highlight=False, markup=False))
    top.run()
    if top.ended is not None:
        notify(top.ended)
        return 1
    return 0
