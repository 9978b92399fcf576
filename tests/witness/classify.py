# SPDX-License-Identifier: BSD-3-Clause
"""Which modem and service flow an Ethernet frame is for, or why it is dropped: a slow model.

One rule after the other, in plain words; the data plane does the same in bulk with hash tables and
compiled rule sets, and has to agree.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_network

from vcmts.witness.crc import internet_checksum
from vcmts.witness.l2tp import Address
from vcmts.witness.model import Config, Match, Modem, Network

ETHERNET_HEADER = 14
CRC_LENGTH = 4
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_ARP = 0x0806
ETHERTYPE_IPV6 = 0x86DD
VLAN_TAGS = (0x8100, 0x88A8)
GROUP_DESTINATIONS = tuple(
    ip_network(text) for text in ("224.0.0.0/4", "255.255.255.255/32", "ff00::/8")
)
PORT_PROTOCOLS = (6, 17)  # TCP, UDP
ALL_PORTS = (0, 65535)
FRAGMENT, AUTHENTICATION = 44, 51
EXPERIMENTS = (253, 254)
# RFC 7045, section 4, without ESP, behind which nothing can be read
EXTENSION_HEADERS = frozenset({0, 43, FRAGMENT, AUTHENTICATION, 60, 135, 139, 140, *EXPERIMENTS})
MAX_EXTENSION_HEADERS = 16
SHORTEST = 60  # bytes of an Ethernet frame without CRC (IEEE 802.3)


@dataclass(frozen=True)
class Admitted:
    """The frame as it goes to the modem, and the ID of its service flow."""

    modem: Modem
    flow: int
    frame: bytes


@dataclass(frozen=True)
class Dropped:
    reason: str


class _DropError(Exception):
    """Ends the way of a frame; the text is the reason's name."""


@dataclass(frozen=True)
class Headers:
    """What rules look at. `family` llc stands for everything that is not IP."""

    family: str
    ethertype: int
    source: Address | None = None
    destination: Address | None = None
    protocol: int = 0
    tos: int = 0
    ports: tuple[int, int] | None = None  # source and destination
    extensions: frozenset[int] = frozenset()  # types of IPv6 extension headers


def _ports(protocol: int, data: bytes) -> tuple[int, int] | None:
    if protocol not in PORT_PROTOCOLS or len(data) < 4:
        return None
    source, destination = struct.unpack_from(">HH", data)
    return source, destination


def _parse_ipv4(packet: bytes) -> Headers:
    if len(packet) < 20 or packet[0] >> 4 != 4:
        raise _DropError("ipv4_header")
    header_length = (packet[0] & 0x0F) * 4
    if not 20 <= header_length <= len(packet):
        raise _DropError("ipv4_header")
    total_length = int.from_bytes(packet[2:4], "big")
    if not header_length <= total_length <= len(packet):
        raise _DropError("ipv4_length")
    if internet_checksum(packet[:header_length]):
        raise _DropError("ipv4_checksum")
    protocol = packet[9]
    fragment_offset = int.from_bytes(packet[6:8], "big") & 0x1FFF
    payload = b"" if fragment_offset else packet[header_length:total_length]
    return Headers(
        "ipv4",
        ETHERTYPE_IPV4,
        IPv4Address(packet[12:16]),
        IPv4Address(packet[16:20]),
        protocol,
        packet[1],
        _ports(protocol, payload),
    )


def _extension_size(kind: int, data: bytes) -> int | None:
    """Bytes of the extension header that the data begin with; None where it is cut off."""
    if len(data) < 8:
        return None
    if kind == FRAGMENT:
        return 8
    size = (data[1] + 2) * 4 if kind == AUTHENTICATION else (data[1] + 1) * 8
    return size if size <= len(data) else None


