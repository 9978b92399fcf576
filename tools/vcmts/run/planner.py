# SPDX-License-Identifier: BSD-3-Clause
"""The options of --day. Imports planning.day only if it is given."""

import argparse
import importlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.power.measured import COMMAND_HELP

DURATION = "2min"  # of a day's traffic; start and end add half a minute
PUBLISHED = data("config/day.txt")
PICTURE = "day.svg"
OWN = ("plot", "machine", "watts_command")  # options that need --day


class Plan(Protocol):
    """A simulated day of load; planning/day/plan.py implements it."""

    def watched(self, control: Path | None) -> AbstractContextManager[IO[bytes]]:
        """A context that observes the day. Yields a file for the traffic program's messages."""

    def document(self) -> Json | None:
        """The results of the day; None if nothing was observed."""

    def tell(self, day: Json) -> None:
        """Prints the results, and draws them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--day",
        nargs="?",
        const=str(PUBLISHED),
        metavar="FILE",
        help="simulate the load of 24 hours in --duration (default: 2min), with --rate at peak; "
        "show busy and paused time, frequencies, latencies, modelled watts. FILE has lines of hour "
        "and load, such as 18:30 85%% (default: config/day.txt, after a paper)",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help=f"with --day: figure, .svg or .png (default: {PICTURE})"
    )
    parser.add_argument(
        "--machine",
        metavar="FILE",
        help="with --day: description of the machine for modelled watts, as in `vcmts power "
        "simulate` (default: config/power.yaml, after a paper)",
    )
    parser.add_argument(
        "--watts-command",
        metavar="COMMAND",
        help=f"with --day: {COMMAND_HELP} (default: only the processors' energy counters)",
    )


def plan_day(given: argparse.Namespace, within: Path) -> Plan | None:
    """The plan of --day, which sets options of `given`; None without it. Raises MistakeError."""
    if given.day is not None:
        given.duration = given.duration or DURATION
        plan: Plan = importlib.import_module("planning.day.plan").planned(
            given, within, Path(PICTURE)
        )
        return plan
    for name in OWN:
        if getattr(given, name) is not None:
            raise MistakeError(
                f"--{name.replace('_', '-')}: found without --day, allowed: with --day only"
            )
    return None
