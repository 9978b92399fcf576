# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts bench power`: options, search for the rate without loss, and the parts."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from vcmts import configuration
from vcmts.bench import common as bench_common
from vcmts.bench import offered
from vcmts.bench.power import loaded, steps, unloaded
from vcmts.bench.power import results as power_results
from vcmts.bench.power.measured import PROVE, Bench, Options
from vcmts.bench.power.plane import KINDS, POLL, Plane, open_plane
from vcmts.bench.search import Plan
from vcmts.bench.throughput_results import searched_rates
from vcmts.bench.transport import Programs
from vcmts.child import Stopped
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify
from vcmts.power.policy import down_seconds
from vcmts.progress import Progress, progress
from vcmts.results import Measurement
from vcmts.run.plane import facts_of
from vcmts.run.rates import UPSTREAM_SHARE, bits_per_second

STORED = "bench-power.json"
PARTS: dict[str, Callable[[Bench], None]] = {
    "steps": steps.measure,
    "latency": loaded.latency,
    "cost": loaded.cost,
    "paused": unloaded.paused,
    "cpu": unloaded.cpu,
    "first": unloaded.first,
}
POLICIES = ("balanced", "saving")
DRIVERS = ("auto", "cpufreq", "simulated")
SMALLEST_RING, LARGEST_RING = 64, 16384
# Parameters of the short, coarse search without --rate.
SEARCH_SECONDS, SEARCH_RESOLUTION, SEARCH_CONFIRMATIONS, SEARCH_TRIALS = 0.25, 0.04, 2, 20

GUESS = 0.8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(direction="both", upstream_share=UPSTREAM_SHARE)
    configuration.add_arguments(parser)
    bench_common.add_only(parser, [*PARTS])
    parser.add_argument(
        "--steps",
        type=int,
        default=1000,
        metavar="N",
        help="steps from idle to a load, per kind of pause (default: %(default)s)",
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        default="saving",
        help="policy of the governor during steps (default: %(default)s)",
    )
    parser.add_argument(
        "--driver",
        choices=DRIVERS,
        default="simulated",
        help="driver that changes clock frequencies; simulated: slows workers down instead "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--ring",
        type=int,
        default=1024,
        metavar="PACKETS",
        help="size of a wire's rings, a power of two (default: %(default)s, as for many NICs)",
    )
    parser.add_argument(
        "--rate",
        help="rate without loss of both directions together, such as 4Gbps (default: search it)",
    )
    parser.add_argument("--core", type=int, help="core of the traffic (default: a free one)")
    parser.add_argument(
        "--trial-seconds",
        type=float,
        default=0.25,
        metavar="SECONDS",
        help="duration of a trial at a constant load (default: %(default)s)",
    )
    parser.add_argument(
        "--runs", type=int, default=5, metavar="N", help="runs of each (default: %(default)s)"
    )
    bench_common.add_stored(parser, STORED)


def check_arguments(given: argparse.Namespace, facts: Json) -> Options:
    ring = given.ring
    if not SMALLEST_RING <= ring <= LARGEST_RING or ring & (ring - 1):
        allowed = f"a power of two from {SMALLEST_RING} to {LARGEST_RING}"
        raise MistakeError(f"--ring: found {ring}, allowed: {allowed}")
    return Options(
        where=offered.make_point("imix"),
        shares=offered.make_split(given, facts),
        parts=tuple(bench_common.selected_parts(PARTS, given)),
        steps=int(offered.check_range("--steps", given.steps, 1, 1e6)),
        runs=int(offered.check_range("--runs", given.runs, 1, 101)),
        seconds=offered.check_range("--trial-seconds", given.trial_seconds, 0.01, 60),
        policy=given.policy,
    )


def parse_rates(text: str, options: Options) -> dict[str, float]:
    rate = bits_per_second(text)
    if not rate:
        raise MistakeError(f"--rate: found {text}, allowed: a rate such as 4Gbps")
    return options.shares.of(rate)


def guessed_rate(plane: Plane, options: Options) -> float:
    """A guess of the rate of both directions: the maximum of one direction, times GUESS."""
    way = next(iter(options.shares.of(1.0)))
    request = offered.request(options.where, {}, SEARCH_SECONDS, PROVE)
    answer = plane.ask(request | {offered.RATES[way]: "max"})
    return float(answer[way]["gbps"]) * 1e9 * GUESS


def polling_rates(plane: Plane, options: Options, facts: Json, shown: Progress) -> dict[str, float]:
    """Searches the rate without loss, polling and with a wire that drops; empty if none passed."""

    def ask(request: Json) -> Json:
        return plane.ask(request | {"drop": True})

    programs = Programs(ask, plane.host, plane.ring)
    trials = offered.Trials(programs, options.where, options.shares, SEARCH_SECONDS, PROVE)
    top = offered.highest_rate(options.shares, facts)
    plan = Plan(top, 0.0, SEARCH_RESOLUTION, SEARCH_CONFIRMATIONS)
    return searched_rates(trials, plan, shown, SEARCH_TRIALS, guessed_rate(plane, options))


def seconds(options: Options, kinds: Sequence[str]) -> float:
    """The estimated duration of the parts."""
    pairs = 2 * options.runs * options.seconds * (len(kinds) - 1)
    each = {
        "steps": steps.seconds(len(kinds), options.steps, options.policy),
        "latency": len(loaded.LOADS) * pairs,
        "cost": pairs,
        "paused": pairs / 2,
        "cpu": len(kinds) * options.runs * unloaded.idle_seconds(options.seconds),
        "first": unloaded.first_seconds(kinds, options.runs),
    }
    return sum(each[part] for part in options.parts)


def settings_of(plane: Plane, kinds: tuple[str, ...], given: argparse.Namespace) -> Json:
    """Settings to store with the results; those of the governor with the policy of steps."""
    plane.set(idle=POLL, policy=given.policy)
    power = plane.get()
    plane.set(policy="none")
    return {
        "ring": plane.ring,
        "kinds": list(kinds),
        "driver": power["driver"],
        "policy": given.policy,
        "step_seconds": {"idle": down_seconds(given.policy), "load": steps.LOAD_SECONDS},
        "power": power,
    }


def measure(
    config: Path, folder: Path, given: argparse.Namespace, stopped: Stopped, to: Measurement
) -> int:
    """Fills the measurement. Returns the exit status."""
    facts = facts_of(config)
    options = check_arguments(given, facts)
    rates = parse_rates(given.rate, options) if given.rate else {}
    to.configuration = facts["name"]
    searching = 0.0 if rates else SEARCH_TRIALS * SEARCH_SECONDS
    with progress("bench power", searching + seconds(options, KINDS)) as shown:
        shown.at(0, "starting")
        with open_plane(config, facts, folder, given, stopped) as plane:
            to.host = plane.host
            kinds = tuple(kind for kind in KINDS if plane.select_pause(kind))
            shown.total = searching + seconds(options, kinds)
            to.more |= settings_of(plane, kinds, given)
            rates = rates or polling_rates(plane, options, facts, shown)
            if not rates:
                notify("found no rate without loss, so power cannot be measured")
                return 1
            to.more["zero_loss_gbps"] = {way: rate / 1e9 for way, rate in rates.items()}
            shown.at(searching, "parts")
            bench = Bench(options, plane, kinds, rates, to, given.json, shown)
            for part in options.parts:
                PARTS[part](bench)
    to.complete = True
    return 0


def main(arguments: argparse.Namespace) -> int:
    to = Measurement("power", bench_common.command_line(), "", {})
    return bench_common.run_and_store(
        to, arguments, measure, lambda found, console: power_results.show(found.as_json(), console)
    )
