# SPDX-License-Identifier: BSD-3-Clause
"""What every `vcmts bench` does: run a program that measures, read what it stored."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vcmts.child import Stopped, start

INTERRUPTED = 130


def add_arguments(parser: Any, *, milliseconds: int, stored: str) -> None:
    parser.add_argument("--runs", type=int, default=5, help="of each (default: %(default)s)")
    parser.add_argument(
        "--milliseconds", type=int, default=milliseconds, help="of a run (default: %(default)s)"
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        default=stored,
        help="where the figures are stored (default: %(default)s)",
    )


def measured(command: Sequence[str], path: str, stopped: Stopped) -> dict[str, Any] | int:
    """What the program stored at `path`, or the exit status where it did not."""
    status = stopped.wait(start([*command, "--json", path]))
    if stopped.asked:
        return INTERRUPTED
    if status != 0:
        return status
    report: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return report


def machine(report: dict[str, Any]) -> str:
    """One line: what it was measured on, and how often."""
    host = report["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    return (
        f"{host['cpu']}: TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz "
        f"({ratio:.2f} core cycles a reference cycle), "
        f"{'huge' if host['huge_pages'] else 'ordinary'} pages, "
        f"median of {report['results'][0]['runs']} runs"
    )
