# SPDX-License-Identifier: BSD-3-Clause
"""What is sent: mixes, rates of both directions, and their shapes over time."""

import argparse
import re
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.paths import MistakeError

DEFAULT_RATE = 4e9  # bit/s, or this share of what the channels carry:
DEFAULT_SHARE = 0.8
UPSTREAM_SHARE = 0.15  # of the downstream's rate
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
NOTHING = "0"


@dataclass(frozen=True)
class Rates:
    """As vcmts-traffic takes them; NOTHING where nothing is sent."""

    downstream: str
    upstream: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--traffic",
        metavar="MIX",
        help=f"what is sent: {MIXES} (default: imix)",
    )
    parser.add_argument(
        "--replay",
        metavar="FILE",
        help="the IP packets of this capture to the modems, again and again, instead of --traffic",
    )
    parser.add_argument(
        "--flows",
        metavar="NUMBER",
        help="as many flows (addresses, protocol, ports) to the modems (default: one for each "
        "address and kind of packet)",
    )
    parser.add_argument(
        "--rate",
        help="of packets to the modems, such as 2Gbps, or max, or 0 for none; of all service "
        "groups together, as all rates (default: 4Gbps, or 80 %% of what the channels carry)",
    )
    parser.add_argument(
        "--upstream-traffic",
        metavar="MIX",
        default="upstream-imix",
        help="what the modems send, as --traffic (default: %(default)s)",
    )
    parser.add_argument(
        "--upstream-rate",
        metavar="RATE",
        help="of packets from the modems, or max, or 0 for none (default: 15 %% of --rate, at "
        "most 80 %% of what the upstream channels carry)",
    )
    parser.add_argument(
        "--upstream-share",
        metavar="SHARE",
        help="the same as a share of --rate, such as 15%%",
    )
    parser.add_argument("--shape", help=f"the rates over time: {SHAPES} (default: constant)")
    parser.add_argument(
        "--upstream-shape",
        metavar="SHAPE",
        help="that of --upstream-rate alone (default: the shares of --shape)",
    )


def bits_per_second(text: str) -> float | None:
    found = RATE.fullmatch(text)
    return float(found[1]) * FACTORS[found[2]] if found else None


def upstream_of(down: str, given: argparse.Namespace) -> str | None:
    """The upstream's rate where it was asked for, as such or as a share of the downstream's."""
    upstream: str | None = given.upstream_rate
    if given.upstream_share is None:
        return upstream
    if upstream is not None:
        raise MistakeError("--upstream-share: found --upstream-rate too, allowed: one of them")
    found = SHARE.fullmatch(given.upstream_share)
    share = float(found[1]) / 100 if found else -1.0
    if not 0 <= share <= MOST_SHARE:
        raise MistakeError(f"--upstream-share: found {given.upstream_share}, allowed: 0% to 1000%")
    rate = bits_per_second(down)
    if rate is None:
        raise MistakeError(f"--upstream-share: found --rate {down}, allowed: a rate, as 2Gbps")
    return f"{round(share * rate)} bps" if round(share * rate) > 0 else NOTHING


def rates_of(facts: Json, given: argparse.Namespace) -> Rates:
    """What was asked for, else what the channels carry with ease; mistakes are for vcmts-traffic
    to tell."""
    default = min(DEFAULT_RATE, DEFAULT_SHARE * facts["capacity"])
    down = given.rate or f"{int(default)} bps"
    up = upstream_of(down, given)
    if up is None:
        share = UPSTREAM_SHARE * (bits_per_second(down) or default)
        most = int(min(share, DEFAULT_SHARE * facts["upstream_capacity"]))
        up = f"{most} bps" if most > 0 else NOTHING
    if down == up == NOTHING:
        raise MistakeError("--rate: found 0 in both directions, allowed: in one of them")
    return Rates(down, up)
