# SPDX-License-Identifier: BSD-3-Clause
"""What every `vcmts bench` does: run a program that measures, read what it has, store it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vcmts.child import INTERRUPTED, Stopped, writable
from vcmts.jsons import Json
from vcmts.paths import TOOL, MistakeError, complain
from vcmts.results import Measurement
from vcmts.watch import Say, Tell, to_stderr, watched

LIMITS = {"runs": (1, 101), "milliseconds": (10, 600000)}


def add_arguments(parser: Any, *, milliseconds: int, stored: str, runs: int = 5) -> None:
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
    parser.add_argument(
        "--json",
        metavar="FILE",
        default=stored,
        help="where the figures are stored (default: %(default)s)",
    )


def check(arguments: Any) -> None:
    """The programs' limits, with the names of our options. Raises MistakeError."""
    for option, (least, most) in LIMITS.items():
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
