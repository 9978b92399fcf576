# SPDX-License-Identifier: BSD-3-Clause
"""Finds programs and data files, in a checkout or where `meson install` put them. Only this module
knows which of the two it is.

Data files have the same names below HOME: the checkout, or $prefix/share/vcmts. An installed tree
has a file NOTE in HOME with the folders of the programs and the facts of their build.
"""

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from vcmts.terminal import wrapped

HOME = Path(__file__).resolve().parents[2]
CHECKOUT = HOME  # for files that only a checkout has: tests, docs, devtools
NOTE = "installed.json"
BUILT_IN = ("src", "traffic", "bench", "bench/impairments", "bench/simulate")


class MistakeError(Exception):
    """An error that the user can correct; printed as one line, exit status 2."""


class RefusalError(Exception):
    """No, or refused; printed as one line. `status`: the exit status."""

    status = 1


@cache
def install_note() -> Mapping[str, Any] | None:
    """The NOTE of an installed tree: `bin`, `libexec` (from HOME), `built`. None: a checkout."""
    path = HOME / NOTE
    if not path.exists():
        return None
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# The tool's name in hints and in stored results.
TOOL = "./vcmts" if install_note() is None else "vcmts"


def data(name: str) -> Path:
    """The path of a data file or folder, by its name in the checkout, such as config/day.txt."""
    return HOME / name


def build_directory() -> Path:
    """The build directory: VCMTS_BUILD, relative to the checkout; `build` if it is not set."""
    return CHECKOUT / os.environ.get("VCMTS_BUILD", "build")


def build_facts() -> Mapping[str, Any] | None:
    """Facts of the build that system/software.py stored at installation; None: a checkout."""
    installed = install_note()
    return None if installed is None else installed["built"]


def program_folders() -> list[Path]:
    """The folders that program() searches, in this order."""
    installed = install_note()
    if installed is None:
        return [build_directory() / folder for folder in BUILT_IN]
    return [(HOME / installed[name]).resolve() for name in ("bin", "libexec")]


def program(name: str) -> Path:
    """The path of a built program, such as vcmtsd. Raises MistakeError if it is missing."""
    for folder in program_folders():
        path = folder / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    if install_note() is None:
        raise MistakeError(f"{name} not found in {build_directory()}: run `make build` first")
    searched = " or ".join(str(folder) for folder in program_folders())
    package = "vcmts" if name == "vcmtsd" else "vcmts-traffic"
    raise MistakeError(f"{name} not found in {searched}: {install_hint(name, package)}")


def install_hint(what: str, debian: str = "") -> str:
    """A hint: `what` is a set of devtools/install-deps, `debian` a package for installed trees."""
    if install_note() is None:
        return f"run devtools/install-deps {what}"
    return f"on Debian, apt install {debian}"


def missing_package(module: str | None, what: str) -> str:
    """The message for a missing Python module. `what`: its set of devtools/install-deps."""
    debian = f"python3-{str(module).replace('_', '-')}"
    return f"Python package {module} is missing; {install_hint(what, debian)}"


def notify(text: str) -> None:
    """Prints a message to stderr in one write, as child processes write there too."""
    sys.stderr.write(wrapped(f"vcmts: {text}\n", sys.stderr))
    sys.stderr.flush()
