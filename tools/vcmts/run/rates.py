# SPDX-License-Identifier: BSD-3-Clause
"""The options of the traffic: mixes and rates of both directions, shapes over time."""

import argparse
import re
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.paths import MistakeError

DEFAULT_RATE = 4e9  # bit/s; less if it exceeds DEFAULT_SHARE of the channels' capacity
DEFAULT_SHARE = 0.8
UPSTREAM_SHARE = 0.15  # upstream rate over downstream rate
MOST_SHARE = 10.0
SHARE = re.compile(r"(\d{1,4}(?:\.\d+)?)%")
MIXES = (
    "imix (or imix-2017, -2021, -2023), upstream-imix (or upstream-imix-2021, -2023, -70), a size "
    "(bytes of an Ethernet frame without CRC), largest, 84:15,256:10,1280:75 or @FILE"
)
SHAPES = (
    "bursts:on=1ms,off=9ms, bursts:period=10ms,duty=10%%, ramp, ramp:from=10%%,to=2Gbps,time=5s, "
    "steps:20%%,60%%,100%%,each=5s, points:0s=0%%,5s=100%%,9s=100%%,9s=20%%,10s=20%%, "
    "points:@FILE, day (24 hours in --duration), day:@FILE,time=5min"
)
RATE = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?)bps")
FACTORS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NO_TRAFFIC = "0"


@dataclass(frozen=True)
class Rates:
    """Rates as options of vcmts-traffic; NO_TRAFFIC: none."""

    downstream: str
    upstream: str


def used_directions(requested: Rates) -> list[str]:
    """The directions in which packets are sent."""
    both = {"downstream": requested.downstream, "upstream": requested.upstream}
    return [direction for direction, rate in both.items() if rate != NO_TRAFFIC]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--traffic",
        metavar="MIX",
        help=f"packet mix to the modems: {MIXES} (default: imix)",
    )
    parser.add_argument(
        "--replay",
        metavar="FILE",
        help="send the IP packets of this capture to the modems in a loop, instead of --traffic",
    )
    parser.add_argument(
        "--flows",
        metavar="NUMBER",
        help="number of flows (addresses, protocol, ports) to the modems (default: one per address "
        "and kind of packet)",
    )
    parser.add_argument(
        "--rate",
        help="rate to the modems of all service groups together, such as 2Gbps: the run fails if "
        "less than 90 %% of it is sent; max: as fast as possible; 0: none (default: 4Gbps, at most "
        "80 %% of the channels' capacity, or what the machine carries)",
    )
    parser.add_argument(
        "--upstream-traffic",
        metavar="MIX",
        default="upstream-imix",
        help="packet mix from the modems, as --traffic (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-rate",
        metavar="RATE",
        help="rate from the modems of all service groups together, as --rate (default: 15 %% of "
        "--rate, at most 80 %% of the upstream channels' capacity, or what the machine carries)",
    )
    parser.add_argument(
        "--upstream-share",
        metavar="SHARE",
        help="--upstream-rate as a share of --rate, such as 15%%",
    )
    parser.add_argument("--shape", help=f"rates over time: {SHAPES} (default: constant)")
    parser.add_argument(
        "--upstream-shape",
        metavar="SHAPE",
        help="shape of --upstream-rate (default: that of --shape)",
    )


def bits_per_second(text: str) -> float | None:
    found = RATE.fullmatch(text)
    return float(found[1]) * FACTORS[found[2]] if found else None


def upstream_rate_of(down: str, given: argparse.Namespace) -> str | None:
    """The upstream rate of the options; None: none was given. Raises MistakeError."""
    upstream: str | None = given.upstream_rate
    if given.upstream_share is None:
        return upstream
    if upstream is not None:
        raise MistakeError("--upstream-share and --upstream-rate exclude each other")
    found = SHARE.fullmatch(given.upstream_share)
    share = float(found[1]) / 100 if found else -1.0
    if not 0 <= share <= MOST_SHARE:
        raise MistakeError(f"--upstream-share: found {given.upstream_share}, allowed: 0% to 1000%")
    rate = bits_per_second(down)
    if rate is None:
        raise MistakeError(
            f"--upstream-share: needs a rate such as --rate 2Gbps, found --rate {down}"
        )
    return f"{round(share * rate)} bps" if round(share * rate) > 0 else NO_TRAFFIC


def asked(given: argparse.Namespace) -> frozenset[str]:
    """The directions whose rate the options set: the others get a default, which is no promise."""
    both = {"downstream": given.rate, "upstream": given.upstream_rate}
    if given.upstream_share is not None:
        both["upstream"] = given.rate
    return frozenset(direction for direction, rate in both.items() if rate is not None)


def rates_of(facts: Json, given: argparse.Namespace) -> Rates:
    """The rates from the options, else defaults within the channels' capacity. Raises MistakeError
    if both are 0; vcmts-traffic reports invalid rates."""
    default = min(DEFAULT_RATE, DEFAULT_SHARE * facts["capacity"])
    down = given.rate or f"{int(default)} bps"
    up = upstream_rate_of(down, given)
    if up is None:
        share = UPSTREAM_SHARE * (bits_per_second(down) or default)
        most = int(min(share, DEFAULT_SHARE * facts["upstream_capacity"]))
        up = f"{most} bps" if most > 0 else NO_TRAFFIC
    if down == up == NO_TRAFFIC:
        raise MistakeError("--rate: 0 in both directions leaves nothing to send")
    return Rates(down, up)
