# SPDX-License-Identifier: BSD-3-Clause
"""vcmts validate: checks configuration files with `vcmtsd check`, the data plane's own loader."""

import argparse
import subprocess

from vcmts.paths import program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", nargs="+", metavar="FILE", help="configuration of a service group or server"
    )


def main(arguments: argparse.Namespace) -> int:
    vcmtsd = program("vcmtsd")
    status = 0
    for config in arguments.config:
        if subprocess.run([vcmtsd, "check", "--config", config], check=False).returncode != 0:
            status = 2
    return status
