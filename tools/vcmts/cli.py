# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one module a command, imported when the command is called.

A command that needs several modules is a package, whose module `command` is called. It offers
`add_arguments(parser)` and `main(arguments) -> int`. Exit status: 0 when all is well, 1 when a
packet was lost or corrupted without being asked for, 2 for a mistake in arguments or configuration.
"""

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from vcmts.paths import MistakeError, complain, missing

COMMANDS = {
    "profile": "write a published test configuration by its name",
    "validate": "check a configuration: every error with file, line and what is allowed",
    "layout": "which core runs what, held against the machine; and which layout fits",
    "convert": "values of the reference's Helm charts as those of ours",
    "host": "what this machine is and lacks for service groups: checked, planned, applied, undone",
    "replay": "run a capture through the data plane, offline and deterministic",
    "run": "carry traffic through a service group, both ways, and check every packet",
    "bench": "measure: cycles by stage, throughput without loss, latency; or all, with a report",
    "size": "cores, memory, ports and servers for service groups, from a measured profile",
    "power": "watts of a described machine over a day, modelled: with and without saving",
    "report": "what was measured as one page that stands alone, as Markdown and as JSON",
    "compare": "two runs side by side: differences, and how sure they are",
    "impairments": "impair the upstream in every way: expected and counted, side by side",
    "simulate": "TCP downstream, or modems upstream, through the schedulers: delay, use, loss",
    "show": "what a service group's configuration holds, on one screen",
    "top": "a data plane in service, live in the terminal: groups, stages, drops, cores, modems",
    "telemetry": "what a data plane in service does now; have it read its file again",
    "capture": "packets of a data plane in service, at any stage and on both sides of encryption",
    "monitor": "a Prometheus that watches the data planes in service here, with graphs and alerts",
    "pod": "the first process of a container: makes the configuration, runs vcmtsd, drains it",
    "control": "a data plane in service: asked and changed by requests on its control socket",
}
# Packages beside this one that have commands; all others are here.
BESIDE = {"host": "host", "power": "planning.power", "size": "planning.size"}
EPILOG = """examples:
  vcmts run --profile 6ofdm-0sc-qam_300cms_aes --duration 10s
  vcmts profile 6ofdm-0sc-qam_300cms_aes > sg.yaml
  vcmts validate sg.yaml
  vcmts replay --config sg.yaml --network-in ip.pcap --rphy-out depi.pcap --stats stats.json
  vcmts replay --config sg.yaml --rphy-in uepi.pcap --network-out ip.pcap --control-out mmm.pcap
  vcmts bench all
  vcmts size --machine bench-results/bench-pipeline.json --cores-per-socket 32 --groups 100x6ofdm

exit status: 0 all is well, 1 packets were lost or corrupted, 2 a mistake in arguments
or configuration. `vcmts COMMAND --help` says more of each command.
"""


def load(command: str) -> ModuleType:
    family = BESIDE.get(command, f"vcmts.{command}")
    package = (Path(__file__).parents[1] / family.replace(".", "/")).is_dir()
    name = f"{family}.command" if package else family
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise MistakeError(f"{command}: {missing(error.name, 'run')}") from error
        raise MistakeError(f"{command}: not here ({name} is missing)") from error


def joined(arguments: Sequence[str]) -> list[str]:
    """`--rate -5Mbps` as `--rate=-5Mbps`: no option begins with a digit, and what has the value to
    judge says more of it than that it is missing."""
    words: list[str] = []
    for word in arguments:
        if re.match(r"-\d", word) and words and re.fullmatch(r"--[a-z-]+", words[-1]):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def parser_for(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of all commands, where only the one that is asked for has its arguments."""
    parser = argparse.ArgumentParser(
        prog="vcmts",
        description="OpenVCMTS: a DOCSIS 3.1 data plane, and the traffic that proves it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == asked:
            load(name).add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words = joined(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = parser_for(words).parse_args(words)
        status: int = load(parsed.command).main(parsed)
        return status
    except MistakeError as mistake:
        complain(str(mistake))
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        complain(f"{error.filename or 'output'}: {error.strerror}")
        return 2
