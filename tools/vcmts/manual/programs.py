# SPDX-License-Identifier: BSD-3-Clause
"""Reads the commands of all programs: the C programs' from --help, the tool's from its parsers."""

import argparse
import os
import subprocess
from pathlib import Path

from vcmts import cli
from vcmts.manual.commands import Command, parse_command_list, parse_help, parse_parser

UNBROKEN = "rmargin=9999,opt-doc-col=60"
SERVES = (
    "Serves the service groups of a CMTS: IP packets of a network port to DEPI, and UEPI to IP."
)


def help_of(program: Path, *words: str) -> str:
    """The output of --help; each text is one line."""
    done = subprocess.run(
        [program, *words, "--help"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"ARGP_HELP_FMT": UNBROKEN, "LC_ALL": "C"},
    )
    return done.stdout


def data_plane(program: Path) -> Command:
    listed = help_of(program)
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    own = {name: help_of(program, name) for name in names if name not in ("schema", "describe")}
    found = parse_command_list("vcmtsd", listed, own | {"schema": "", "describe": ""})
    return Command("vcmtsd", SERVES, parts=found.parts)


def tool_command(name: str) -> Command:
    """A command of the tool, by its name in cli.COMMANDS."""
    parser = cli.make_parser([name])
    chosen = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return parse_parser(chosen.choices[name])


def tool() -> Command:
    parts = tuple(map(tool_command, cli.COMMANDS))
    return Command("vcmts", str(cli.make_parser([]).description), parts=parts)


def others(vcmtsd: Path, traffic: Path) -> dict[str, Command]:
    """The commands of the C programs, by the program's name."""
    return {
        "vcmtsd": data_plane(vcmtsd),
        "vcmts-traffic": parse_help("vcmts-traffic", help_of(traffic)),
    }


def programs(vcmtsd: Path, traffic: Path) -> dict[str, Command]:
    """The commands of all programs, by the program's name."""
    return {"vcmts": tool(), **others(vcmtsd, traffic)}
