# SPDX-License-Identifier: BSD-3-Clause
"""vcmts replay: captures in, captures and counters out; same input, same bytes."""

import argparse
import os
import sys

from vcmts.paths import MistakeError, program

FILES = {
    "network_in": "IP packets from the core network (downstream input)",
    "rphy_out": "DEPI frames to the R-PHY device (downstream output)",
    "stats": "every counter and drop reason, as JSON",
}
NOT_YET = "upstream is not there yet (docs/limits.md)"
UPSTREAM = {
    "rphy_in": "UEPI frames from the R-PHY device",
    "network_out": "IP packets to the core network",
}


def option(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="service group (YAML)")
    for name, text in FILES.items():
        parser.add_argument(option(name), metavar="FILE", help=text)
    for name, text in UPSTREAM.items():
        parser.add_argument(option(name), metavar="FILE", help=f"{text}: {NOT_YET}")


def check(arguments: argparse.Namespace) -> None:
    for name in UPSTREAM:
        if getattr(arguments, name) is not None:
            raise MistakeError(f"replay: {option(name)}: {NOT_YET}")
    if arguments.network_in is None:
        raise MistakeError("replay: nothing to replay; give --network-in")
    if arguments.rphy_out is None:
        raise MistakeError("replay: nowhere to write the DEPI frames; give --rphy-out")


def main(arguments: argparse.Namespace) -> int:
    """Becomes vcmtsd, so that signals reach it and the exit status is its own."""
    check(arguments)
    command = [str(program("vcmtsd")), "replay", "--config", arguments.config]
    for name in FILES:
        value = getattr(arguments, name)
        if value is not None:
            command += [option(name), value]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)
