# SPDX-License-Identifier: BSD-3-Clause
"""vcmts profile: writes a published test configuration by the reference's name for it."""

import argparse
import re
import sys
from pathlib import Path
from typing import TextIO

from vcmts.layout.propose import LAYOUTS
from vcmts.paths import MistakeError
from vcmts.profile import crypto, server, size
from vcmts.profile import qos as quality
from vcmts.profile.group import GRAMMAR, MEMIF, PUBLISHED, PortSet
from vcmts.streams import whole_file

# Options of keys that a group's own file does not have.
SERVER_OPTIONS = ("groups", "ports", "network", "rphy", "layout", "provider", "device")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help=f"{GRAMMAR}, such as {PUBLISHED[0]}")
    parser.add_argument("--list", action="store_true", help="print the published names")
    device = (
        "DPDK device of this port: a PCI address such as 0000:3b:00.0, or a virtual device with "
        "arguments such as net_af_packet{}"
    )
    parser.add_argument(
        "--network",
        metavar="DEVICE",
        default=MEMIF.network,
        help=device.format("0,iface=eth0") + " (default: a memif, see docs/install.md)",
    )
    parser.add_argument(
        "--rphy",
        metavar="DEVICE",
        default=MEMIF.rphy,
        help=device.format("1,iface=eth1") + " (default: a memif)",
    )
    server.add_arguments(parser)
    crypto.add_arguments(parser)
    add_placement(parser)
    quality.add_arguments(parser)
    size.add_arguments(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="file to write (default: stdout)"
    )


def check_part_options(arguments: argparse.Namespace) -> None:
    """Raises MistakeError for SERVER_OPTIONS that are not at their defaults."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for name in SERVER_OPTIONS:
        if getattr(arguments, name) != parser.get_default(name):
            raise MistakeError(
                f"--{name}: not allowed with --part; it belongs to the server's file"
            )


def main(arguments: argparse.Namespace) -> int:
    if arguments.list:
        print("\n".join(PUBLISHED))
        return 0
    if arguments.name is None:
        raise MistakeError(f"NAME: missing; needed: {GRAMMAR}; --list prints some")
    sizes, qos = size.sizes_of(arguments), quality.qos_of(arguments)
    ports = PortSet(network=arguments.network, rphy=arguments.rphy)
    threads = placement_keys(arguments)
    name, provider = (
        crypto.with_cipher(arguments.name, arguments.cipher),
        crypto.provider_of(arguments),
    )
    # Check before opening the output file truncates it.
    server.check_groups(name, arguments.groups, sizes)
    if arguments.part is not None:
        check_part_options(arguments)
        server.check_groups(name, arguments.part, sizes, option="--part")
    if arguments.ports == "own":
        server.group_ports(ports, arguments.groups)

    def write(out: TextIO) -> None:
        if arguments.part is not None:
            server.write_group_file(name, arguments.part, out, qos=qos, sizes=sizes)
            return
        server.write_server(
            name,
            arguments.groups,
            out,
            ports=ports,
            sharing=arguments.ports,
            cores=[threads] * arguments.groups if threads else (),
            qos=qos,
            sizes=sizes,
            provider=provider,
        )

    if arguments.output is None:
        write(sys.stdout)
        return 0
    with whole_file(arguments.output) as part, part.open("w", encoding="utf-8") as out:
        write(out)
    return 0


CORES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def add_placement(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layout",
        choices=[layout.name for layout in LAYOUTS],
        metavar="NAME",
        help=f"thread layout of the service groups: {', '.join(one.name for one in LAYOUTS)}; "
        "`vcmts layout` proposes one for a machine (default: all on core 1)",
    )
    parser.add_argument(
        "--cores", metavar="LIST", help="cores of these threads, such as 1-6,9; with --layout"
    )
    parser.add_argument(
        "--main-core",
        metavar="CORE",
        type=int,
        help="core of the management thread; with --layout (default: 0)",
    )


def placement_keys(arguments: argparse.Namespace) -> dict[str, str]:
    """The keys of `threads` from --layout; empty without it. Raises MistakeError. vcmtsd checks
    whether the number of cores fits the layout."""
    for option, value in (("--cores", arguments.cores), ("--main-core", arguments.main_core)):
        if arguments.layout is None and value is not None:
            raise MistakeError(f"{option}: allowed only with --layout")
    if arguments.layout is None:
        return {}
    if arguments.cores is None:
        raise MistakeError("--cores: missing; --layout needs cores such as 1-6,9")
    if CORES.fullmatch(arguments.cores) is None:
        raise MistakeError(f"--cores: found {arguments.cores!r}, allowed: cores such as 1-6,9")
    main_core = arguments.main_core or 0
    return {
        "layout": arguments.layout,
        "cores": f'"{arguments.cores}"',
        "main_core": str(main_core),
    }
