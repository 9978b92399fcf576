# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: in a checkout, or where `meson install` put them. No other module asks which.

Data files have the same names below HOME in both: the checkout, or $prefix/share/vcmts. What is
installed has a file there that says where the programs are, and what they were built from.
"""

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[2]
CHECKOUT = HOME  # for what only a checkout has: tests, docs, devtools
NOTE = "installed.json"
BUILT_IN = ("src", "traffic", "bench", "bench/impairments", "bench/simulate")


class MistakeError(Exception):
    """What the user can put right; printed as one line, exit status 2."""


@cache
def note() -> Mapping[str, Any] | None:
    """Of an installed tree: `bin` and `libexec` (from HOME), and `built`. None: a checkout."""
    path = HOME / NOTE
    if not path.exists():
        return None
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# What the tool is called by whoever reads a hint, and in stored results.
TOOL = "./vcmts" if note() is None else "vcmts"


def data(name: str) -> Path:
    """A file or folder that comes with the tool, by its name in the checkout: config/day.txt."""
    return HOME / name


def build_directory() -> Path:
    """VCMTS_BUILD, `build` when it is not set; relative to the checkout."""
    return CHECKOUT / os.environ.get("VCMTS_BUILD", "build")


def built_from() -> Mapping[str, Any] | None:
    """What host/software.py found of the build when it was installed; None: ask the checkout."""
    installed = note()
    return None if installed is None else installed["built"]


def folders() -> list[Path]:
    """Where programs are looked for."""
    installed = note()
    if installed is None:
        return [build_directory() / folder for folder in BUILT_IN]
    return [(HOME / installed[name]).resolve() for name in ("bin", "libexec")]


def program(name: str) -> Path:
    """The program `name` (vcmtsd, vcmts-traffic, ...): of the build directory, or installed."""
    for folder in folders():
        path = folder / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    if note() is None:
        raise MistakeError(f"{name} is not in {build_directory()}: run `make build` first")
    places = " or ".join(str(folder) for folder in folders())
    package = "vcmts" if name == "vcmtsd" else "vcmts-traffic"
    raise MistakeError(f"{name} is not in {places}: {how_to_get(name, package)}")


def how_to_get(what: str, debian: str = "") -> str:
    """What is missing: a set of devtools/install-deps; installed, `debian` has Debian's name."""
    if note() is None:
        return f"run devtools/install-deps {what}"
    return f"on Debian, apt install {debian}"


def missing(module: str | None, what: str) -> str:
    """A Python package that could not be imported, of a set of devtools/install-deps."""
    return f"Python package {module} is missing; {how_to_get(what, f'python3-{module}')}"


def complain(text: str) -> None:
    """In one write: programs beside us write there, too."""
    sys.stderr.write(f"vcmts: {text}\n")
    sys.stderr.flush()
