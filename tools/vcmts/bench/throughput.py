# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench throughput: searches the highest rate without loss, by packet size and mix.

docs/throughput.md describes the method.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from vcmts import configuration
from vcmts.bench import common as bench_common
from vcmts.bench import offered, transport
from vcmts.bench.offered import Point, Trials
from vcmts.bench.search import Plan, repeated
from vcmts.bench.throughput_results import Search, result, show
from vcmts.bench.transport import Programs
from vcmts.bench.trials import StopError, TroubleError
from vcmts.bench.verdict import Outcome
from vcmts.child import INTERRUPTED, Stopped, folder, stoppable, writable
from vcmts.console import wide_console
from vcmts.jsons import Json
from vcmts.paths import complain
from vcmts.progress import Progress, progress
from vcmts.results import Measurement
from vcmts.run.plane import facts_of

STORED = "bench-throughput.json"
NOTHING = "nothing was measured"
POINTS = ("imix", "64", "512", "1518")
# Sizes of RFC 2544, 9.1. There they include the CRC; here they do not, as in the whole project.
RFC2544_SIZES = ("64", "128", "256", "512", "1024", "1280", "1518")
RFC2544_POINTS = ("imix", "imix-2023", *RFC2544_SIZES)
RFC2544_SECONDS = 60.0
TRIAL_SECONDS = 0.75
# Typical number of trials per search, to estimate the remaining time.
FIRST_SEARCH, LATER_SEARCH = 13, 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(latency=False)
    configuration.add_arguments(parser)
    transport.add_arguments(parser)
    offered.add_arguments(parser)
    parser.add_argument(
        "--point",
        action="append",
        default=[],
        metavar="MIX",
        help="mix: imix, imix-2017, imix-2021, imix-2023, a size (bytes of an Ethernet frame "
        f"without CRC), or 84:15,256:10,1280:75; may be repeated (default: {', '.join(POINTS)})",
    )
    parser.add_argument(
        "--rfc2544",
        action="store_true",
        help=f"trials of {RFC2544_SECONDS:.0f} s, with all sizes of RFC 2544 and the mixes",
    )
    parser.add_argument(
        "--trial-seconds",
        type=float,
        metavar="SECONDS",
        help=f"duration of a trial (default: {TRIAL_SECONDS})",
    )
    parser.add_argument(
        "--resolution",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="maximum distance to a rate that failed, as a share (default: %(default)s)",
    )
    parser.add_argument(
        "--accepted-loss",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of the packets of a direction that may be lost (default: 0)",
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="searches per point (default: %(default)s)"
    )
    parser.add_argument(
        "--confirmations",
        type=int,
        default=3,
        help="trials that must pass at the end of each search (default: %(default)s)",
    )
    bench_common.add_stored(parser, STORED)


@dataclass(frozen=True)
class Asked:
    """The checked options."""

    points: tuple[Point, ...]
    seconds: float
    repeats: int
    accepted_loss: float
    prove: float
    shares: offered.Split
    plan: Plan


def chosen_points(given: argparse.Namespace) -> tuple[Point, ...]:
    names = given.point or (RFC2544_POINTS if given.rfc2544 else POINTS)
    return tuple(offered.point(name, given.upstream_mix) for name in dict.fromkeys(names))


def asked_for(given: argparse.Namespace, facts: Json) -> Asked:
    default = RFC2544_SECONDS if given.rfc2544 else TRIAL_SECONDS
    seconds = default if given.trial_seconds is None else given.trial_seconds
    shares = offered.split(given, facts)
    return Asked(
        points=chosen_points(given),
        seconds=offered.positive("--trial-seconds", seconds, 0.01, 86400),
        repeats=int(offered.positive("--repeats", given.repeats, 1, 1000)),
        accepted_loss=offered.positive("--accepted-loss", given.accepted_loss, 0, 0.5),
        prove=offered.prove(given.prove),
        shares=shares,
        plan=Plan(
            top=offered.highest(shares, facts),
            resolution=offered.positive("--resolution", given.resolution, 1e-4, 0.5),
            confirmations=int(offered.positive("--confirmations", given.confirmations, 1, 1000)),
        ),
    )


