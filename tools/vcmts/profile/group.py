# SPDX-License-Identifier: BSD-3-Clause
"""Writes a service group as YAML, by the name of a test configuration in published papers.

docs/configuration.md, "What the published profiles contain", describes the contents, on which the
traffic program relies.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TextIO

from vcmts.paths import MistakeError
from vcmts.profile import qos as quality
from vcmts.profile import size, upstream
from vcmts.profile.crypto import ENDINGS, IV_DIGITS, KEY_DIGITS, LIBRARY, Provider
from vcmts.profile.numbers import FIRST_GROUP, Numbers
from vcmts.profile.rules import (
    FILTERS,
    Filters,
    FilterSet,
    classifier_lines,
    filter_groups_of,
    filter_lines,
    filters_of,
)
from vcmts.profile.size import Sizes

GRAMMAR = f"<N>ofdm-<M>sc-qam_<K>cms_<{'|'.join(ENDINGS)}>[_2021]"
NAME = re.compile(rf"([0-9]+)ofdm-([0-9]+)sc-qam_([0-9]+)cms_({'|'.join(ENDINGS)})(_2021)?")
# The papers combine up to three OFDM channels with 32 SC-QAM channels, and more with none.
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

MOST_CHANNELS = 256  # as config/schema.json
MOST_MODEMS = 65535
MOST_SAIDS = 0x3FFF  # 14 bits, without 0


@dataclass(frozen=True)
class PortSet:
    """The DPDK devices of the data plane's two ports."""

    network: str
    rphy: str
    queue_size: int = 4096  # descriptors


MEMIF = PortSet(
    network="net_memif0,role=server,id=0,socket-abstract=no,socket=/run/vcmts/network.sock",
    rphy="net_memif1,role=server,id=1,socket-abstract=no,socket=/run/vcmts/rphy.sock",
)


@dataclass(frozen=True)
class Cores:
    """The cores of the threads in 1ds1t. `other`: the management thread's."""

    upper_mac: int = 1
    upstream: int = 1
    other: int = 0


@dataclass(frozen=True)
class Profile:
    name: str
    ofdm: int
    sc_qam: int
    modems: int
    cipher: str
    filters: Filters
    sizes: Sizes


