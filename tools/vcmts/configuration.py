# SPDX-License-Identifier: BSD-3-Clause
"""The configuration that a command works on: a file, or a published profile by its name."""

import argparse
import os
from pathlib import Path

from vcmts.paths import MistakeError
from vcmts.profile.command import Cores, write_profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="service group (YAML)")
    group.add_argument(
        "--profile",
        metavar="NAME",
        default="6ofdm-0sc-qam_300cms_aes",
        help="published configuration instead of a file (default: %(default)s)",
    )


def own_cores() -> Cores:
    """Of those that this process may use: a container may have any two.

    The first is left to what does not poll, and to the traffic; the upstream takes turns with the
    downstream where there is no third one.
    """
    allowed = sorted(os.sched_getaffinity(0))
    last = len(allowed) - 1
    return Cores(upper_mac=allowed[min(1, last)], upstream=allowed[min(2, last)], other=allowed[0])


def chosen(arguments: argparse.Namespace, folder: Path) -> Path:
    """The file that was given, or one in `folder` with the profile."""
    if arguments.config:
        given = Path(arguments.config)
        if not given.is_file():
            raise MistakeError(f"{given}: no such file; `./vcmts profile NAME > FILE` writes one")
        return given
    written = folder / "sg.yaml"
    with written.open("w", encoding="utf-8") as out:
        write_profile(arguments.profile, out, cores=own_cores())
    return written
