# SPDX-License-Identifier: BSD-3-Clause
"""vcmts replay: captures in, captures and counters out; same input, same bytes."""

import argparse
import subprocess

from vcmts.paths import MistakeError, program

FILES = {
    "network_in": "IP packets from the core network (downstream input)",
    "rphy_out": "DEPI frames to the R-PHY device (downstream output)",
    "rphy_in": "UEPI frames from the R-PHY device (upstream input)",
    "network_out": "IP packets to the core network (upstream output)",
    "stats": "every counter and drop reason, as JSON",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="service group (YAML)")
    for name, text in FILES.items():
        parser.add_argument("--" + name.replace("_", "-"), metavar="FILE", help=text)


def main(arguments: argparse.Namespace) -> int:
    if not (arguments.network_in or arguments.rphy_in):
        raise MistakeError("replay: nothing to replay; give --network-in or --rphy-in")
    command = [str(program("vcmtsd")), "replay", "--config", arguments.config]
    for name in FILES:
        value = getattr(arguments, name)
        if value is not None:
            command += ["--" + name.replace("_", "-"), value]
    return subprocess.run(command, check=False).returncode