def parse_name(
    name: str, filter_set: FilterSet = "2023", sizes: Sizes = size.AS_PUBLISHED
) -> Profile:
    """Parses a profile's name. The ending _2021 overrides `filter_set`.

    Raises MistakeError if the name does not match GRAMMAR, or 20 bits are too few for the DSIDs.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise MistakeError(f"profile {name!r}: allowed: {GRAMMAR}, such as {PUBLISHED[0]}")
    ofdm, sc_qam, modems = int(match[1]), int(match[2]), int(match[3])
    if ofdm < 1 or ofdm + sc_qam > MOST_CHANNELS:
        raise MistakeError(
            f"profile {name!r}: {GRAMMAR} needs N of 1 or more and N + M of {MOST_CHANNELS} or less"
        )
    if not 1 <= modems <= MOST_MODEMS:
        raise MistakeError(f"profile {name!r}: {GRAMMAR} needs K of 1 to {MOST_MODEMS}")
    if ofdm + sc_qam > 1:
        size.check_dsids(sizes, modems)
    filters = filters_of(FILTERS["2021" if match[5] else filter_set], sizes)
    return Profile(name, ofdm, sc_qam, modems, ENDINGS[match[4]], filters, sizes)


def halves(channels: list[int]) -> tuple[list[int], list[int]]:
    """Splits channels into two halves; a single channel is in both."""
    middle = (len(channels) + 1) // 2
    return channels[:middle], channels[middle:] or channels


def bonding_groups(profile: Profile) -> list[list[int]]:
    """Channel IDs of each bonding group. OFDM channels have the lowest IDs, from 1.

    OFDM only: the two halves of the channels. With SC-QAM: each half of the OFDM channels with each
    half of the SC-QAM channels, so that groups overlap as in a plant with both kinds of modems.
    """
    ofdm = list(range(1, profile.ofdm + 1))
    sc_qam = list(range(profile.ofdm + 1, profile.ofdm + profile.sc_qam + 1))
    if sc_qam:
        return [low + high for low in halves(ofdm) for high in halves(sc_qam)]
    return [ofdm] if len(ofdm) == 1 else list(halves(ofdm))


def channel_lines(profile: Profile, numbers: Numbers) -> Iterator[str]:
    yield "channels:"
    for number in range(1, profile.ofdm + profile.sc_qam + 1):
        kind, rate = ("ofdm", "1.89 Gbps") if number <= profile.ofdm else ("sc-qam", "42.24 Mbps")
        session = numbers.session(0x10000 + number)
        yield (
            f"  - {{id: {number}, type: {kind}, rate: {rate}, session: {session:#010x}, "
            "pseudowire: psp-depi, psp_extra: counter, profile: 0}"
        )


def bonding_lines(profile: Profile) -> Iterator[str]:
    yield "bonding_groups:"
    for number, channels in enumerate(bonding_groups(profile), 1):
        yield f"  - {{id: {number}, channels: [{', '.join(map(str, channels))}]}}"


def key_and_iv(cipher: str, said: int, kind: str, numbers: Numbers) -> tuple[str, str]:
    """Key and initialisation vector in hex. `kind` is hashed: another text gives other keys."""
    both = numbers.key(said, kind)
    if cipher == "aes-256":
        both += numbers.key(said, f"{kind}'s vector")
    key, iv = KEY_DIGITS[cipher], IV_DIGITS[cipher]
    return both[:key], both[key : key + iv]


def security_line(profile: Profile, modem: int, numbers: Numbers) -> str:
    """YAML of a modem's SAID and keys. Beyond 16,383 modems, several share a SAID and its keys."""
    said = (modem - 1) % MOST_SAIDS + 1
    if profile.cipher == "none":
        return f"    security: {{said: {said:#06x}, cipher: none}}"
    key, iv = key_and_iv(profile.cipher, said, "test key", numbers)
    next_key, next_iv = key_and_iv(profile.cipher, said, "next test key", numbers)
    return (
        f"    security: {{said: {said:#06x}, cipher: {profile.cipher}, "
        f'key: "{key}", iv: "{iv}", key_sequence: 1, '
        f'next_key: "{next_key}", next_iv: "{next_iv}"}}'
    )


def flow_lines(modem: int, bonded: bool, sizes: Sizes, qos: quality.Qos) -> Iterator[str]:
    """YAML of a modem's downstream flows. `bonded`: active ones have a DSID."""
    yield "    service_flows:"
    for number in range(sizes.flows):
        flow = (modem - 1) * sizes.flows + number + 1
        if number >= sizes.active_flows:
            yield f"      - {{id: {flow}, state: provisioned}}"
            continue
        dsid = f", dsid: {(modem - 1) * sizes.active_flows + number + 1:#07x}" if bonded else ""
        yield f"      - {{id: {flow}{dsid}, {qos.keys(number)}}}"


def address_line(network: IPv4Address, ipv6_prefix: str, sizes: Sizes) -> str:
    """YAML of the addresses of a modem's CPEs."""
    ipv4 = [str(network + host) for host in range(1, sizes.ipv4_addresses + 1)]
    ipv6 = [f'"{ipv6_prefix}::{host:x}"' for host in range(1, sizes.ipv6_addresses + 1)]
    return f"    addresses: [{', '.join(ipv4 + ipv6)}]"


def modem_lines(
    profile: Profile,
    modem: int,
    groups: list[list[int]],
    qos: quality.Qos,
    numbers: Numbers = FIRST_GROUP,
) -> Iterator[str]:
    sizes = profile.sizes
    network, ipv6 = numbers.ipv4(modem, profile.modems, sizes), numbers.ipv6(modem)
    bonding = (modem - 1) % len(groups)
    yield f'  - mac: "{numbers.modem_mac(modem)}"'
    yield address_line(network, ipv6, sizes)
    yield f"    cpe_limit: {sizes.addresses}"
    yield f"    filter_groups: [{', '.join(map(str, filter_groups_of(profile.filters, modem)))}]"
    yield f"    bonding_group: {bonding + 1}"
    yield security_line(profile, modem, numbers)
    yield from flow_lines(modem, len(groups[bonding]) > 1, sizes, qos)
    yield from classifier_lines(modem, network, ipv6, sizes)
    yield from upstream.flow_lines(modem, profile.modems, profile.modems * sizes.flows)


