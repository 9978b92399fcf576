# SPDX-License-Identifier: BSD-3-Clause
"""The options --config and --profile: a configuration file, or one written from a profile."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from vcmts.paths import TOOL, MistakeError
from vcmts.profile import crypto
from vcmts.profile.group import Cores
from vcmts.profile.server import add_groups, write_server
from vcmts.system import cores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="service group or server (YAML)")
    group.add_argument(
        "--profile",
        metavar="NAME",
        default="6ofdm-0sc-qam_300cms_aes",
        help="published configuration, instead of a file (default: %(default)s)",
    )
    add_groups(parser)
    crypto.add_arguments(parser)


def group_cores() -> Cores:
    """The cores of one service group, from those that this process may use.

    The first is for threads that do not poll, and for the traffic program. With two cores the
    downstream and the upstream share the second.
    """
    return cores_per_group(1)[0]


def cores_per_group(groups: int, usable: Iterable[int] | None = None) -> list[Cores]:
    """The cores of each group, from `usable`; None: those that this process may use, free ones
    first.

    Each group gets two polling cores if there are enough; else one, which groups may share.
    """
    allowed = list(cores.usable() if usable is None else sorted(usable))
    polling = allowed[1:] or allowed
    chosen = []
    for group in range(groups):
        if len(polling) >= 2 * groups:
            upper_mac, upstream = polling[2 * group], polling[2 * group + 1]
        else:
            upper_mac = upstream = polling[group % len(polling)]
        chosen.append(Cores(upper_mac=upper_mac, upstream=upstream, other=allowed[0]))
    return chosen


def configuration_file(arguments: argparse.Namespace, folder: Path) -> Path:
    """The file of --config, or a file in `folder` that this writes from --profile. Raises
    MistakeError if options contradict each other."""
    groups: int = arguments.groups
    if arguments.config:
        given = Path(arguments.config)
        if groups != 1:
            raise MistakeError("--groups: not allowed with --config, whose file has the groups")
        profile_options = crypto.given_options(arguments)
        if profile_options:
            raise MistakeError(
                f"{profile_options[0]}: not allowed with --config; set it in the file"
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
            cores=cores_per_group(groups),
            provider=crypto.provider_of(arguments),
        )
    return written
