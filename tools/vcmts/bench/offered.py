# SPDX-License-Identifier: BSD-3-Clause
"""The offered load of trials: a mix per direction, and both rates in a fixed ratio."""

import argparse
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from vcmts.bench.transport import Programs
from vcmts.bench.verdict import Outcome, evaluate
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import MistakeError, program
from vcmts.results import without_local_paths
from vcmts.run.rates import UPSTREAM_SHARE

# Keys of a request, by direction.
RATES = {"downstream": "rate", "upstream": "upstream_rate"}
# Downstream and upstream mix of vcmts-traffic by paper. All papers have the same downstream mix;
# that of 2017 has no upstream, so that of 2021 is used.
MIXES = {
    "imix": ("imix", "upstream-imix"),
    "imix-2017": ("imix", "upstream-imix"),
    "imix-2021": ("imix", "upstream-imix"),
    "imix-2023": ("imix", "upstream-imix-70"),
}
# Pauses after disturbed trials, in trial lengths: the first, doubled each time, and the longest.
# MAX_PAUSE_SECONDS limits both.
FIRST_PAUSE, LONGEST_PAUSE, MAX_PAUSE_SECONDS = 0.25, 4.0, 3.0
MAX_PROVE = 1024  # the largest N of --prove 1/N


@dataclass(frozen=True)
class Point:
    """A measured point: a mix, or a size in bytes (Ethernet frame without CRC)."""

    name: str
    mix: str
    upstream_mix: str


def make_point(name: str, upstream_mix: str | None = None) -> Point:
    mix, up = MIXES.get(name, (name, name))
    return Point(without_local_paths(["", name])[1], mix, upstream_mix or up)


@dataclass(frozen=True)
class Split:
    """The shares of the directions in their total rate. Their sum is 1; 0: not used."""

    downstream: float
    upstream: float

    def of(self, rate: float) -> dict[str, float]:
        """The rates of the used directions for a total rate, in the same unit."""
        shares = {"downstream": self.downstream, "upstream": self.upstream}
        return {way: rate * share for way, share in shares.items() if share}

    @property
    def ratio(self) -> float | None:
        """The upstream rate over the downstream rate; None without downstream."""
        return self.upstream / self.downstream if self.downstream else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--direction",
        choices=["both", *DIRECTIONS],
        default="both",
        help="measure both directions at once, or one (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-share",
        type=float,
        default=UPSTREAM_SHARE,
        metavar="SHARE",
        help="upstream rate over downstream rate (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-mix",
        metavar="MIX",
        help="packet mix from the modems (default: that of the same paper, or the same size)",
    )
    parser.add_argument(
        "--prove",
        default="1/16",
        metavar="SHARE",
        help="share of downstream packets to decrypt and compare: 1, 1/2, 1/3 .. 1/1024; order and "
        "loss are checked for all (default: %(default)s)",
    )


def check_range(option: str, value: float, least: float, most: float) -> float:
    """Returns the value, or raises MistakeError."""
    if not least <= value <= most:
        raise MistakeError(f"{option}: found {value:g}, allowed: {least:g} to {most:g}")
    return value


def parse_prove(text: str) -> float:
    """Parses the share of packets to compare: 1 / N. Raises MistakeError."""
    with suppress(ValueError, ZeroDivisionError):
        share = Fraction(text)
        if 1 <= (every := round(1 / share)) <= MAX_PROVE and abs(share * every - 1) < 1e-3:
            return 1 / every
    raise MistakeError(f"--prove: found {text}, allowed: 1, 1/2, 1/3 .. 1/{MAX_PROVE}")


def make_split(given: argparse.Namespace, facts: Json) -> Split:
    """The shares by --direction and --upstream-share. `facts`: of run.plane.facts_of().

    Without upstream channels, `both` is downstream only, and `upstream` raises MistakeError. So
    does a share out of range.
    """
    share = check_range("--upstream-share", given.upstream_share, 0.001, 1000)
    if given.direction == "downstream":
        return Split(1.0, 0.0)
    if facts["upstream_capacity"] == 0:
        if given.direction == "upstream":
            raise MistakeError("--direction upstream: the configuration has no upstream channels")
        return Split(1.0, 0.0)
    if given.direction == "upstream":
        return Split(0.0, 1.0)
    return Split(1 / (1 + share), share / (1 + share))


