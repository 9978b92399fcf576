# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have. Each has one name and one meaning (docs/command-line.md)."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from vcmts.child import check_writable
from vcmts.output import STDOUT
from vcmts.paths import MistakeError

PICTURES = (".svg", ".png")
# Options whose value may be left out, and how their value must look to be one: in front of other
# arguments it could be taken for the value.
OPTIONAL_VALUES = {"--json": re.compile(r"-|(?!-).*(/.*|\.json)")}


def add_json(
    parser: argparse._ActionsContainer, what: str = "all values", default: str | None = None
) -> None:
    """Adds `--json [FILE]`: its value is a path, or STDOUT without FILE; `default` without it."""
    stored = f" (default: {default})" if default else ""
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        default=default,
        metavar="FILE",
        help=f"write {what} as JSON to this file.json; -, or no FILE: to standard output{stored}",
    )


def add_plot(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds `--plot FILE`. Check its value with picture_path()."""
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=f"{what} as .svg or .png, in a folder that is made if needed; needs matplotlib",
    )


def picture_path(given: str, suffixes: Sequence[str] = PICTURES) -> Path:
    """The path of --plot. Makes its folder. Raises MistakeError if it cannot be written."""
    path = Path(given)
    if path.suffix not in suffixes:
        names = " or ".join(f"name{suffix}" for suffix in suffixes)
        raise MistakeError(f"--plot: found {path.name}, allowed: {names}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MistakeError(f"--plot {given}: {error.strerror}; choose another file") from error
    check_writable(given, "--plot")
    return path


def add_server(parser: argparse.ArgumentParser, default: str = "the only one in service") -> None:
    """Adds `--pid` and `--socket`, which select a running vcmtsd by its control socket."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--pid", type=int, help=f"process ID of the vcmtsd (default: {default})")
    which.add_argument(
        "--socket", metavar="PATH", type=Path, help="control socket of the vcmtsd, instead of --pid"
    )


def join_values(arguments: Sequence[str]) -> list[str]:
    """Joins options and values that argparse would not take as meant.

    `--rate -5Mbps` becomes `--rate=-5Mbps`: the option's own check then explains what is wrong.
    `--json group.list` becomes `--json=-` and a positional argument, as it is no file.json."""
    words: list[str] = []
    for number, word in enumerate(arguments):
        following = arguments[number + 1] if number + 1 < len(arguments) else None
        form = OPTIONAL_VALUES.get(word)
        if re.match(r"-\d", word) and words and re.fullmatch(r"--[a-z-]+", words[-1]):
            words[-1] += f"={word}"
        elif form is not None and (following is None or not form.fullmatch(following)):
            words.append(f"{word}={STDOUT}")
        else:
            words.append(word)
    return words
