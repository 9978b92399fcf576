# SPDX-License-Identifier: BSD-3-Clause
"""The downstream quality of service of the published profiles.

Published are eight queues per subscriber, four of them in use, with weighted round robin. The
weights are this project's; options add rates and active queue management.
"""

import argparse
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

from vcmts.paths import MistakeError

Aqm = Literal["tail-drop", "wred", "docsis-pie"]

WEIGHTS = (1, 2, 4, 8)  # of the active flows, repeated
RATE = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?) ?([kMGT]?)bps")
FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
LEAST_RATE, MOST_RATE = 10**3, 10**12


@dataclass(frozen=True)
class Qos:
    """QoS settings of each active flow besides its weight."""

    sustained_rate: str | None = None
    aqm: Aqm = "tail-drop"

    def keys(self, flow: int) -> str:
        """The YAML keys of a modem's active flow with this number, from 0."""
        keys = f"weight: {WEIGHTS[flow % len(WEIGHTS)]}"
        if self.sustained_rate is not None:
            keys += f", max_sustained_rate: {self.sustained_rate}"
        return keys if self.aqm == "tail-drop" else f"{keys}, aqm: {self.aqm}"


WEIGHTS_ALONE = Qos()


def checked_rate(text: str) -> str:
    """Returns the rate if vcmtsd's loader accepts it. Raises MistakeError."""
    match = RATE.fullmatch(text)
    bits = Decimal(match[1]) * FACTORS[match[2]] if match else Decimal(0)
    if bits != int(bits) or not LEAST_RATE <= bits <= MOST_RATE:
        raise MistakeError(
            f'--sustained-rate: found "{text}", allowed: a rate such as "10 Mbps", 1 kbps to 1 Tbps'
        )
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sustained-rate",
        metavar="RATE",
        help='maximum sustained traffic rate of each flow, such as "10 Mbps" (default: no limit)',
    )
    parser.add_argument(
        "--aqm",
        choices=get_args(Aqm),
        default="tail-drop",
        help="active queue management of each flow (default: %(default)s)",
    )


def qos_of(arguments: argparse.Namespace) -> Qos:
    rate: str | None = arguments.sustained_rate
    return Qos(None if rate is None else checked_rate(rate), arguments.aqm)
