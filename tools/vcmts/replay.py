# SPDX-License-Identifier: BSD-3-Clause
"""vcmts replay: passes captures through vcmtsd offline; same input, same output bytes."""

import argparse
import os
import sys

from vcmts import options
from vcmts.paths import program

FILES = {
    "network_in": "IP packets from the core network (downstream input)",
    "rphy_out": "DEPI frames to the R-PHY device (downstream output)",
    "rphy_in": "UEPI frames from the R-PHY device (upstream input)",
    "network_out": "IP packets to the core network (upstream output)",
    "control_out": "management messages of modems (upstream output)",
    "changes": "control requests, each with its time, as JSON (input)",
    "answers": "responses to the control requests, as JSON (output)",
}


def option(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="service group (YAML)")
    for name, text in FILES.items():
        parser.add_argument(option(name), metavar="FILE", help=text)
    options.add_json(parser, "all counters and drop reasons")
    parser.add_argument(
        "--then",
        metavar="TIME=FILE",
        action="append",
        default=[],
        help="reload FILE at this time after the first packet, as on SIGHUP; may be repeated",
    )


def main(arguments: argparse.Namespace) -> int:
    """Replaces this process by vcmtsd: it gets the signals, and gives messages and exit status."""
    command = [str(program("vcmtsd")), "replay", "--config", arguments.config]
    for name in (*FILES, "json"):
        value = getattr(arguments, name)
        if value is not None:
            command += [option(name), value]
    for change in arguments.then:
        command += ["--then", change]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)
