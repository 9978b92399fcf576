# SPDX-License-Identifier: BSD-3-Clause
"""Plans a run of `vcmts run --day`: checks options, starts the thread that samples the server, and
prints the results."""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

from planning.day import load, picture, results, show
from planning.day.results import Modelled
from planning.day.watch import Watch, connect
from vcmts.console import out_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify
from vcmts.power import machine
from vcmts.power.measured import Joules, Sampler
from vcmts.power.model import Machine
from vcmts.progress import progress
from vcmts.terminal import print_wrapped

DURATION_RE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(h|min|s|ms)", re.ASCII)
SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
SHORTEST_S, LONGEST_S = 2.0, 48 * 3600.0
DURATION_FORMAT = f"a time from {SHORTEST_S:g}s to {LONGEST_S / 3600:g}h, such as 2min"
IDLE = "auto"
# The line that vcmts-traffic prints each second; the progress line replaces it.
RATE_LINE = re.compile(r" *\d+ s  .*")
STOP_TIMEOUT_S = 60.0  # for the last sample


def parse_duration(text: str) -> float:
    found = DURATION_RE.fullmatch(text)
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise MistakeError(f"--duration: found {text}, allowed with --day: {DURATION_FORMAT}")
    return seconds


def check_options(given: argparse.Namespace) -> None:
    """Raises MistakeError for options that contradict --day."""
    for name in ("shape", "upstream_shape", "impair"):
        if getattr(given, name) is not None:
            raise MistakeError(f"--{name.replace('_', '-')}: not allowed with --day")
    for name in ("rate", "upstream_rate"):
        if getattr(given, name) == "max":
            raise MistakeError(
                f"--{name.replace('_', '-')} max: not allowed with --day; give the rate of its peak"
            )
    if given.control_socket == "none":
        raise MistakeError("--control-socket none: not allowed with --day; give a path")


@dataclass
class Plan:
    """A run of a day. `described`: the user gave the machine. `picture`: the file to draw; None if
    it cannot be drawn. `output`: a file for the output of vcmts-traffic."""

    day: load.Day
    seconds: float
    machine: Machine
    described: bool
    picture: Path | None
    output: IO[bytes]
    joules: Joules
    _watch: Watch | None = None
    _modelled: Modelled | None = None

    @contextmanager
    def watched(self, control: Path | None) -> Iterator[IO[bytes]]:
        """Samples the server at the control socket while the caller runs the traffic program.
        Yields the file for that program's output."""
        if control is None:
            raise MistakeError("--day: vcmtsd has no control socket: set --control-socket")
        silent = self.seconds * self.day.silent_hours() / load.HOURS
        with connect(control, self.joules) as source, progress("a day", self.seconds) as shown:
            self._watch = Watch(source, self.seconds, silent, shown.at)
            self._modelled = Modelled(self.machine, source.max_hertz)
            thread = Thread(target=self._watch.run, name="day samples", daemon=True)
            thread.start()
            try:
                yield self.output
            finally:
                self._watch.over.set()
                thread.join(STOP_TIMEOUT_S)
        print_output(self.output)

    def document(self) -> Json | None:
        """The results of the day; None if the server was not sampled."""
        watch = self._watch
        if watch is None:
            return None
        if watch.trouble:
            notify(f"--day: vcmtsd stopped answering: {watch.trouble}")
        return results.document(self.day, watch.moments, watch.start, self.seconds, self._modelled)

    def show(self, day: Json) -> None:
        """Prints the results, draws the picture, and prints why watts are missing."""
        show.show(day, out_console())
        for what, reason in self.joules.reasons.items():
            if (
                what != "platform" or self.joules.sampler.words is not None
            ):  # without --watts-command
                notify(f"--day: not all watts of {what} were measured: {reason}")
        if self.picture is None:
            return
        try:
            # Watts of another machine than this one would be read as this one's.
            shown = day if self.described else {**day, "modelled_machine": None}
            picture.draw(shown, self.picture)
            print(f"drawn in {self.picture}")
        except OSError as error:
            notify(f"--plot {self.picture}: {error.strerror}")


def picture_path(given: argparse.Namespace, usual: Path) -> Path | None:
    """The file of --plot. Without that option `usual`, or None with a message if it cannot be
    drawn."""
    if given.plot is not None:
        picture.check(Path(given.plot))
        return Path(given.plot)
    try:
        picture.check(usual)
    except MistakeError as mistake:
        notify(f"no picture: {mistake}")
        return None
    return usual


def planned(given: argparse.Namespace, within: Path, usual: Path) -> Plan:
    """Makes a plan from the options, and sets the options of a run in `given` accordingly.
    `within`: a folder for temporary files; `usual`: the default picture."""
    check_options(given)
    day, seconds = load.read(Path(given.day)), parse_duration(given.duration)
    described = machine.read(Path(given.machine)) if given.machine else machine.read()
    output = (within / "traffic.said").open("w+b")
    joules = Joules(Sampler(given.watts_command))
    picture_file = picture_path(given, usual)
    plan = Plan(day, seconds, described, bool(given.machine), picture_file, output, joules)
    for way, name in (("downstream", "shape"), ("upstream", "upstream_shape")):
        file = within / f"{way}.day"
        load.write(day.of(way), file)
        setattr(given, name, f"day:@{file}")
    given.duration, given.latency = f"{round(1000 * seconds)}ms", True
    given.idle = given.idle or IDLE
    return plan


def print_output(output: IO[bytes]) -> None:
    """Prints the output of vcmts-traffic without the lines of each second."""
    output.seek(0)
    for line in output.read().decode(errors="replace").splitlines():
        if not RATE_LINE.fullmatch(line):
            print_wrapped(line, sys.stderr)
