# SPDX-License-Identifier: BSD-3-Clause
"""Parses Ethernet frames: addresses, protocol, ports and payload. Does not verify checksums."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from vcmts.witness.l2tp import Address

ETHERNET_HEADER = 14
SHORTEST = 60  # minimum bytes of an Ethernet frame without CRC (IEEE 802.3)
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_ARP = 0x0806
ETHERTYPE_IPV6 = 0x86DD
VLAN_TAGS = (0x8100, 0x88A8)
UDP = 17
ICMPV6 = 58
IGMP = 2
FRAGMENT, AUTHENTICATION = 44, 51
EXPERIMENTS = (253, 254)
# All of RFC 7045 but ESP, which hides the following headers.
EXTENSIONS = (0, 43, FRAGMENT, AUTHENTICATION, 60, 135, 139, 140, *EXPERIMENTS)
MAX_EXTENSION_HEADERS = 16


class IpFault(ValueError):
    """The frame is malformed; the text is the drop reason of the downstream."""


@dataclass(frozen=True)
class Packet:
    """`kind`: ipv4, ipv6, arp or other. `source` of an ARP packet is the sender's address."""

    kind: str
    source: Address | None = None
    destination: Address | None = None
    protocol: int = 0
    fragment: bool = False
    header: bytes = b""  # of IPv4, for its checksum
    payload: bytes = b""  # by the length in the IP header
    ports: tuple[int, int] = (0, 0)


def _ports(protocol: int, payload: bytes) -> tuple[int, int]:
    if protocol not in (6, UDP) or len(payload) < 4:
        return 0, 0
    return int.from_bytes(payload[:2], "big"), int.from_bytes(payload[2:4], "big")


def _read_ipv4(packet: bytes) -> Packet:
    if len(packet) < 20 or packet[0] >> 4 != 4:
        raise IpFault("ipv4_header")
    header_length = (packet[0] & 0x0F) * 4
    if not 20 <= header_length <= len(packet):
        raise IpFault("ipv4_header")
    total_length = int.from_bytes(packet[2:4], "big")
    if not header_length <= total_length <= len(packet):
        raise IpFault("ipv4_length")
    fragment = int.from_bytes(packet[6:8], "big") & 0x3FFF
    payload = packet[header_length:total_length]
    return Packet(
        "ipv4",
        IPv4Address(packet[12:16]),
        IPv4Address(packet[16:20]),
        packet[9],
        bool(fragment),
        packet[:header_length],
        payload,
        (0, 0) if fragment & 0x1FFF else _ports(packet[9], payload),
    )


def _extension_size(kind: int, data: bytes) -> int:
    if kind == FRAGMENT or len(data) < 8:
        return 8
    if kind == AUTHENTICATION:
        return 4 * (2 + data[1])
    return 8 * (1 + data[1])


def _read_ipv6(packet: bytes) -> Packet:
    if len(packet) < 40 or packet[0] >> 4 != 6:
        raise IpFault("ipv6_header")
    length = int.from_bytes(packet[4:6], "big")
    if 40 + length > len(packet):
        raise IpFault("ipv6_length")
    protocol, data = packet[6], packet[40 : 40 + length]
    fragment = later = False
    passed = 0
    while not later and protocol in EXTENSIONS:
        size = _extension_size(protocol, data)
        if size > len(data):
            if protocol in EXPERIMENTS:
                break
            raise IpFault("ipv6_header")
        if passed == MAX_EXTENSION_HEADERS:
            raise IpFault("ipv6_extensions")
        passed += 1
        if protocol == FRAGMENT:
            bits = int.from_bytes(data[2:4], "big")
            fragment |= bool(bits & 0xFFF9)
            later = bool(bits & 0xFFF8)
        protocol, data = data[0], data[size:]
    if fragment and not later and protocol in (6, UDP) and len(data) < 4:
        raise IpFault("ipv6_header")
    return Packet(
        "ipv6",
        IPv6Address(packet[8:24]),
        IPv6Address(packet[24:40]),
        protocol,
        fragment,
        b"",
        data,
        (0, 0) if later else _ports(protocol, data),
    )


def _read_arp(packet: bytes) -> Packet:
    if len(packet) < 28 or packet[:6] != bytes.fromhex("000108000604"):
        raise IpFault("arp_malformed")
    return Packet("arp", IPv4Address(packet[14:18]), IPv4Address(packet[24:28]))


def priority(frame: bytes) -> int | None:
    """PCP and DEI (4 bits) of a priority tag, which has VLAN ID 0 (802.1Q, 6.9); None without
    one."""
    if len(frame) < 18 or frame[12:14] != b"\x81\x00":
        return None
    control = int.from_bytes(frame[14:16], "big")
    return None if control & 0x0FFF else control >> 12


def strip_priority_tag(frame: bytes) -> bytes:
    return frame if priority(frame) is None else frame[:12] + frame[16:]


def ethernet_frame(frame: bytes) -> bytes:
    """A modem's frame as it leaves the network port: without priority tag, padded to the
    minimum."""
    return strip_priority_tag(frame).ljust(SHORTEST, b"\0")


def read_frame(frame: bytes) -> Packet:
    """Parses an Ethernet frame without CRC. Bytes after the IP packet are padding."""
    if len(frame) < ETHERNET_HEADER:
        raise IpFault("runt")
    frame = strip_priority_tag(frame)
    ethertype, packet = int.from_bytes(frame[12:14], "big"), frame[ETHERNET_HEADER:]
    if ethertype in VLAN_TAGS:
        raise IpFault("vlan")
    if ethertype == ETHERTYPE_IPV4:
        return _read_ipv4(packet)
    if ethertype == ETHERTYPE_IPV6:
        return _read_ipv6(packet)
    if ethertype == ETHERTYPE_ARP:
        return _read_arp(packet)
    return Packet("other")
