# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench latency: measures the latency of packets at shares of the rate without loss.

docs/throughput.md describes the method.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vcmts import configuration, results
from vcmts.bench import common as bench_common
from vcmts.bench import offered, transport
from vcmts.bench.latency_results import result, show
from vcmts.bench.offered import Point, Trials
from vcmts.bench.search import Plan
from vcmts.bench.throughput_results import searched_rates
from vcmts.bench.transport import Programs
from vcmts.child import Stopped
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.progress import Progress, progress
from vcmts.results import Measurement
from vcmts.run.plane import facts_of

STORED = "bench-latency.json"
LOADS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
# Parameters of the short, coarse search without --throughput.
SEARCH_SECONDS, SEARCH_RESOLUTION, SEARCH_CONFIRMATIONS, SEARCH_TRIALS = 0.5, 0.04, 2, 13
COST_RUNS, COST_MILLISECONDS = 5, 300
PART_SECONDS = 0.25  # short, as many kernels take a core away about once per second


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(latency=True)
    configuration.add_arguments(parser)
    transport.add_arguments(parser)
    offered.add_arguments(parser)
    parser.add_argument(
        "--throughput",
        metavar="FILE",
        help="results of `vcmts bench throughput` with the rate without loss (default: search it)",
    )
    parser.add_argument(
        "--point",
        metavar="MIX",
        default="imix",
        help="packet mix: imix, a size, or 84:15,256:10,1280:75 (default: %(default)s)",
    )
    parser.add_argument(
        "--load",
        type=float,
        action="append",
        default=[],
        metavar="PERCENT",
        help="load, of the rate without loss; may be repeated (default: 10, 20, .. 100)",
    )
    parser.add_argument(
        "--trial-seconds",
        type=float,
        default=1.0,
        help="sending time per load, in trials of 0.25 s (default: %(default)s)",
    )
    parser.add_argument(
        "--attempts",
        type=int,
        default=4,
        help="limit for repeating disturbed trials, in multiples of --trial-seconds "
        "(default: %(default)s)",
    )
    bench_common.add_stored(parser, STORED)


@dataclass(frozen=True)
class Options:
    """The checked options."""

    where: Point
    loads: tuple[float, ...]  # shares of the rate without loss
    seconds: float
    parts: int  # trials that together last `seconds`
    attempts: int
    prove: float
    shares: offered.Split
    plan: Plan


def check_arguments(given: argparse.Namespace, facts: Json) -> Options:
    shares = offered.make_split(given, facts)
    loads = [offered.check_range("--load", load, 0.1, 150) / 100 for load in given.load or LOADS]
    seconds = offered.check_range("--trial-seconds", given.trial_seconds, 0.01, 86400)
    return Options(
        where=offered.make_point(given.point, given.upstream_mix),
        loads=tuple(dict.fromkeys(loads)),
        seconds=seconds,
        parts=max(1, round(seconds / PART_SECONDS)),
        attempts=int(offered.check_range("--attempts", given.attempts, 1, 1000)),
        prove=offered.parse_prove(given.prove),
        shares=shares,
        plan=Plan(
            top=offered.highest_rate(shares, facts),
            resolution=SEARCH_RESOLUTION,
            confirmations=SEARCH_CONFIRMATIONS,
        ),
    )


def stored_rates(path: str, options: Options, facts: Json, over: str) -> dict[str, float]:
    """The rate without loss in bit/s by direction, from a stored measurement. `over`: the
    transport. Raises MistakeError if it does not match."""
    found = results.read(path)
    for key, due in (("kind", "throughput"), ("configuration", facts["name"]), ("transport", over)):
        if found.get(key) != due:
            raise MistakeError(f"--throughput {path}: {key}: found {found.get(key)}, needed: {due}")
    points = {one["point"]: one for one in found["results"] if one["repeats"]}
    if options.where.name not in points:
        text = ", ".join(points) or "none"
        raise MistakeError(
            f"--throughput {path}: found confirmed rates of {text}, needed: {options.where.name}"
        )
    gbps = points[options.where.name]["gbps"]
    used = options.shares.of(1.0)
    missing = [way for way in used if way not in gbps]
    if missing:
        raise MistakeError(f"--throughput {path}: nothing was measured {missing[0]}")
    return {way: gbps[way] * 1e9 for way in used}