def highest_rate(shares: Split, facts: Json) -> float:
    """The highest total rate, bit/s, that the channels' capacity allows. `facts`: of
    run.plane.facts_of()."""
    tops = []
    if shares.downstream:
        tops.append(facts["capacity"] / shares.downstream)
    if shares.upstream:
        tops.append(facts["upstream_capacity"] / shares.upstream)
    return float(min(tops))


def check_mixes(where: Point, config: Path, shares: Split) -> int:
    """Checks the mixes with vcmts-traffic, which prints errors. Returns its exit status."""
    command = [str(program("vcmts-traffic")), "--check", "--config", str(config)]
    command += ["--network", "net_null0", "--rphy", "net_null1", "--mix", where.mix]
    if shares.upstream:
        command += ["--upstream-mix", where.upstream_mix, "--upstream-rate", "max"]
    checked = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    said = checked.stderr.replace("vcmts-traffic: --upstream-mix", "vcmts: --upstream-mix")
    said = said.replace("vcmts-traffic: --mix", "vcmts: --point")
    print(said, end="", file=sys.stderr)
    return checked.returncode


def request(where: Point, rates: dict[str, float], seconds: float, prove: float) -> Json:
    """The request for a trial without measuring latency. `rates`: bit/s by direction."""
    return {
        "seconds": seconds,
        **{key: round(rates.get(way, 0.0)) for way, key in RATES.items()},
        "mix": where.mix,
        "upstream_mix": where.upstream_mix,
        "latency": False,
        "prove": prove,
    }


def received_gbps(answer: Json) -> dict[str, float]:
    """The received Gbps by used direction."""
    return {way: answer[way]["gbps"] for way in DIRECTIONS if answer["trial"][RATES[way]]}


def descheduled(answer: Json) -> Json:
    """The gaps of all polling threads: their number, and the longest. Both directions of the
    traffic program run in one thread, so only the higher count of both is added."""
    ways = [
        answer[way]["descheduled"] for way in DIRECTIONS if answer.get(way, {}).get("descheduled")
    ]
    workers = [worker["descheduled"] for worker in answer.get("workers", [])]
    most = max((gap["count"] for gap in ways), default=0)
    return {
        "count": most + sum(gap["count"] for gap in workers),
        "longest_us": max((gap["longest_us"] for gap in ways + workers), default=0.0),
    }


def trial_result(outcome: Outcome) -> Json:
    """A trial as results have it. `lost` includes corrupted packets."""
    answer = outcome.answer
    used = [way for way in DIRECTIONS if answer["trial"][RATES[way]]]
    return {
        "asked_gbps": {way: answer["trial"][RATES[way]] / 1e9 for way in used},
        "gbps": received_gbps(answer),
        "verdict": outcome.verdict,
        "bound_by": outcome.bound_by,
        "why": outcome.why,
        "sent": {way: answer[way]["sent"] for way in used},
        "proven": {way: answer[way]["proven"] for way in used},
        "lost": {way: answer[way]["lost"] + answer[way]["corrupted"] for way in used},
        "descheduled": descheduled(answer),
        "busy_share": [worker["busy_share"] for worker in answer.get("workers", [])],
        "traffic": answer.get("traffic"),
        "drops": {way: found for way, found in answer.get("drops", {}).items() if found},
    }


@dataclass
class Trials:
    """Makes the trials of one point. After a disturbed trial (verdict.py) the next one starts
    later, each time by more, as other work on the machine often lasts for seconds."""

    programs: Programs
    where: Point
    shares: Split
    seconds: float
    prove: float
    accepted_loss: float = 0.0  # share of the packets sent, per direction
    made: list[tuple[float, Outcome]] = field(default_factory=list)
    pause: float = 0.0  # before the next trial, in trial lengths

    def __call__(self, rate: float) -> Outcome:
        """Makes a trial at `rate`, the sum of both directions in bit/s. Records it in `made`."""
        time.sleep(min(self.pause * self.seconds, MAX_PAUSE_SECONDS))
        trial_request = request(self.where, self.shares.of(rate), self.seconds, self.prove)
        outcome = evaluate(self.programs.ask(trial_request), self.accepted_loss, self.programs.ring)
        again = outcome.verdict == "disturbed"
        self.pause = min(LONGEST_PAUSE, 2 * self.pause or FIRST_PAUSE) if again else 0.0
        self.made.append((rate, outcome))
        return outcome
