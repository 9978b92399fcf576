# SPDX-License-Identifier: BSD-3-Clause
"""A published core configuration by its name, for a profile (docs/configuration.md)."""

import argparse
import re

from vcmts.layout.propose import LAYOUTS
from vcmts.paths import MistakeError

CORES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layout",
        choices=[layout.name for layout in LAYOUTS],
        help="which threads the service groups have; `vcmts layout` says which fits a machine "
        "(default: all on core 1)",
    )
    parser.add_argument(
        "--cores", metavar="LIST", help="the cores of these threads, such as 1-6,9; with --layout"
    )
    parser.add_argument(
        "--main-core",
        metavar="CORE",
        type=int,
        help="the core of the management thread; with --layout (default: 0)",
    )


def asked(arguments: argparse.Namespace) -> dict[str, str]:
    """The keys of `threads`, none where no layout is asked for. How many cores it takes is the
    loader's business."""
    for option, value in (("--cores", arguments.cores), ("--main-core", arguments.main_core)):
        if arguments.layout is None and value is not None:
            raise MistakeError(f"{option}: found without --layout, allowed: with it only")
    if arguments.layout is None:
        return {}
    if arguments.cores is None or CORES.fullmatch(arguments.cores) is None:
        found = "nothing" if arguments.cores is None else repr(arguments.cores)
        raise MistakeError(f"--cores: found {found}, allowed: cores such as 1-6,9")
    main_core = arguments.main_core or 0
    return {
        "layout": arguments.layout,
        "cores": f'"{arguments.cores}"',
        "main_core": str(main_core),
    }
