# SPDX-License-Identifier: BSD-3-Clause
"""What trials offer: a mix a direction, and the rates of both in a fixed ratio."""

import argparse
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from vcmts.bench.transport import Programs
from vcmts.bench.verdict import Outcome, judge
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import MistakeError, program
from vcmts.results import shareable
from vcmts.run.rates import UPSTREAM_SHARE

RATES = {"downstream": "rate", "upstream": "upstream_rate"}
# The mixes by the papers that have them: downstream, upstream. That of 2017 has no upstream.
MIXES = {
    "imix": ("imix", "upstream-imix"),
    "imix-2017": ("imix", "upstream-imix"),
    "imix-2021": ("imix", "upstream-imix"),
    "imix-2023": ("imix", "upstream-imix-70"),
}
FIRST_PAUSE, LONGEST_PAUSE, PAUSE_SECONDS = 0.25, 4.0, 3.0  # of the trial; and s, at most
PROVE_MOST = 1024  # one packet in so many


@dataclass(frozen=True)
class Point:
    """What is measured by itself: a mix, or a size in bytes (Ethernet frames without CRC)."""

    name: str
    mix: str
    upstream_mix: str


def point(name: str, upstream_mix: str | None = None) -> Point:
    mix, up = MIXES.get(name, (name, name))
    return Point(shareable(["", name])[1], mix, upstream_mix or up)


@dataclass(frozen=True)
class Split:
    """How a rate, which is that of both directions together, is shared."""

    downstream: float
    upstream: float

    def of(self, rate: float) -> dict[str, float]:
        """In bits per second, of the directions in use."""
        shares = {"downstream": self.downstream, "upstream": self.upstream}
        return {way: rate * share for way, share in shares.items() if share}

    @property
    def ratio(self) -> float | None:
        """The upstream's rate over the downstream's; None where that is off."""
        return self.upstream / self.downstream if self.downstream else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--direction",
        choices=["both", *DIRECTIONS],
        default="both",
        help="both at once, or one alone (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-share",
        type=float,
        default=UPSTREAM_SHARE,
        metavar="SHARE",
        help="rate of the upstream, of the downstream's (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-mix",
        metavar="MIX",
        help="what modems send at every point (default: that of the mix; at a size, this size)",
    )
    parser.add_argument(
        "--prove",
        default="1/16",
        metavar="SHARE",
        help="of the downstream's packets to decrypt and compare: 1, 1/2, 1/3 .. 1/1024; order and "
        "loss are seen of all (default: %(default)s)",
    )


def positive(option: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise MistakeError(f"{option}: found {value:g}, allowed: {least:g} to {most:g}")
    return value


def prove(text: str) -> float:
    """One of so many packets."""
    with suppress(ValueError, ZeroDivisionError):
        share = Fraction(text)
        if 1 <= (every := round(1 / share)) <= PROVE_MOST and abs(share * every - 1) < 1e-3:
            return 1 / every
    raise MistakeError(f"--prove: found {text}, allowed: 1, 1/2, 1/3 .. 1/{PROVE_MOST}")


def split(given: argparse.Namespace, facts: Json) -> Split:
    share = positive("--upstream-share", given.upstream_share, 0.001, 1000)
    if given.direction == "downstream":
        return Split(1.0, 0.0)
    if facts["upstream_capacity"] == 0:
        if given.direction == "upstream":
            raise MistakeError("--direction upstream: the configuration has no upstream channels")
        return Split(1.0, 0.0)
    if given.direction == "upstream":
        return Split(0.0, 1.0)
    return Split(1 / (1 + share), share / (1 + share))


def highest(shares: Split, facts: Json) -> float:
    """What the channels carry: the rate in bit/s of both directions to begin with."""
    tops = []
    if shares.downstream:
        tops.append(facts["capacity"] / shares.downstream)
    if shares.upstream:
        tops.append(facts["upstream_capacity"] / shares.upstream)
    return float(min(tops))


def refused(where: Point, config: Path, shares: Split) -> int:
    """Whether a mix is none, or not for this configuration; vcmts-traffic says why. Returns its
    exit status, 0 for no mistake."""
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
    """For a trial without latencies."""
    return {
        "seconds": seconds,
        **{key: round(rates.get(way, 0.0)) for way, key in RATES.items()},
        "mix": where.mix,
        "upstream_mix": where.upstream_mix,
        "latency": False,
        "prove": prove,
    }


def carried_gbps(answer: Json) -> dict[str, float]:
    """What came through, by direction in use."""
    return {way: answer[way]["gbps"] for way in DIRECTIONS if answer["trial"][RATES[way]]}


def descheduled(answer: Json) -> Json:
    """Of all threads that poll: how often, and the longest time. Both directions of the traffic are
    one thread."""
    ways = [
        answer[way]["descheduled"] for way in DIRECTIONS if answer.get(way, {}).get("descheduled")
    ]
    workers = [worker["descheduled"] for worker in answer.get("workers", [])]
    most = max((gap["count"] for gap in ways), default=0)
    return {
        "count": most + sum(gap["count"] for gap in workers),
        "longest_us": max((gap["longest_us"] for gap in ways + workers), default=0.0),
    }


def told(outcome: Outcome) -> Json:
    """A trial, as results have it."""
    answer = outcome.answer
    used = [way for way in DIRECTIONS if answer["trial"][RATES[way]]]
    return {
        "asked_gbps": {way: answer["trial"][RATES[way]] / 1e9 for way in used},
        "gbps": carried_gbps(answer),
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
    """The trials of one point, at rates that are shared in one way.

    Whatever else runs on the machine goes on for seconds: after each disturbed trial in a row comes
    a longer pause.
    """

    programs: Programs
    where: Point
    shares: Split
    seconds: float
    prove: float
    accepted_loss: float = 0.0
    made: list[tuple[float, Outcome]] = field(default_factory=list)
    pause: float = 0.0  # before the next trial, of its length

    def __call__(self, rate: float) -> Outcome:
        """A trial at a rate of both directions in bit/s, which is also written down."""
        time.sleep(min(self.pause * self.seconds, PAUSE_SECONDS))
        asked = request(self.where, self.shares.of(rate), self.seconds, self.prove)
        outcome = judge(self.programs.ask(asked), self.accepted_loss, self.programs.ring)
        again = outcome.verdict == "disturbed"
        self.pause = min(LONGEST_PAUSE, 2 * self.pause or FIRST_PAUSE) if again else 0.0
        self.made.append((rate, outcome))
        return outcome
