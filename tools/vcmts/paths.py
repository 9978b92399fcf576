# SPDX-License-Identifier: BSD-3-Clause
"""Where the checkout keeps its things, and the programs that were built from it."""

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


class MistakeError(Exception):
    """What the user can put right; printed as one line, exit status 2."""


def build_directory() -> Path:
    """VCMTS_BUILD, `build` when it is not set; relative to the checkout."""
    return CHECKOUT / os.environ.get("VCMTS_BUILD", "build")


def program(name: str) -> Path:
    """The built program `name` (vcmtsd, vcmts-traffic, ...), wherever in the build directory."""
    build = build_directory()
    for folder in ("src", "traffic", "bench", "bench/impairments", "bench/simulate"):
        path = build / folder / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    raise MistakeError(f"{name} is not in {build}: run `make build` first")


def complain(text: str) -> None:
    print(f"vcmts: {text}", file=sys.stderr)
