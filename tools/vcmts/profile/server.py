# SPDX-License-Identifier: BSD-3-Clause
"""Writes the configuration of a server with groups of one profile; shared settings come first."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Literal, TextIO, get_args

from vcmts.paths import MistakeError
from vcmts.profile import group, size, upstream
from vcmts.profile import qos as quality
from vcmts.profile.crypto import LIBRARY, Provider
from vcmts.profile.group import Cores, PortSet, Profile
from vcmts.profile.numbers import MOST_GROUPS, Numbers, check_addresses
from vcmts.profile.rules import filter_lines
from vcmts.profile.size import Sizes

Sharing = Literal["shared", "own"]

PLACEHOLDER = "{group}"  # in a device: replaced by the number of its group


def memif(name: str, number: int, suffix: str) -> str:
    """A memif server. `suffix`: of its socket's name."""
    return (
        f"net_memif{number},role=server,id={number},socket-abstract=no,"
        f"socket=/run/vcmts/{name}{suffix}.sock"
    )


def group_device(name: str, given: str, port: int, number: int) -> str:
    """The device of a group's port: its own memif if `given` is the default, else `given` with
    the group's number. `port`: 0 network, 1 R-PHY. Raises MistakeError without PLACEHOLDER."""
    shared = {"network": group.MEMIF.network, "rphy": group.MEMIF.rphy}[name]
    if given == shared:
        return memif(name, 2 * (number - 1) + port, "" if number == 1 else f"-{number}")
    if PLACEHOLDER not in given:
        raise MistakeError(
            f"--{name}: found {given!r}, allowed with --ports own: a device containing "
            f"{PLACEHOLDER}, which stands for the number of the group"
        )
    return given.replace(PLACEHOLDER, str(number))


def group_ports(ports: PortSet, number: int) -> PortSet:
    """The ports of group `number`, from 1, with --ports own. Raises MistakeError."""
    return PortSet(
        network=group_device("network", ports.network, 0, number),
        rphy=group_device("rphy", ports.rphy, 1, number),
        queue_size=ports.queue_size,
    )


def indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def item_lines(
    profile: Profile, numbers: Numbers, qos: quality.Qos, rphy: dict[str, str] | None = None
) -> Iterator[str]:
    """YAML of the settings that each group has for itself. `rphy`: its keys besides addresses."""
    yield f"name: {profile.name}-{numbers.group}"
    yield f"rphy: {group.in_braces(group.rphy_addresses(numbers) | (rphy or {}))}"
    yield from group.channel_lines(profile, numbers)
    yield from upstream.channel_lines(profile.modems, numbers)
    yield from group.all_modem_lines(profile, qos, numbers)


def server_lines(
    profile: Profile,
    groups: int,
    ports: PortSet | Sequence[PortSet],
    cores: Sequence[Cores | dict[str, str]],
    qos: quality.Qos,
    provider: Provider,
) -> Iterator[str]:
    threads = [group.thread_keys(one) for one in cores]
    shared = {
        key: value for key, value in threads[0].items() if all(t[key] == value for t in threads)
    }
    yield f"name: {profile.name}"
    if isinstance(ports, PortSet):
        yield from group.port_lines(ports)
    yield "max_frame: 2000"
    yield f"threads: {group.in_braces(shared)}"
    yield f"rphy: {group.in_braces(group.RPHY)}"
    yield from group.SHARED_SETTINGS
    yield from provider.lines()
    yield from group.bonding_lines(profile)
    yield from filter_lines(profile.filters)
    yield "service_groups:"
    for number in range(1, groups + 1):
        own = {key: value for key, value in threads[number - 1].items() if key not in shared}
        yield f"  - service_group: {number}"
        if not isinstance(ports, PortSet):
            yield from indented(group.port_lines(ports[number - 1]))
        if own:
            yield f"    threads: {group.in_braces(own)}"
        yield from indented(item_lines(profile, Numbers(number), qos))


def write_server(
    name: str,
    groups: int,
    out: TextIO,
    *,
    ports: PortSet = group.MEMIF,
    sharing: Sharing = "shared",
    cores: Sequence[Cores | dict[str, str]] = (),
    qos: quality.Qos = quality.WEIGHTS_ALONE,
    sizes: Sizes = size.AS_PUBLISHED,
    provider: Provider = LIBRARY,
) -> None:
    """Writes `groups` service groups of the profile `name` as YAML; one group as write_profile().

    `cores`: cores or keys of `threads`, one item per group, all with the same keys; empty: Cores().
    Raises MistakeError for a wrong name or device, and for too many groups or addresses.
    """
    profile = check_groups(name, groups, sizes)
    cores = cores or [Cores()] * groups
    if groups == 1:
        one = group_ports(ports, 1) if sharing == "own" else ports
        group.write_profile(
            name, out, ports=one, cores=cores[0], qos=qos, sizes=sizes, provider=provider
        )
        return
    own = (
        [group_ports(ports, number) for number in range(1, groups + 1)]
        if sharing == "own"
        else ports
    )
    options = f" --groups {groups}" + (" --ports own" if sharing == "own" else "")
    out.write(group.header_comment(profile, options))
    lines = server_lines(profile, groups, own, cores, qos, provider)
    out.writelines(f"{line}\n" for line in lines)


def group_file_lines(profile: Profile, numbers: Numbers, qos: quality.Qos) -> Iterator[str]:
    yield "max_frame: 2000"
    yield from group.SHARED_SETTINGS
    yield from group.bonding_lines(profile)
    yield from filter_lines(profile.filters)
    yield from item_lines(profile, numbers, qos, group.RPHY)


def write_group_file(
    name: str,
    number: int,
    out: TextIO,
    *,
    qos: quality.Qos = quality.WEIGHTS_ALONE,
    sizes: Sizes = size.AS_PUBLISHED,
) -> None:
    """Writes service group `number` of a server as a file of its own, for the key `file` in the
    server's file, which has ports, threads and crypto. Raises MistakeError as check_groups()."""
    profile = check_groups(name, number, sizes, option="--part")
    out.write(group.header_comment(profile, f" --part {number}"))
    out.writelines(f"{line}\n" for line in group_file_lines(profile, Numbers(number), qos))


def check_groups(name: str, groups: int, sizes: Sizes, option: str = "--groups") -> Profile:
    """Parses the profile. Raises MistakeError as parse_name(), and naming `option` for too many
    groups or addresses."""
    profile = group.parse_name(name, sizes=sizes)
    if not 1 <= groups <= MOST_GROUPS:
        raise MistakeError(f"{option}: found {groups}, allowed: 1 to {MOST_GROUPS}")
    check_addresses(groups, profile.modems, sizes, option)
    return profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_groups(parser)
    parser.add_argument(
        "--part",
        metavar="N",
        type=int,
        help="write only service group N, without ports and threads, as a file for the key `file` "
        "of a server's configuration",
    )
    parser.add_argument(
        "--ports",
        choices=get_args(Sharing),
        default="shared",
        help="shared: two ports for all service groups; own: two for each. Devices given with own "
        f"contain {PLACEHOLDER}, which stands for the group's number (default: %(default)s)",
    )


def add_groups(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--groups",
        metavar="N",
        type=int,
        default=1,
        help=f"number of service groups, 1 to {MOST_GROUPS} (default: %(default)s)",
    )
