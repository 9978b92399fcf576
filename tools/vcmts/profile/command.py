# SPDX-License-Identifier: BSD-3-Clause
"""vcmts profile: the published test configurations, by the reference's own names.

What a profile holds, and what the traffic program may rely on, is told in docs/configuration.md
under "What the published profiles contain".
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TextIO

from vcmts.paths import MistakeError
from vcmts.profile import qos as quality
from vcmts.profile import size, upstream
from vcmts.profile.rules import (
    FILTERS,
    Filters,
    FilterSet,
    classifier_lines,
    filter_lines,
    picked,
    sized,
)
from vcmts.profile.size import Sizes

GRAMMAR = "<N>ofdm-<M>sc-qam_<K>cms_<aes|none>[_2021]"
NAME = re.compile(r"([0-9]+)ofdm-([0-9]+)sc-qam_([0-9]+)cms_(aes|none)(_2021)?")
# The reference pairs up to three OFDM channels with 32 of SC-QAM, and more with none.
PUBLISHED = (
    "6ofdm-0sc-qam_300cms_aes",
    "6ofdm-0sc-qam_300cms_aes_2021",
    "5ofdm-0sc-qam_300cms_aes",
    "4ofdm-0sc-qam_300cms_aes",
    "3ofdm-32sc-qam_300cms_aes",
    "2ofdm-32sc-qam_300cms_aes",
    "2ofdm-32sc-qam_300cms_aes_2021",
    "1ofdm-32sc-qam_300cms_aes",
)

MOST_CHANNELS = 256
MOST_MODEMS = 65535
MOST_SAIDS = 0x3FFF
MODEM_NETWORK = IPv4Network("10.0.0.0/8")


@dataclass(frozen=True)
class PortSet:
    """What DPDK opens for the two ports of the data plane."""

    network: str
    rphy: str
    queue_size: int = 4096


MEMIF = PortSet(
    network="net_memif0,role=server,id=0,socket-abstract=no,socket=/run/vcmts/network.sock",
    rphy="net_memif1,role=server,id=1,socket-abstract=no,socket=/run/vcmts/rphy.sock",
)


@dataclass(frozen=True)
class Cores:
    """Where the threads run: upper MAC, upstream, and all others, which do not poll in 1ds1t."""

    upper_mac: int = 1
    upstream: int = 1
    other: int = 0


@dataclass(frozen=True)
class Profile:
    name: str
    ofdm: int
    sc_qam: int
    modems: int
    encrypted: bool
    filters: Filters
    sizes: Sizes


def parse_name(
    name: str, filter_set: FilterSet = "2023", sizes: Sizes = size.AS_PUBLISHED
) -> Profile:
    """The profile of this name; its ending _2021 asks for the filter set of 2021 by itself.

    Raises MistakeError for a name outside the grammar, and where DSIDs are short.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise MistakeError(f"profile {name!r}: a name is {GRAMMAR}, such as {PUBLISHED[0]}")
    ofdm, sc_qam, modems = int(match[1]), int(match[2]), int(match[3])
    if ofdm < 1 or ofdm + sc_qam > MOST_CHANNELS:
        raise MistakeError(
            f"profile {name!r}: {GRAMMAR} needs N of 1 or more and N + M of {MOST_CHANNELS} or less"
        )
    if not 1 <= modems <= MOST_MODEMS:
        raise MistakeError(f"profile {name!r}: {GRAMMAR} needs K of 1 to {MOST_MODEMS}")
    if ofdm + sc_qam > 1:
        size.enough_dsids(sizes, modems)
    filters = sized(FILTERS["2021" if match[5] else filter_set], sizes)
    return Profile(name, ofdm, sc_qam, modems, match[4] == "aes", filters, sizes)


def halves(channels: list[int]) -> tuple[list[int], list[int]]:
    """Two parts of even size; a single channel stands in both."""
    middle = (len(channels) + 1) // 2
    return channels[:middle], channels[middle:] or channels


