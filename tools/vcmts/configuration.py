# SPDX-License-Identifier: BSD-3-Clause
"""The configuration that a command works on: a file, or a published profile by its name."""

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from vcmts.paths import TOOL, MistakeError
from vcmts.profile import crypto
from vcmts.profile.group import Cores
from vcmts.profile.server import add_groups, write_server


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="service group or server (YAML)")
    group.add_argument(
        "--profile",
        metavar="NAME",
        default="6ofdm-0sc-qam_300cms_aes",
        help="published configuration instead of a file (default: %(default)s)",
    )
    add_groups(parser)
    crypto.add_arguments(parser)


def own_cores() -> Cores:
    """Of those that this process may use: a container may have any two.

    The first is left to what does not poll, and to the traffic; the upstream takes turns with the
    downstream where there is no third one.
    """
    return dealt_cores(1)[0]


def dealt_cores(groups: int, usable: Iterable[int] | None = None) -> list[Cores]:
    """The same for each of several groups, dealt out in turn; of `usable` ones where given.

    Two cores per group where there are so many; else one, that several groups may have.
    """
    allowed = sorted(os.sched_getaffinity(0) if usable is None else usable)
    polling = allowed[1:] or allowed
    cores = []
    for group in range(groups):
        if len(polling) >= 2 * groups:
            upper_mac, upstream = polling[2 * group], polling[2 * group + 1]
        else:
            upper_mac = upstream = polling[group % len(polling)]
        cores.append(Cores(upper_mac=upper_mac, upstream=upstream, other=allowed[0]))
    return cores


def chosen(arguments: argparse.Namespace, folder: Path) -> Path:
    """The file that was given, or one in `folder` with the profile."""
    groups: int = arguments.groups
    if arguments.config:
        given = Path(arguments.config)
        if groups != 1:
            raise MistakeError(
                f"--groups: found {groups} beside --config, allowed: with --profile only"
            )
        of_profiles = crypto.given(arguments)
        if of_profiles:
            raise MistakeError(
                f"{of_profiles[0]}: found {of_profiles[1]} beside --config, allowed: with "
                "--profile only; the file says it"
            )
        if not given.is_file():
            raise MistakeError(f"{given}: no such file; `{TOOL} profile NAME > FILE` writes one")
        return given
    written = folder / "sg.yaml"
    with written.open("w", encoding="utf-8") as out:
        write_server(
            crypto.profile_of(arguments),
            groups,
            out,
            cores=dealt_cores(groups),
            provider=crypto.provider_of(arguments),
        )
    return written