def header_comment(profile: Profile, options: str = "") -> str:
    """The comment at the top. `options`: of `vcmts profile` besides sizes, each after a blank."""
    filters = profile.filters
    return f"""\
# SPDX-License-Identifier: BSD-3-Clause
# Written by: vcmts profile {profile.name}{options}{size.size_options(profile.sizes)}
# {profile.ofdm} OFDM and {profile.sc_qam} SC-QAM channels, {profile.modems} cable modems, \
{filters.groups} filter groups x {filters.rules} rules;
# Upstream: {upstream.channels(profile.modems)} OFDMA channels, one flow per modem on two of them.
# Keys and initialisation vectors are derived from the SAID: for tests, never for a network.
"""


# Settings of `rphy` that all groups share.
RPHY = {"mtu": "1500", "dscp": "4", "ttl": "64", "flush": "50 us", "max_segments": "16"}


def rphy_addresses(numbers: Numbers) -> dict[str, str]:
    return {
        "core_mac": f'"{numbers.mac(1)}"',
        "rpd_mac": f'"{numbers.mac(2)}"',
        "core_ip": numbers.ip(1),
        "rpd_ip": numbers.ip(2),
    }


def in_braces(values: dict[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {value}' for key, value in values.items())}}}"


def port_lines(ports: PortSet) -> Iterator[str]:
    yield "ports:"
    for key, device in (("network", ports.network), ("rphy", ports.rphy)):
        yield f"  {key}: {{device: {json.dumps(device)}, queue_size: {ports.queue_size}}}"


def thread_keys(cores: Cores | dict[str, str]) -> dict[str, str]:
    """The keys of `threads` with their values as YAML. A dict already has them."""
    if isinstance(cores, dict):
        return cores
    return {
        "downstream": "1ds1t",
        "main_core": str(cores.other),
        "upper_mac_core": str(cores.upper_mac),
        "lower_mac_core": str(cores.other),
        "upstream_core": str(cores.upstream),
    }


# Settings besides RPHY that all groups share.
SHARED_SETTINGS = (
    "rate_limit: 10 Gbps",
    "cpe_timeout: 300 s",
    "filter_default: permit",
    "upstream: {verify_source: true, verify_crc: false}",
)


def head_lines(
    profile: Profile, ports: PortSet, cores: Cores | dict[str, str], provider: Provider
) -> Iterator[str]:
    yield f"name: {profile.name}"
    yield "service_group: 1"
    yield from port_lines(ports)
    yield "max_frame: 2000"
    yield f"threads: {in_braces(thread_keys(cores))}"
    yield "rphy:"
    yield from (f"  {key}: {value}" for key, value in (rphy_addresses(FIRST_GROUP) | RPHY).items())
    yield from SHARED_SETTINGS
    yield from provider.lines()


def all_modem_lines(profile: Profile, qos: quality.Qos, numbers: Numbers) -> Iterator[str]:
    groups = bonding_groups(profile)
    yield "modems:"
    for modem in range(1, profile.modems + 1):
        yield from modem_lines(profile, modem, groups, qos, numbers)


def profile_lines(profile: Profile, qos: quality.Qos) -> Iterator[str]:
    yield from channel_lines(profile, FIRST_GROUP)
    yield from bonding_lines(profile)
    yield from filter_lines(profile.filters)
    yield from upstream.channel_lines(profile.modems, FIRST_GROUP)
    yield from all_modem_lines(profile, qos, FIRST_GROUP)


def write_profile(
    name: str,
    out: TextIO,
    *,
    filter_set: FilterSet = "2023",
    ports: PortSet = MEMIF,
    cores: Cores | dict[str, str] = Cores(),
    qos: quality.Qos = quality.WEIGHTS_ALONE,
    sizes: Sizes = size.AS_PUBLISHED,
    provider: Provider = LIBRARY,
) -> None:
    """Writes the profile `name` to `out` as YAML. `cores`: or the keys of `threads`, as YAML.

    Raises MistakeError as parse_name()."""
    profile = parse_name(name, filter_set, sizes)
    out.write(header_comment(profile))
    out.writelines(f"{line}\n" for line in head_lines(profile, ports, cores, provider))
    out.writelines(f"{line}\n" for line in profile_lines(profile, qos))
