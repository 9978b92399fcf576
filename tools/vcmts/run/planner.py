# SPDX-License-Identifier: BSD-3-Clause
"""--day of a run: its options. The planner of days is loaded where one is asked for."""

import argparse
import importlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.power.measured import COMMAND_HELP

DURATION = "2min"  # of a day; together with start and end some two and a half minutes
PUBLISHED = data("config/day.txt")
PICTURE = "day.svg"
OWN = ("plot", "machine", "watts_command")  # options that go with --day alone


class Plan(Protocol):
    """A day that is run: planning/day/plan.py has one."""

    def watched(self, control: Path | None) -> AbstractContextManager[IO[bytes]]:
        """While the traffic runs, which is within. Yields what takes its words."""

    def document(self) -> Json | None:
        """What is told of it; None where nothing was seen."""

    def tell(self, day: Json) -> None:
        """On the terminal, and as a picture."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--day",
        nargs="?",
        const=str(PUBLISHED),
        metavar="FILE",
        help="24 hours of load in --duration (default: 2min), with --rate at its peak, and what it "
        "did to the server: time busy and paused, frequencies, latencies, modelled watts. FILE has "
        "an hour and a load a line, as 18:30 85%% (default: config/day.txt, after a paper)",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help=f"with --day: the picture, .svg or .png (default: {PICTURE})"
    )
    parser.add_argument(
        "--machine",
        metavar="FILE",
        help="with --day: the machine whose watts are modelled, as in `vcmts power simulate` "
        "(default: that of a paper, config/power.yaml)",
    )
    parser.add_argument(
        "--watts-command",
        metavar="COMMAND",
        help=f"with --day: {COMMAND_HELP} (default: only what the processors count, if they do)",
    )


def planned(given: argparse.Namespace, within: Path) -> Plan | None:
    """What the options ask for, which then say it in the words of a run; None without --day."""
    if given.day is not None:
        given.duration = given.duration or DURATION
        plan: Plan = importlib.import_module("planning.day.plan").planned(
            given, within, Path(PICTURE)
        )
        return plan
    for name in OWN:
        if getattr(given, name) is not None:
            raise MistakeError(
                f"--{name.replace('_', '-')}: found without --day, allowed: beside it"
            )
    return None
