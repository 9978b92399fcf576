# SPDX-License-Identifier: BSD-3-Clause
"""Builds Ethernet frames, valid and invalid, from the values of their fields."""

import struct
from ipaddress import IPv4Address, IPv6Address

from vcmts.witness.crc import internet_checksum
from vcmts.witness.l2tp import Address

GATEWAY = bytes.fromhex("02000000000a")
ROUTER = bytes.fromhex("02000000000b")  # the MAC address that the core network sends to
BROADCAST = b"\xff" * 6
ETHERTYPES = {4: 0x0800, 6: 0x86DD}
ARP = 0x0806
ICMP, TCP, UDP, GRE, ICMPV6 = 1, 6, 17, 47, 58
HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION_OPTIONS, NO_NEXT = 0, 43, 44, 60, 59
AUTHENTICATION, MOBILITY, HIP, SHIM6 = 51, 135, 139, 140
EXTENSIONS = (
    *(HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION_OPTIONS),
    *(AUTHENTICATION, MOBILITY, HIP, SHIM6, 253, 254),
)
MORE_FRAGMENTS = 0x2000
ETHERNET_HEADER = 14
HEADERS = {4: ETHERNET_HEADER + 20, 6: ETHERNET_HEADER + 40}  # Ethernet and IP without options


def ethernet(ethertype: int, payload: bytes, destination: bytes = ROUTER) -> bytes:
    return destination + GATEWAY + ethertype.to_bytes(2, "big") + payload


def udp(source_port: int, destination_port: int, data: bytes) -> bytes:
    return struct.pack(">HHHH", source_port, destination_port, 8 + len(data), 0) + data


def tcp(source_port: int, destination_port: int, data: bytes) -> bytes:
    return struct.pack(">HHIIHHHH", source_port, destination_port, 1, 2, 0x5010, 9, 0, 0) + data


def upper_layer(protocol: int, ports: tuple[int, int], data: bytes) -> bytes:
    """The upper-layer header and `data`. Without ports: type 8 and code 0, as of an ICMP echo."""
    if protocol == UDP:
        return udp(*ports, data)
    if protocol == TCP:
        return tcp(*ports, data)
    return bytes([8, 0, 0, 0]) + data


def ipv4_packet(
    source: IPv4Address,
    destination: IPv4Address,
    protocol: int,
    payload: bytes,
    *,
    tos: int = 0,
    options: bytes = b"",
    fragment: int = 0,
    total_length: int | None = None,
    version_ihl: int | None = None,
) -> bytes:
    """Total length, and version with IHL, are correct unless given. The checksum is correct.
    `fragment`: the field of flags and fragment offset."""
    header_length = 20 + len(options)
    header = bytearray(
        struct.pack(
            ">BBHHHBBH4s4s",
            0x40 | header_length // 4 if version_ihl is None else version_ihl,
            tos,
            header_length + len(payload) if total_length is None else total_length,
            0x1234,
            fragment,
            64,
            protocol,
            0,
            source.packed,
            destination.packed,
        )
        + options
    )
    header[10:12] = internet_checksum(bytes(header)).to_bytes(2, "big")
    return bytes(header) + payload


def ipv6_extension(kind: int, next_header: int, more: int = 0, fragment: int = 0) -> bytes:
    """An extension header. `more`: units of 8 bytes after the first one; `fragment`: offset and
    flag."""
    if kind == FRAGMENT:
        return struct.pack(">BBHI", next_header, 0, fragment, 0x11223344)
    units = 2 * more if kind == AUTHENTICATION else more  # RFC 4302: units of 4 bytes, minus two
    return bytes([next_header, units, 1, 4]) + bytes(4 + 8 * more)


def ipv6_packet(
    source: IPv6Address,
    destination: IPv6Address,
    protocol: int,
    payload: bytes,
    *,
    traffic_class: int = 0,
    extensions: tuple[tuple[int, int, int], ...] = (),
    payload_length: int | None = None,
    version: int = 6,
) -> bytes:
    """`extensions`: (kind, units of 8 bytes after the first, fragment offset and M flag)."""
    for kind, more, fragment in reversed(extensions):
        payload = ipv6_extension(kind, protocol, more, fragment) + payload
        protocol = kind
    length = len(payload) if payload_length is None else payload_length
    first = version << 28 | traffic_class << 20 | 0x12345
    head = struct.pack(">IHBB", first, length, protocol, 64)
    return head + source.packed + destination.packed + payload


def ip_frame(
    source: Address, destination: Address, protocol: int, payload: bytes, tos: int = 0
) -> bytes:
    if isinstance(source, IPv4Address) and isinstance(destination, IPv4Address):
        packet = ipv4_packet(source, destination, protocol, payload, tos=tos)
    elif isinstance(source, IPv6Address) and isinstance(destination, IPv6Address):
        packet = ipv6_packet(source, destination, protocol, payload, traffic_class=tos)
    else:
        raise ValueError(f"found {source} and {destination}, allowed: addresses of one family")
    return ethernet(ETHERTYPES[destination.version], packet)


def udp_frame(destination: Address, size: int, fill: int = 0) -> bytes:
    """A UDP frame of exactly `size` bytes to port 9. `fill`: its data, repeated."""
    source: Address = (
        IPv4Address("192.0.2.1") if destination.version == 4 else IPv6Address("2001:db8:ff::1")
    )
    empty = HEADERS[destination.version] + 8
    if size < empty:
        raise ValueError(f"size: found {size}, allowed: {empty} and more")
    data = (fill.to_bytes(8, "big") * (size // 8 + 1))[: size - empty]
    return ip_frame(source, destination, UDP, udp(9, 9, data))


def arp_frame(target: IPv4Address, operation: int = 1, padding: int = 18) -> bytes:
    body = struct.pack(
        ">HHBBH6s4s6s4s",
        *(1, ETHERTYPES[4], 6, 4, operation),
        *(GATEWAY, IPv4Address("192.0.2.1").packed, bytes(6), target.packed),
    )
    return ethernet(ARP, body + bytes(padding), BROADCAST)
