# SPDX-License-Identifier: BSD-3-Clause
"""Encodes Ethernet frames of subscribers, without CRC."""

import struct
from ipaddress import IPv4Address, IPv6Address

from vcmts.witness.crc import internet_checksum
from vcmts.witness.l2tp import Address

GATEWAY_MAC = bytes.fromhex("0200000000FE")
SUBSCRIBER_MAC = bytes.fromhex("0200000000AA")
UDP_HEADER = 8


def _ethernet(ethertype: int, body: bytes) -> bytes:
    return GATEWAY_MAC + SUBSCRIBER_MAC + ethertype.to_bytes(2, "big") + body


def ip_frame(source: Address, destination: Address, protocol: int, body: bytes) -> bytes:
    if isinstance(source, IPv4Address):
        fixed = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0)
        header = fixed + source.packed + destination.packed
        checksum = internet_checksum(header).to_bytes(2, "big")
        return _ethernet(0x0800, header[:10] + checksum + header[12:] + body)
    header = struct.pack(">IHBB", 6 << 28, len(body), protocol, 64)
    return _ethernet(0x86DD, header + source.packed + destination.packed + body)


def udp_frame(
    source: Address, destination: Address, ports: tuple[int, int], data: bytes = b""
) -> bytes:
    """A UDP packet without checksum, which no receiver verifies."""
    datagram = struct.pack(">HHHH", *ports, UDP_HEADER + len(data), 0) + data
    return ip_frame(source, destination, 17, datagram)


def arp_frame(sender: IPv4Address, target: IPv4Address) -> bytes:
    fixed = bytes.fromhex("0001080006040001")
    body = fixed + SUBSCRIBER_MAC + sender.packed + bytes(6) + target.packed
    return _ethernet(0x0806, body)


def numbered_frame(source: Address, number: int, size: int) -> bytes:
    """A UDP packet of `size` bytes or more, whose payload depends on `number`."""
    destination: Address = (
        IPv4Address("198.51.100.1")
        if isinstance(source, IPv4Address)
        else IPv6Address("2001:db8:ffff::1")
    )
    empty = len(udp_frame(source, destination, (0, 0)))
    pattern = number.to_bytes(4, "big") * (size // 4 + 1)
    return udp_frame(source, destination, (50000, 5004), pattern[: max(size - empty, 4)])
