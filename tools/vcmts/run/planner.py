# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run --day` and its options. Imports the package planning, which imports this one, only
with --day."""

import argparse
import importlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from vcmts import options
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.power.measured import COMMAND_HELP

DURATION = "2min"  # real time of 24 hours; the run takes some 30 s more
PUBLISHED_DAY = data("config/day.txt")
PICTURE = "day.svg"  # in the current folder
NEED_DAY = ("plot", "machine", "watts_command")


class Plan(Protocol):
    """A run of --day, by planning/day/plan.py. Call watched(), then document(), then show()."""

    def watched(self, control: Path | None) -> AbstractContextManager[IO[bytes]]:
        """A context that samples vcmtsd by its socket `control`. Yields the file for the stderr of
        the traffic program, which it prints at the end.

        Raises MistakeError if `control` is None, OSError if nothing listens there."""

    def document(self) -> Json | None:
        """The results (docs/results.md); None if vcmtsd was not sampled."""

    def show(self, day: Json) -> None:
        """Prints the results of document(), and draws them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--day",
        nargs="?",
        const=str(PUBLISHED_DAY),
        metavar="FILE",
        help="simulate the load of 24 hours in --duration (default: 2min), with --rate at peak; "
        "show busy and paused time, frequencies, latencies, modelled watts. FILE has lines of hour "
        "and load, such as 18:30 85%% (default: config/day.txt, after a paper)",
    )
    options.add_plot(parser, f"with --day: draw the day (default: {PICTURE})")
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
    """The plan of --day; None without it. `within`: a folder for temporary files.

    Sets in `given`: duration, shape, upstream_shape, latency, and idle if it was not given. Raises
    MistakeError for options that contradict --day or need it."""
    if given.day is not None:
        given.duration = given.duration or DURATION
        plan: Plan = importlib.import_module("planning.day.plan").planned(
            given, within, Path(PICTURE)
        )
        return plan
    for name in NEED_DAY:
        if getattr(given, name) is not None:
            raise MistakeError(f"--{name.replace('_', '-')}: works with --day only")
    return None