def _walk_extension_headers(protocol: int, data: bytes) -> tuple[int, bytes, frozenset[int]]:
    """The upper protocol, its bytes (none for later fragments), and which headers were passed."""
    passed: list[int] = []
    first_fragment = False
    while protocol in EXTENSION_HEADERS:
        size = _extension_size(protocol, data)
        if size is None and protocol in EXPERIMENTS:
            break
        if size is None:
            raise _DropError("ipv6_header")
        if len(passed) == MAX_EXTENSION_HEADERS:
            raise _DropError("ipv6_extensions")
        passed.append(protocol)
        word = int.from_bytes(data[2:4], "big") if protocol == FRAGMENT else 0
        protocol, data = data[0], data[size:]
        if word & 0xFFF8:
            return protocol, b"", frozenset(passed)
        first_fragment |= bool(word & 1)
    if first_fragment and protocol in PORT_PROTOCOLS and len(data) < 4:
        raise _DropError("ipv6_header")  # RFC 7112
    return protocol, data, frozenset(passed)


def _parse_ipv6(packet: bytes) -> Headers:
    if len(packet) < 40 or packet[0] >> 4 != 6:
        raise _DropError("ipv6_header")
    first, payload_length, next_header = struct.unpack_from(">IHB", packet)
    if 40 + payload_length > len(packet):
        raise _DropError("ipv6_length")
    protocol, payload, passed = _walk_extension_headers(
        next_header, packet[40 : 40 + payload_length]
    )
    return Headers(
        "ipv6",
        ETHERTYPE_IPV6,
        IPv6Address(packet[8:24]),
        IPv6Address(packet[24:40]),
        protocol,
        first >> 20 & 0xFF,
        _ports(protocol, payload),
        passed,
    )


def _parse_arp(packet: bytes) -> Headers:
    """ARP for IPv4 over Ethernet; the destination is the target protocol address."""
    if len(packet) < 28 or packet[:6] != bytes.fromhex("000108000604"):
        raise _DropError("arp_malformed")
    return Headers("llc", ETHERTYPE_ARP, destination=IPv4Address(packet[24:28]))


def untagged(frame: bytes) -> bytes:
    """Without a tag that has a priority and no VLAN, which means no more here (802.1Q, 6.9)."""
    if len(frame) < 18 or frame[12:14] != b"\x81\x00" or frame[14] & 0x0F or frame[15]:
        return frame
    return frame[:12] + frame[16:]


def parse(frame: bytes, max_frame: int) -> Headers:
    """Checks in the order of the drop reasons; raises the first that holds."""
    return _parse_untagged(untagged(frame), max_frame)


def _parse_untagged(frame: bytes, max_frame: int) -> Headers:
    if len(frame) < ETHERNET_HEADER:
        raise _DropError("runt")
    if len(frame) > max_frame - CRC_LENGTH:
        raise _DropError("frame_too_long")
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype in VLAN_TAGS:
        raise _DropError("vlan")
    packet = frame[ETHERNET_HEADER:]
    if ethertype == ETHERTYPE_IPV4:
        return _parse_ipv4(packet)
    if ethertype == ETHERTYPE_IPV6:
        return _parse_ipv6(packet)
    if ethertype == ETHERTYPE_ARP:
        return _parse_arp(packet)
    return Headers("llc", ethertype)


def _within(network: Network | None, address: Address | None) -> bool:
    if network is None:
        return True
    return address is not None and address.version == network.version and address in network


def _ports_match(match: Match, ports: tuple[int, int] | None) -> bool:
    """A packet without ports meets no criterion of them; all ports are none."""
    wanted = match.source_ports, match.destination_ports
    if wanted == (ALL_PORTS, ALL_PORTS):
        return True
    return ports is not None and all(
        low <= port <= high for port, (low, high) in zip(ports, wanted, strict=True)
    )


def matches(match: Match, headers: Headers) -> bool:
    """Whether every part that the rule gives holds. The EtherType is one of every frame."""
    if match.family == "llc":
        return match.ethertype is None or match.ethertype == headers.ethertype
    if match.family != headers.family:
        return False
    value, mask = match.tos if match.tos is not None else (0, 0)
    return (
        _within(match.source, headers.source)
        and _within(match.destination, headers.destination)
        and (match.protocol is None or match.protocol in {headers.protocol, *headers.extensions})
        and headers.tos & mask == value & mask
        and _ports_match(match, headers.ports)
    )


