# SPDX-License-Identifier: BSD-3-Clause
"""vcmts help: shows the manual page of a command or program, also in a checkout.

`man` formats the page. Without `man`, it prints `COMMAND --help`.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys

from vcmts import cli
from vcmts.manual import pages, programs
from vcmts.paths import TOOL, MistakeError, program

CONFIGURATION = "vcmts.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic",
        metavar="COMMAND",
        nargs="?",
        default="vcmts",
        help="a command of vcmts, vcmtsd, vcmts-traffic, or vcmts.yaml: the keys of the "
        "configuration (default: an overview)",
    )


def configuration_page() -> str:
    """The manual page of the configuration; an installed tree has only the finished page."""
    try:
        made: str = importlib.import_module("vcmts.docs.manual").configuration_page("")
    except ModuleNotFoundError as error:
        raise MistakeError(f"`man {CONFIGURATION}` shows this page") from error
    return made


def page_text(topic: str) -> str:
    """The manual page in man(7) format."""
    if topic == "vcmts":
        return pages.overview("")
    if topic in cli.COMMANDS:
        return pages.command_page(programs.tool_command(topic), "")
    if topic in pages.OTHERS:
        others = programs.others(program("vcmtsd"), program("vcmts-traffic"))
        return pages.command_page(others[topic], "")
    if topic == CONFIGURATION:
        return configuration_page()
    raise MistakeError(f'no command "{topic}"; `{TOOL} help` lists them')


def main(arguments: argparse.Namespace) -> int:
    page = page_text(arguments.topic)
    if shutil.which("man") is not None:
        sys.stdout.flush()
        quiet = os.environ | {"MANROFFOPT": "-Wbreak"}  # a long word on a line of its own
        shown = subprocess.run(["man", "-l", "-"], input=page, env=quiet, text=True, check=False)
        return shown.returncode
    if arguments.topic in pages.OTHERS:
        return subprocess.run([program(arguments.topic), "--help"], check=False).returncode
    if arguments.topic == CONFIGURATION:
        raise MistakeError("`man` is not installed; docs/configuration.md has the keys")
    words = [] if arguments.topic == "vcmts" else [arguments.topic]
    return cli.main([*words, "--help"])