@dataclass
class Bench:
    """Measures the loads, and stores the results."""

    options: Options
    programs: Programs
    measurement: Measurement
    stored: str
    shown: Progress

    def searched_rates(self) -> dict[str, float]:
        """Searches the rate without loss; empty if no trial passed."""
        options = self.options
        trials = Trials(self.programs, options.where, options.shares, SEARCH_SECONDS, options.prove)
        return searched_rates(trials, options.plan, self.shown, SEARCH_TRIALS)

    def attempts(self, rates: dict[str, float], text: str) -> Iterator[Json]:
        """Yields short trials until there are enough undisturbed ones, or too many attempts."""
        options, undisturbed = self.options, 0
        request = offered.request(
            options.where, rates, options.seconds / options.parts, options.prove
        )
        for number in range(1, options.parts * options.attempts + 1):
            answer = self.programs.ask(request | {"latency": True})
            self.shown.at(self.shown.done, f"{text}, trial {number}")
            yield answer
            undisturbed += not offered.descheduled(answer)["count"]
            if undisturbed == options.parts:
                return

    def load(self, load: float, rates: dict[str, float]) -> list[Json]:
        """The results of a load from its undisturbed trials, else from the least disturbed one."""
        at = {way: rate * load for way, rate in rates.items()}
        made = list(self.attempts(at, f"{load:.0%}"))
        used = [one for one in made if not offered.descheduled(one)["count"]]
        least = min(made, key=lambda one: float(offered.descheduled(one)["longest_us"]))
        return [result(load, used or [least], way, len(made), self.programs.ring) for way in at]

    def all(self, rates: dict[str, float]) -> None:
        for load in self.options.loads:
            self.measurement.results += self.load(load, rates)
            self.measurement.save(self.stored)
            self.shown.advance(self.options.seconds, f"{load:.0%}")


def cost(config: Path, folder: Path, options: Options) -> Json | None:
    """Cycles per packet that measuring latency adds, by direction; None if unknown."""
    mixes = {"downstream": options.where.mix, "upstream": options.where.upstream_mix}
    found = {}
    for way in options.shares.of(1.0):
        out = folder / f"cost-{way}.json"
        command = [str(program("vcmts-bench")), "--config", str(config), "--direction", way]
        command += ["--mix", mixes[way], "--runs", str(COST_RUNS), "--json", str(out)]
        command += ["--milliseconds", str(COST_MILLISECONDS)]
        done = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return None
        one = json.loads(out.read_text(encoding="utf-8"))["results"][0]
        if "cycles_latency" not in one:
            return None
        found[way] = one["cycles_latency"]
    return found


def measure(
    config: Path, folder: Path, given: argparse.Namespace, stopped: Stopped, to: Measurement
) -> int:
    """Fills the measurement. Returns the exit status."""
    facts = facts_of(config)
    options = check_arguments(given, facts)
    mistaken = offered.check_mixes(options.where, config, options.shares)
    if mistaken != 0:
        return mistaken
    rates: dict[str, float] = {}
    if given.throughput:
        rates = stored_rates(given.throughput, options, facts, given.transport)
    to.configuration = facts["name"]
    to.more |= {"transport": given.transport, "trial_seconds": options.seconds}
    to.more |= {"point": options.where.name, "mix": options.where.mix}
    to.more |= {"upstream_mix": options.where.upstream_mix, "prove": options.prove}
    searching = 0 if rates else SEARCH_TRIALS * SEARCH_SECONDS
    with progress("bench latency", searching + len(options.loads) * options.seconds) as shown:
        shown.at(0, "starting")
        with transport.open_programs(config, facts, folder, given, stopped) as programs:
            to.host = programs.host
            bench = Bench(options, programs, to, given.json, shown)
            rates = rates or bench.searched_rates()
            if not rates:
                notify("found no rate without loss, so latencies cannot be measured")
                return 1
            shown.at(searching, "loads")
            to.more["zero_loss_gbps"] = {way: rate / 1e9 for way, rate in rates.items()}
            bench.all(rates)
        shown.at(shown.done, "cost of measuring")
        to.more["cost_of_measuring"] = cost(config, folder, options)
    to.complete = True
    return 0


def main(arguments: argparse.Namespace) -> int:
    to = Measurement("latency", ["vcmts", *sys.argv[1:]], "", {}, more={"cost_of_measuring": None})
    return bench_common.run_and_store(to, arguments, measure, show)