def _is_multicast(frame: bytes, headers: Headers) -> bool:
    """By IP where there is IP. ARP asks by broadcast for one address, so it is none."""
    if headers.ethertype == ETHERTYPE_ARP:
        return False
    if headers.destination is None:
        return bool(frame[0] & 1)
    return any(_within(network, headers.destination) for network in GROUP_DESTINATIONS)


@dataclass
class Model:
    """The lookup with its memory: which addresses of each modem are active."""

    config: Config
    _last_seen: dict[bytes, dict[Address, int]] = field(default_factory=dict)

    def change(self, config: Config) -> None:
        """From now on that one is in service: what it still has of modems is remembered."""
        self.config = config
        self._last_seen = {
            mac: {
                address: last
                for address, last in seen.items()
                if address in config.by_mac[mac].addresses
            }
            for mac, seen in self._last_seen.items()
            if mac in config.by_mac
        }

    def _admit_address(self, modem: Modem, address: Address, time_ns: int) -> None:
        seen = self._last_seen.setdefault(modem.mac, {})
        for other, last in list(seen.items()):
            if time_ns - last >= self.config.cpe_timeout_ns:
                del seen[other]
        limit = modem.cpe_limit if address.version == 4 else modem.cpe_limit_ipv6
        alike = sum(other.version == address.version for other in seen)
        if address not in seen and alike >= limit:
            raise _DropError("cpe_limit")
        seen[address] = time_ns

    def _look_up(self, frame: bytes, headers: Headers, time_ns: int) -> Modem:
        if _is_multicast(frame, headers):
            raise _DropError("multicast")
        if headers.destination is None:
            modem = self.config.by_mac.get(frame[:6])
        else:
            modem = self.config.by_address.get(headers.destination)
        if modem is None:
            raise _DropError("unknown_destination")
        if headers.destination is not None:
            self._admit_address(modem, headers.destination, time_ns)
        return modem

    def _permitted(self, modem: Modem, headers: Headers) -> bool:
        for group in modem.filter_groups:
            for rule in self.config.filter_groups[group]:
                if matches(rule.match, headers):
                    return rule.permit
        return self.config.filter_default_permit

    def classify(self, frame: bytes, time_ns: int = 0) -> Admitted | Dropped:
        """The verdict on the next frame; an admitted address stays active for the timeout."""
        frame = untagged(frame)
        try:
            headers = _parse_untagged(frame, self.config.max_frame)
            modem = self._look_up(frame, headers, time_ns)
            if not self._permitted(modem, headers):
                raise _DropError("filter_deny")
        except _DropError as drop:
            return Dropped(str(drop))
        flow = modem.flows[0].id
        for classifier in modem.classifiers:
            if matches(classifier.match, headers):
                flow = classifier.flow
                break
        return Admitted(modem, flow, (modem.mac + frame[6:]).ljust(SHORTEST, b"\0"))


def expected_flows(
    frames: Iterable[tuple[bytes, int]], config: Config
) -> tuple[dict[tuple[int, ...], list[bytes]], dict[str, int]]:
    """What ought to come out for these (frame, time in ns), in the keys of downstream.Result.flows,
    and how many frames each drop reason takes."""
    model = Model(config)
    flows: dict[tuple[int, ...], list[bytes]] = {}
    drops: dict[str, int] = {}
    for frame, time_ns in frames:
        verdict = model.classify(frame, time_ns)
        if isinstance(verdict, Dropped):
            drops[verdict.reason] = drops.get(verdict.reason, 0) + 1
            continue
        target = next(flow for flow in verdict.modem.flows if flow.id == verdict.flow)
        flows.setdefault(verdict.modem.wire_group(target), []).append(verdict.frame)
    return flows, drops
