# SPDX-License-Identifier: BSD-3-Clause
"""What every `vcmts bench` does: run a program that measures, read what it has, store it."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from vcmts import configuration
from vcmts.bench.trials import StopError, TroubleError
from vcmts.child import INTERRUPTED, Stopped, folder, stoppable, writable
from vcmts.console import wide_console
from vcmts.jsons import Json
from vcmts.paths import TOOL, MistakeError, complain
from vcmts.results import Measurement
from vcmts.watch import Say, Tell, to_stderr, watched

LIMITS = {"runs": (1, 101), "milliseconds": (10, 600000)}
NO_MORE: Mapping[str, tuple[int, int]] = {}


def add_arguments(
    parser: argparse.ArgumentParser, *, milliseconds: int, stored: str, runs: int = 5
) -> None:
    parser.add_argument(
        "--runs", type=int, default=runs, metavar="N", help="of each (default: %(default)s)"
    )
    parser.add_argument(
        "--milliseconds",
        type=int,
        default=milliseconds,
        metavar="N",
        help="of a run (default: %(default)s)",
    )
    add_stored(parser, stored)


def add_stored(parser: argparse.ArgumentParser, default: str) -> None:
    text = "where the figures are stored (default: %(default)s)"
    parser.add_argument("--json", metavar="FILE", default=default, help=text)


def add_only(parser: argparse.ArgumentParser, parts: Sequence[str], metavar: str = "WHAT") -> None:
    text = f"leave out all others; may be repeated ({', '.join(parts)})"
    parser.add_argument(
        "--only", action="append", choices=parts, default=[], metavar=metavar, help=text
    )


def chosen(parts: Iterable[str], given: argparse.Namespace) -> list[str]:
    """What --only leaves, in its order."""
    return [part for part in parts if not given.only or part in given.only]


def check(arguments: argparse.Namespace, more: Mapping[str, tuple[int, int]] = NO_MORE) -> None:
    """The programs' limits, and more of a command, by the names of our options. Raises
    MistakeError."""
    for option, (least, most) in {**LIMITS, **more}.items():
        found = getattr(arguments, option)
        if not least <= found <= most:
            raise MistakeError(f"--{option}: found {found}, allowed: {least} to {most}")
    writable(arguments.json)


def called() -> list[str]:
    return [TOOL, *sys.argv[1:]]


def measured(
    command: Sequence[str], place: Path, tell: Tell, stopped: Stopped, say: Say = to_stderr
) -> tuple[int, Json | None]:
    """The program's exit status and what it has measured; also where it was stopped or failed."""
    path = place / "measured.json"
    path.unlink(missing_ok=True)
    status = watched([*command, "--json", str(path)], tell, stopped, say)
    if not path.exists():
        return status, None
    report: Json = json.loads(path.read_text(encoding="utf-8"))
    return status, report if report["results"] else None


def store(measurement: Measurement, path: str, stopped: Stopped, status: int) -> int:
    """Writes what there is and says so. Returns the exit status of the tool."""
    measurement.complete = status == 0 and not stopped.asked
    measurement.write(path)
    print(f"every value: {path}")
    if stopped.asked:
        complain(f"interrupted: what was measured is in {path}")
        return INTERRUPTED
    return status


def nothing(stopped: Stopped, status: int) -> int:
    """The exit status of the tool where there is nothing to store."""
    if stopped.asked:
        complain("interrupted: nothing was measured")
        return INTERRUPTED
    return status


def kept(
    to: Measurement,
    given: argparse.Namespace,
    measure: Callable[[Path, Path, argparse.Namespace, Stopped, Measurement], int],
    show: Callable[[Measurement, Console], None],
) -> int:
    """Of what is stored result by result: whatever ends it, what was measured is kept and shown.
    Returns the exit status of the tool."""
    writable(given.json)
    with folder() as place, stoppable() as stopped:
        config = configuration.chosen(given, place)
        try:
            status, why = measure(config, place, given, stopped, to), ""
        except StopError:
            status, why = INTERRUPTED, "interrupted"
        except TroubleError as error:
            status, why = 1, str(error)
    if why:
        told = f"{len(to.results)} results were measured, and are kept"
        complain(f"{why}: {told if to.results else 'nothing was measured'}")
    if to.results:
        to.write(given.json)
        show(to, wide_console())
        print(f"every value: {given.json}")
    return status


def machine(report: Json) -> str:
    """One line: what it was measured on, and how often."""
    host = report["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    return (
        f"{host['cpu']}: TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz "
        f"({ratio:.2f} core cycles a reference cycle), "
        f"{'huge' if host['huge_pages'] else 'ordinary'} pages, "
        f"median of {report['results'][0]['runs']} runs"
    )
