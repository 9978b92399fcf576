# SPDX-License-Identifier: BSD-3-Clause
"""The command line `vcmts COMMAND`: one module per command, imported only when it is called.

The module, or the module `command` of a package, has `add_arguments(parser)` and `main(arguments)
-> int`. Exit status: 0 for success, 1 for no or refused, 2 for an error in arguments or
configuration (docs/command-line.md).
"""

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from vcmts import options, output, version
from vcmts.child import INTERRUPTED, STOPPED
from vcmts.paths import MistakeError, RefusalError, missing_package, notify
from vcmts.streams import NoReaderError, guarded_streams

COMMANDS = {
    "init": "write a short configuration to start from, with a comment on each key",
    "profile": "write a published test configuration by its name",
    "validate": "check a configuration file: report each error with its line and what is allowed",
    "layout": "show which core runs which thread, check it against the machine, propose a layout",
    "convert": "convert values of the reference's Helm charts to values of the chart vcmts",
    "host": "check and prepare this machine for service groups: check, plan, apply, undo",
    "replay": "run a capture through the data plane, offline and deterministic",
    "run": "send traffic through a service group in both directions and check every packet",
    "bench": "measure cycles per stage, throughput without loss, latency; or all, with a report",
    "size": "calculate cores, memory, ports and servers for service groups, from measurements",
    "power": "model the watts of a described machine over a day, with and without power saving",
    "report": "write measurements as one self-contained HTML page, as Markdown and as JSON",
    "compare": "compare two measurements: differences, and their statistical significance",
    "impairments": "apply each upstream impairment and compare expected with counted drops",
    "simulate": "simulate TCP downstream or modems upstream with the real schedulers",
    "show": "summarize the configuration of a service group or server on one screen",
    "top": "show a running data plane live: groups, stages, drops, cores, modems",
    "telemetry": "print counters of a running data plane, or have it reload its configuration",
    "capture": "capture packets of a running data plane, at any stage, before or after encryption",
    "monitor": "start a Prometheus that scrapes the vcmtsd of this machine, with graphs and alerts",
    "pod": "first process of a container: writes the configuration, runs vcmtsd, drains it",
    "control": "send requests to the control socket of a running data plane",
    "shell": "show and change a running data plane at a prompt with completion",
    "help": "show the manual page of a command",
    "completion": "print a script that completes commands and options in bash, zsh or fish",
}
# Commands in other packages or modules than vcmts.COMMAND.
OTHER_PACKAGES = {
    "completion": "vcmts.manual.completion",
    "help": "vcmts.manual.help",
    "host": "host",
    "power": "planning.power",
    "size": "planning.size",
}
# Commands that print until they are stopped: a closed pipe ends them.
ENDLESS = frozenset(("capture", "control", "monitor", "shell", "top"))
EPILOG = """examples:
  vcmts run --profile 6ofdm-0sc-qam_300cms_aes --duration 10s
  vcmts profile 6ofdm-0sc-qam_300cms_aes > sg.yaml
  vcmts validate sg.yaml
  vcmts replay --config sg.yaml --network-in ip.pcap --rphy-out depi.pcap
  vcmts bench all
  vcmts size --machine bench-results/bench-pipeline.json --groups 100x6ofdm

exit status: 0 success; 1 no, or refused, such as lost packets or a request that
the server does not grant; 2 an error in arguments, configuration or files.
`vcmts COMMAND --help` describes the options of a command, `vcmts --version`
prints version, commit, libraries and build.
"""


def load_command(command: str) -> ModuleType:
    family = OTHER_PACKAGES.get(command, f"vcmts.{command}")
    package = (Path(__file__).parents[1] / family.replace(".", "/")).is_dir()
    name = f"{family}.command" if package else family
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise MistakeError(f"{command}: {missing_package(error.name, 'run')}") from error
        raise MistakeError(f"{command}: not installed ({name} is missing)") from error


class CommandParser(argparse.ArgumentParser):
    """Reports unknown options with the usage of the command that does not have them, which argparse
    does with the usage of all commands."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self.unknown_text(unknown[0]))
        return found, unknown

    def unknown_text(self, word: str) -> str:
        option = word.partition("=")[0]
        if not option.startswith("-"):
            hint = "; the file of --json has the suffix .json or a /"
            return f"unexpected argument {word}" + (
                hint if "--json" in self._option_string_actions else ""
            )
        names = [name for name in self._option_string_actions if name.startswith("--")]
        close = difflib.get_close_matches(option, names, n=1, cutoff=0.7)
        return f"unknown option {option}" + (f"; did you mean {close[0]}?" if close else "")


def make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of all commands. Only the command in `arguments` gets its options."""
    parser = CommandParser(
        prog="vcmts",
        description="OpenVCMTS: a DOCSIS 3.1 data plane, and a traffic program that tests it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="store_true", help="print version, commit, libraries and build"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    selected = next((word for word in arguments if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == selected:
            load_command(name).add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words = options.join_values(sys.argv[1:] if arguments is None else arguments)
    try:
        with guarded_streams(ends=bool(ENDLESS.intersection(words[:1]))):
            return run_command(words)
    except NoReaderError:
        return 0
    except OSError as error:
        notify(f"{error.filename or 'output'}: {error.strerror}")
        return 2


def run_command(words: Sequence[str]) -> int:
    """Runs the command of a command line, and reports its errors. Returns the exit status."""
    try:
        if "--version" in words:  # also `vcmts COMMAND --version`
            version.show()
            return 0
        parsed = make_parser(words).parse_args(words)
        with output.text_beside_json(getattr(parsed, "json", None)):
            status: int = load_command(parsed.command).main(parsed)
        return status
    except MistakeError as mistake:
        notify(str(mistake))
        return 2
    except RefusalError as refusal:
        notify(str(refusal))
        return refusal.status
    except KeyboardInterrupt:
        notify(STOPPED)
        return INTERRUPTED
    except OSError as error:
        notify(f"{error.filename or 'output'}: {error.strerror}")
        return 2
