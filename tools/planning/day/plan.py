# SPDX-License-Identifier: BSD-3-Clause
"""A run of a day: what it is asked for, what watches it, and what is told of it at the end."""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

from rich.console import Console

from planning.day import load, picture, results, show
from planning.day.results import Modelled
from planning.day.watch import Watch, asking
from vcmts.jsons import Json
from vcmts.paths import MistakeError, complain
from vcmts.power import machine
from vcmts.power.measured import Joules, Sampler
from vcmts.power.model import Machine
from vcmts.progress import progress

DURATION_RE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(h|min|s|ms)", re.ASCII)
SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
SHORTEST_S, LONGEST_S = 2.0, 48 * 3600.0
LONG_S = f"a time from {SHORTEST_S:g}s to {LONGEST_S / 3600:g}h, such as 2min"
IDLE = "auto"
# What vcmts-traffic says each second, which is told in another way.
EACH_SECOND = re.compile(r" *\d+ s  .*")
PATIENCE_S = 60.0  # for the last answer


def seconds_of(text: str) -> float:
    found = DURATION_RE.fullmatch(text)
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise MistakeError(f"--duration: found {text}, allowed with --day: {LONG_S}")
    return seconds


def refuse(given: argparse.Namespace) -> None:
    """What makes no sense beside a day."""
    for name in ("shape", "upstream_shape", "impair"):
        if getattr(given, name) is not None:
            raise MistakeError(
                f"--{name.replace('_', '-')}: found beside --day, allowed: one of them"
            )
    for name in ("rate", "upstream_rate"):
        if getattr(given, name) == "max":
            raise MistakeError(
                f"--{name.replace('_', '-')}: found max, allowed with --day: a rate, of its peak"
            )
    if given.control_socket == "none":
        raise MistakeError(
            "--control-socket: found none, allowed with --day: a path; it is asked there"
        )


@dataclass
class Plan:
    """`picture`: where it is drawn; None: it cannot be. `said`: what vcmts-traffic says."""

    day: load.Day
    seconds: float
    machine: Machine
    picture: Path | None
    said: IO[bytes]
    joules: Joules
    _watch: Watch | None = None
    _modelled: Modelled | None = None

    @contextmanager
    def watched(self, control: Path | None) -> Iterator[IO[bytes]]:
        """While the traffic runs, which is within. Yields what takes its words."""
        if control is None:
            raise MistakeError("--day: vcmtsd has no control socket; --control-socket says where")
        silent = self.seconds * self.day.silent() / load.HOURS
        with asking(control, self.joules) as source, progress("a day", self.seconds) as shown:
            self._watch = Watch(source, self.seconds, silent, shown.at)
            self._modelled = Modelled(self.machine, source.highest)
            thread = Thread(target=self._watch.run, name="watches the day", daemon=True)
            thread.start()
            try:
                yield self.said
            finally:
                self._watch.over.set()
                thread.join(PATIENCE_S)
        repeat(self.said)

    def document(self) -> Json | None:
        """What is told of it; None where nothing was seen."""
        watch = self._watch
        if watch is None:
            return None
        if watch.trouble:
            complain(f"--day: vcmtsd did not answer any more: {watch.trouble}")
        return results.document(self.day, watch.moments, watch.start, self.seconds, self._modelled)

    def tell(self, day: Json) -> None:
        """On the terminal, and as a picture; and why watts are missing."""
        show.show(day, Console(file=sys.stdout))
        for what, reason in self.joules.reasons.items():
            if what != "platform" or self.joules.sampler.words is not None:  # nobody asked for it
                complain(f"--day: not all watts of {what} were measured: {reason}")
        if self.picture is None:
            return
        try:
            picture.draw(day, self.picture)
            print(f"drawn in {self.picture}")
        except OSError as error:
            complain(f"--plot {self.picture}: {error.strerror}")


def picture_of(given: argparse.Namespace, usual: Path) -> Path | None:
    """Checked. Without --plot it is the usual one; where that cannot be drawn, this is told."""
    if given.plot is not None:
        picture.check(Path(given.plot))
        return Path(given.plot)
    try:
        picture.check(usual)
    except MistakeError as mistake:
        complain(f"no picture: {mistake}")
        return None
    return usual


def planned(given: argparse.Namespace, within: Path, usual: Path) -> Plan:
    """What the options ask for, which then say it in the words of a run. `usual`: the picture."""
    refuse(given)
    day, seconds = load.read(Path(given.day)), seconds_of(given.duration)
    described = machine.read(Path(given.machine)) if given.machine else machine.read()
    said = (within / "traffic.said").open("w+b")
    joules = Joules(Sampler(given.watts_command))
    plan = Plan(day, seconds, described, picture_of(given, usual), said, joules)
    for way, name in (("downstream", "shape"), ("upstream", "upstream_shape")):
        file = within / f"{way}.day"
        load.write(day.of(way), file)
        setattr(given, name, f"day:@{file}")
    given.duration, given.latency = f"{round(1000 * seconds)}ms", True
    given.idle = given.idle or IDLE
    return plan


def repeat(said: IO[bytes]) -> None:
    """What vcmts-traffic had to say beside what it says each second."""
    said.seek(0)
    for line in said.read().decode(errors="replace").splitlines():
        if not EACH_SECOND.fullmatch(line):
            print(line, file=sys.stderr)