def bonding_groups(profile: Profile) -> list[list[int]]:
    """Channel IDs of each group: OFDM channels come first, from 1.

    OFDM alone: its two halves. With SC-QAM: each half of the OFDM channels with each half of the
    SC-QAM channels, so that groups overlap as in a plant that carries both kinds of modems.
    """
    ofdm = list(range(1, profile.ofdm + 1))
    sc_qam = list(range(profile.ofdm + 1, profile.ofdm + profile.sc_qam + 1))
    if sc_qam:
        return [low + high for low in halves(ofdm) for high in halves(sc_qam)]
    return [ofdm] if len(ofdm) == 1 else list(halves(ofdm))


def channel_lines(profile: Profile) -> Iterator[str]:
    yield "channels:"
    for number in range(1, profile.ofdm + profile.sc_qam + 1):
        kind, rate = ("ofdm", "1.89 Gbps") if number <= profile.ofdm else ("sc-qam", "42.24 Mbps")
        yield (
            f"  - {{id: {number}, type: {kind}, rate: {rate}, session: {0x10000 + number:#010x}, "
            "pseudowire: psp-depi, psp_extra: counter, profile: 0}"
        )
    yield "bonding_groups:"
    for number, channels in enumerate(bonding_groups(profile), 1):
        yield f"  - {{id: {number}, channels: [{', '.join(map(str, channels))}]}}"


def security_line(profile: Profile, modem: int) -> str:
    """A SAID has 14 bits: beyond 16,383 modems they are shared, with all that belongs to them."""
    said = (modem - 1) % MOST_SAIDS + 1
    if not profile.encrypted:
        return f"    security: {{said: {said:#06x}, cipher: none}}"
    key = hashlib.sha256(f"OpenVCMTS test key {said}".encode()).hexdigest()
    following = hashlib.sha256(f"OpenVCMTS next test key {said}".encode()).hexdigest()
    return (
        f"    security: {{said: {said:#06x}, cipher: aes-128, "
        f'key: "{key[:32]}", iv: "{key[32:]}", key_sequence: 1, '
        f'next_key: "{following[:32]}", next_iv: "{following[32:]}"}}'
    )


def flow_lines(modem: int, bonded: bool, sizes: Sizes, qos: quality.Qos) -> Iterator[str]:
    yield "    service_flows:"
    for number in range(sizes.flows):
        flow = (modem - 1) * sizes.flows + number + 1
        if number >= sizes.active_flows:
            yield f"      - {{id: {flow}, state: provisioned}}"
            continue
        dsid = f", dsid: {(modem - 1) * sizes.active_flows + number + 1:#07x}" if bonded else ""
        yield f"      - {{id: {flow}{dsid}, {qos.keys(number)}}}"


def address_line(modem: int, network: IPv4Address, sizes: Sizes) -> str:
    ipv4 = [str(network + host) for host in range(1, sizes.ipv4_addresses + 1)]
    ipv6 = [f'"2001:db8:0:{modem:x}::{host:x}"' for host in range(1, sizes.ipv6_addresses + 1)]
    return f"    addresses: [{', '.join(ipv4 + ipv6)}]"


def modem_lines(
    profile: Profile, modem: int, groups: list[list[int]], qos: quality.Qos
) -> Iterator[str]:
    sizes = profile.sizes
    network = MODEM_NETWORK[sizes.ipv4_block * (modem - 1)]
    bonding = (modem - 1) % len(groups)
    yield f'  - mac: "02:01:00:{modem >> 16:02x}:{modem >> 8 & 255:02x}:{modem & 255:02x}"'
    yield address_line(modem, network, sizes)
    yield f"    cpe_limit: {sizes.addresses}"
    yield f"    filter_groups: [{', '.join(map(str, picked(profile.filters, modem)))}]"
    yield f"    bonding_group: {bonding + 1}"
    yield security_line(profile, modem)
    yield from flow_lines(modem, len(groups[bonding]) > 1, sizes, qos)
    yield from classifier_lines(modem, network, sizes)
    yield from upstream.flow_lines(modem, profile.modems, profile.modems * sizes.flows)


