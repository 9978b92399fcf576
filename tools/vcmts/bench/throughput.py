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
from vcmts.bench.trials import ProgramError, StopError
from vcmts.bench.verdict import Outcome
from vcmts.child import INTERRUPTED, Stopped, check_writable, stoppable, temporary_folder
from vcmts.console import wide_console
from vcmts.jsons import Json
from vcmts.paths import notify
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
class Options:
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
    return tuple(offered.make_point(name, given.upstream_mix) for name in dict.fromkeys(names))


def check_arguments(given: argparse.Namespace, facts: Json) -> Options:
    default = RFC2544_SECONDS if given.rfc2544 else TRIAL_SECONDS
    seconds = default if given.trial_seconds is None else given.trial_seconds
    shares = offered.make_split(given, facts)
    return Options(
        points=chosen_points(given),
        seconds=offered.check_range("--trial-seconds", seconds, 0.01, 86400),
        repeats=int(offered.check_range("--repeats", given.repeats, 1, 1000)),
        accepted_loss=offered.check_range("--accepted-loss", given.accepted_loss, 0, 0.5),
        prove=offered.parse_prove(given.prove),
        shares=shares,
        plan=Plan(
            top=offered.highest_rate(shares, facts),
            resolution=offered.check_range("--resolution", given.resolution, 1e-4, 0.5),
            confirmations=int(offered.check_range("--confirmations", given.confirmations, 1, 1000)),
        ),
    )


@dataclass
class Bench:
    """Measures the points, and stores the results."""

    options: Options
    programs: Programs
    measurement: Measurement
    stored: str
    shown: Progress
    finished: int = 0  # points

    @property
    def each(self) -> int:
        """The estimated number of trials per point."""
        return FIRST_SEARCH + (self.options.repeats - 1) * LATER_SEARCH

    def point(self, number: int, where: Point) -> None:
        """Measures one point. Stores finished searches even if an exception ends it."""
        options, searches = self.options, list[Search]()
        trials = Trials(self.programs, where, options.shares, options.seconds, options.prove)
        trials.accepted_loss = options.accepted_loss

        def trial(rate: float) -> Outcome:
            outcome = trials(rate)
            made = sum(len(one.made) for one in searches) + len(trials.made)
            text = f"{where.name}, {rate / 1e9:.2f} Gbps {outcome.verdict}"
            self.shown.at((number + min(made / self.each, 0.95)) * self.each, text)
            return outcome

        try:
            for found in repeated(trial, options.plan, options.repeats):
                searches.append(Search(found, trials.made))
                trials.made = []
        finally:
            if searches:
                self.measurement.results.append(result(where, searches))
                self.measurement.save(self.stored)

    def all(self) -> None:
        for number, where in enumerate(self.options.points):
            self.point(number, where)
            self.finished += 1
        self.measurement.complete = True
        self.measurement.save(self.stored)


def measure_points(measurement: Measurement, bench: Bench) -> int:
    """Measures all points. Returns the exit status. Without any result, an earlier file stays."""
    status, why = 0, ""
    try:
        bench.all()
    except StopError as error:
        status, why = INTERRUPTED, str(error)
    except ProgramError as error:
        status, why = 1, str(error)
    if why and not measurement.results:
        notify(f"{why}: {NOTHING}")
    elif why:
        measurement.save(bench.stored)
        done, due = bench.finished, len(bench.options.points)
        notify(f"{why}: {done} of {due} points were measured; their results are stored")
    return status


def measure(
    config: Path, folder: Path, given: argparse.Namespace, stopped: Stopped
) -> tuple[int, Measurement] | int:
    facts = facts_of(config)
    options = check_arguments(given, facts)
    for where in options.points:
        mistaken = offered.check_mixes(where, config, options.shares)
        if mistaken != 0:
            return mistaken
    measurement = Measurement("throughput", ["vcmts", *sys.argv[1:]], facts["name"], {})
    measurement.more = {
        "transport": given.transport,
        "trial_seconds": options.seconds,
        "resolution": options.plan.resolution,
        "accepted_loss": options.accepted_loss,
        "repeats": options.repeats,
        "confirmations": options.plan.confirmations,
        "upstream_share": options.shares.ratio,
        "prove": options.prove,
    }
    each = FIRST_SEARCH + (options.repeats - 1) * LATER_SEARCH
    with progress("bench throughput", each * len(options.points)) as shown:
        shown.at(0, "starting")
        with transport.open_programs(config, facts, folder, given, stopped) as programs:
            measurement.host = programs.host
            status = measure_points(
                measurement, Bench(options, programs, measurement, given.json, shown)
            )
    return status, measurement


def main(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    with temporary_folder() as folder, stoppable() as stopped:
        config = configuration.configuration_file(arguments, folder)
        try:
            done = measure(config, folder, arguments, stopped)
        except StopError as error:
            notify(f"{error}: {NOTHING}")
            return INTERRUPTED
        except ProgramError as error:
            notify(str(error))
            return 1
    if isinstance(done, int):
        return done
    status, measurement = done
    if measurement.results:
        title = f"zero-loss throughput, {measurement.configuration}, {arguments.transport}"
        show(measurement.results, title, wide_console())
        bench_common.write(measurement, arguments.json)
    return status