@dataclass
class Bench:
    """Measures the points, and stores the results."""

    asked: Asked
    programs: Programs
    measurement: Measurement
    stored: str
    shown: Progress
    finished: int = 0  # points

    @property
    def each(self) -> int:
        """The estimated number of trials per point."""
        return FIRST_SEARCH + (self.asked.repeats - 1) * LATER_SEARCH

    def point(self, number: int, where: Point) -> None:
        """Measures one point. Stores finished searches even if an exception ends it."""
        asked, searches = self.asked, list[Search]()
        trials = Trials(self.programs, where, asked.shares, asked.seconds, asked.prove)
        trials.accepted_loss = asked.accepted_loss

        def trial(rate: float) -> Outcome:
            outcome = trials(rate)
            made = sum(len(one.made) for one in searches) + len(trials.made)
            text = f"{where.name}, {rate / 1e9:.2f} Gbps {outcome.verdict}"
            self.shown.at((number + min(made / self.each, 0.95)) * self.each, text)
            return outcome

        try:
            for found in repeated(trial, asked.plan, asked.repeats):
                searches.append(Search(found, trials.made))
                trials.made = []
        finally:
            if searches:
                self.measurement.results.append(result(where, searches))
                self.measurement.write(self.stored)

    def all(self) -> None:
        for number, where in enumerate(self.asked.points):
            self.point(number, where)
            self.finished += 1
        self.measurement.complete = True
        self.measurement.write(self.stored)


def store(measurement: Measurement, bench: Bench) -> int:
    """Measures all points. Returns the exit status. Without any result, an earlier file stays."""
    status, why = 0, ""
    try:
        bench.all()
    except StopError:
        status, why = INTERRUPTED, "interrupted"
    except TroubleError as error:
        status, why = 1, str(error)
    if why and not measurement.results:
        complain(f"{why}: {NOTHING}")
    elif why:
        measurement.write(bench.stored)
        done, due = bench.finished, len(bench.asked.points)
        complain(f"{why}: {done} of {due} points were measured; their results are stored")
    return status


def measure(
    config: Path, place: Path, given: argparse.Namespace, stopped: Stopped
) -> tuple[int, Measurement] | int:
    facts = facts_of(config)
    asked = asked_for(given, facts)
    for where in asked.points:
        mistaken = offered.refused(where, config, asked.shares)
        if mistaken != 0:
            return mistaken
    measurement = Measurement("throughput", ["vcmts", *sys.argv[1:]], facts["name"], {})
    measurement.more = {
        "transport": given.transport,
        "trial_seconds": asked.seconds,
        "resolution": asked.plan.resolution,
        "accepted_loss": asked.accepted_loss,
        "repeats": asked.repeats,
        "confirmations": asked.plan.confirmations,
        "upstream_share": asked.shares.ratio,
        "prove": asked.prove,
    }
    each = FIRST_SEARCH + (asked.repeats - 1) * LATER_SEARCH
    with progress("bench throughput", each * len(asked.points)) as shown:
        shown.at(0, "starting")
        with transport.opened(config, facts, place, given, stopped) as programs:
            measurement.host = programs.host
            status = store(measurement, Bench(asked, programs, measurement, given.json, shown))
    return status, measurement


def main(arguments: argparse.Namespace) -> int:
    writable(arguments.json)
    with folder() as place, stoppable() as stopped:
        config = configuration.chosen(arguments, place)
        try:
            done = measure(config, place, arguments, stopped)
        except StopError:
            complain(f"interrupted: {NOTHING}")
            return INTERRUPTED
        except TroubleError as error:
            complain(str(error))
            return 1
    if isinstance(done, int):
        return done
    status, measurement = done
    if measurement.results:
        title = f"zero-loss throughput, {measurement.configuration}, {arguments.transport}"
        show(measurement.results, title, wide_console())
        print(f"all results: {arguments.json}")
    return status