def head(profile: Profile, ports: PortSet, cores: Cores) -> str:
    filters = profile.filters
    upper, other = cores.upper_mac, cores.other
    places = (
        f"main_core: {other}, upper_mac_core: {upper}, lower_mac_core: {other}, "
        f"upstream_core: {cores.upstream}"
    )
    return f"""\
# SPDX-License-Identifier: BSD-3-Clause
# Written by: vcmts profile {profile.name}{size.words(profile.sizes)}
# {profile.ofdm} OFDM and {profile.sc_qam} SC-QAM channels, {profile.modems} cable modems, \
{filters.groups} filter groups x {filters.rules} rules;
# Upstream: {upstream.channels(profile.modems)} OFDMA channels, a flow on two of them a modem.
# Keys and initialisation vectors are made from the SAID: for tests, never for a network.
name: {profile.name}
service_group: 1
ports:
  network: {{device: {json.dumps(ports.network)}, queue_size: {ports.queue_size}}}
  rphy: {{device: {json.dumps(ports.rphy)}, queue_size: {ports.queue_size}}}
max_frame: 2000
threads: {{downstream: 1ds1t, {places}}}
rphy:
  core_mac: "02:00:00:00:00:01"
  rpd_mac: "02:00:00:00:00:02"
  core_ip: 192.168.1.1
  rpd_ip: 192.168.1.2
  mtu: 1500
  dscp: 4
  ttl: 64
  flush: 50 us
  max_segments: 16
rate_limit: 10 Gbps
cpe_timeout: 300 s
filter_default: permit
upstream: {{verify_source: true, verify_crc: false}}
"""


def profile_lines(profile: Profile, qos: quality.Qos) -> Iterator[str]:
    groups = bonding_groups(profile)
    yield from channel_lines(profile)
    yield from filter_lines(profile.filters)
    yield from upstream.channel_lines(profile.modems)
    yield "modems:"
    for modem in range(1, profile.modems + 1):
        yield from modem_lines(profile, modem, groups, qos)


def write_profile(
    name: str,
    out: TextIO,
    *,
    filter_set: FilterSet = "2023",
    ports: PortSet = MEMIF,
    cores: Cores = Cores(),
    qos: quality.Qos = quality.WEIGHTS_ALONE,
    sizes: Sizes = size.AS_PUBLISHED,
) -> None:
    """Writes the profile `name` as YAML. Raises MistakeError as parse_name()."""
    profile = parse_name(name, filter_set, sizes)
    out.write(head(profile, ports, cores))
    out.writelines(f"{line}\n" for line in profile_lines(profile, qos))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help=f"{GRAMMAR}, such as {PUBLISHED[0]}")
    parser.add_argument("--list", action="store_true", help="the published names, one a line")
    device = (
        "what DPDK opens as this port: a PCI address such as 0000:3b:00.0, or a virtual device "
        "with its arguments such as net_af_packet{}"
    )
    parser.add_argument(
        "--network",
        metavar="DEVICE",
        default=MEMIF.network,
        help=device.format("0,iface=eth0") + " (default: a memif, see docs/running.md)",
    )
    parser.add_argument(
        "--rphy",
        metavar="DEVICE",
        default=MEMIF.rphy,
        help=device.format("1,iface=eth1") + " (default: a memif)",
    )
    quality.add_arguments(parser)
    size.add_arguments(parser)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="instead of the terminal")


def main(arguments: argparse.Namespace) -> int:
    if arguments.list:
        print("\n".join(PUBLISHED))
        return 0
    if arguments.name is None:
        raise MistakeError(f"profile: name one, {GRAMMAR}, or ask for --list")
    sizes = size.asked(arguments)
    parse_name(arguments.name, sizes=sizes)  # before a file is opened and emptied
    ports = PortSet(network=arguments.network, rphy=arguments.rphy)
    qos = quality.asked(arguments)
    if arguments.output is None:
        write_profile(arguments.name, sys.stdout, ports=ports, qos=qos, sizes=sizes)
        return 0
    try:
        with arguments.output.open("w", encoding="utf-8") as out:
            write_profile(arguments.name, out, ports=ports, qos=qos, sizes=sizes)
    except OSError as error:
        raise MistakeError(f"{arguments.output}: {error.strerror}") from error
    return 0
