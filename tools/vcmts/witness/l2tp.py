# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes L2TPv3 data messages (RFC 3931) over IPv4 or IPv6, with or without UDP.

There is no cookie. The session ID follows the IP header, or four bytes of flags in a UDP datagram.
Session 0 is the control channel.
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from vcmts.witness.crc import internet_checksum

ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_IPV6 = 0x86DD
ETHERNET_HEADER = 14
ETHERNET_MINIMUM = 60  # without CRC; shorter packets are padded up to it
PROTOCOL_UDP = 17
PROTOCOL_L2TP = 115
PORT_L2TP = 1701
Address = IPv4Address | IPv6Address


class L2tpError(ValueError):
    """Malformed L2TPv3 packet, or values that do not fit its fields."""


@dataclass(frozen=True)
class Carrier:
    """Fields of the outer headers. Both addresses have the same family."""

    destination_mac: bytes
    source_mac: bytes
    source: Address
    destination: Address
    dscp: int = 4
    ecn: int = 0
    ttl: int = 64
    dont_fragment: bool = True  # always true for IPv6
    udp: bool = False
    identification: int = 0  # IPv4 only


@dataclass(frozen=True)
class Datagram:
    """An L2TPv3 message. `payload`: bytes after the session ID; `ip_length`: with the IP header."""

    carrier: Carrier
    session: int
    payload: bytes
    ip_length: int


def _ipv4_header(carrier: Carrier, protocol: int, payload_length: int) -> bytes:
    header = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        carrier.dscp << 2 | carrier.ecn,
        20 + payload_length,
        carrier.identification,
        0x4000 if carrier.dont_fragment else 0,
        carrier.ttl,
        protocol,
        0,
        carrier.source.packed,
        carrier.destination.packed,
    )
    return header[:10] + internet_checksum(header).to_bytes(2, "big") + header[12:]


def _ipv6_header(carrier: Carrier, protocol: int, payload_length: int) -> bytes:
    traffic_class = carrier.dscp << 2 | carrier.ecn
    first = 6 << 28 | traffic_class << 20
    fixed = struct.pack(">IHBB", first, payload_length, protocol, carrier.ttl)
    return fixed + carrier.source.packed + carrier.destination.packed


def _udp_checksum(source: Address, destination: Address, datagram: bytes) -> int:
    """The checksum over pseudo header and datagram; 0 if the datagram contains its checksum."""
    pseudo = source.packed + destination.packed
    pseudo += struct.pack(">II", len(datagram), PROTOCOL_UDP)
    return internet_checksum(pseudo + datagram)


def _udp(carrier: Carrier, payload: bytes) -> bytes:
    header = struct.pack(">HHHH", PORT_L2TP, PORT_L2TP, 8 + len(payload), 0)
    checksum = _udp_checksum(carrier.source, carrier.destination, header + payload) or 0xFFFF
    return header[:6] + checksum.to_bytes(2, "big") + payload


def encode_datagram(carrier: Carrier, session: int, payload: bytes) -> bytes:
    """Returns an Ethernet frame without CRC, padded to the minimum."""
    if carrier.source.version != carrier.destination.version:
        raise L2tpError("source and destination are of different IP versions")
    try:
        message = session.to_bytes(4, "big") + payload
        if carrier.udp:
            message = _udp(carrier, b"\x00\x03\x00\x00" + message)
        protocol = PROTOCOL_UDP if carrier.udp else PROTOCOL_L2TP
        ipv4 = carrier.source.version == 4
        ip_header = (_ipv4_header if ipv4 else _ipv6_header)(carrier, protocol, len(message))
    except (struct.error, OverflowError) as error:
        raise L2tpError(f"a value does not fit its field: {error}") from error
    ethertype = (ETHERTYPE_IPV4 if ipv4 else ETHERTYPE_IPV6).to_bytes(2, "big")
    frame = carrier.destination_mac + carrier.source_mac + ethertype + ip_header + message
    return frame.ljust(ETHERNET_MINIMUM, b"\0")


@dataclass(frozen=True)
class _Ip:
    source: Address
    destination: Address
    traffic_class: int
    ttl: int
    dont_fragment: bool
    identification: int
    protocol: int
    length: int
    payload: bytes


def _decode_ipv4(packet: bytes) -> _Ip:
    if len(packet) < 20 or packet[0] >> 4 != 4:
        raise L2tpError("no IPv4 header")
    header_length = (packet[0] & 0x0F) * 4
    length, identification, fragment = struct.unpack_from(">HHH", packet, 2)
    if header_length < 20 or not header_length <= length <= len(packet):
        raise L2tpError(f"IPv4 header {header_length}, length {length}, {len(packet)} bytes there")
    if internet_checksum(packet[:header_length]):
        raise L2tpError("IPv4 header checksum is wrong")
    if fragment & 0x3FFF:
        raise L2tpError("IPv4 fragment")
    return _Ip(
        source=IPv4Address(packet[12:16]),
        destination=IPv4Address(packet[16:20]),
        traffic_class=packet[1],
        ttl=packet[8],
        dont_fragment=bool(fragment & 0x4000),
        identification=identification,
        protocol=packet[9],
        length=length,
        payload=packet[header_length:length],
    )


def _decode_ipv6(packet: bytes) -> _Ip:
    if len(packet) < 40 or packet[0] >> 4 != 6:
        raise L2tpError("no IPv6 header")
    first, payload_length, protocol, hop_limit = struct.unpack_from(">IHBB", packet)
    length = 40 + payload_length
    if length > len(packet):
        raise L2tpError(f"IPv6 packet of {length} bytes, {len(packet)} there")
    return _Ip(
        source=IPv6Address(packet[8:24]),
        destination=IPv6Address(packet[24:40]),
        traffic_class=first >> 20 & 0xFF,
        ttl=hop_limit,
        dont_fragment=True,
        identification=0,
        protocol=protocol,
        length=length,
        payload=packet[40:length],
    )


def _strip_udp(ip: _Ip) -> bytes:
    if len(ip.payload) < 8:
        raise L2tpError(f"UDP datagram of {len(ip.payload)} bytes")
    _, port, length, checksum = struct.unpack_from(">HHHH", ip.payload)
    if port != PORT_L2TP:
        raise L2tpError(f"UDP port {port}, not {PORT_L2TP}")
    if length != len(ip.payload):
        raise L2tpError(f"UDP length {length}, {len(ip.payload)} bytes there")
    if checksum and _udp_checksum(ip.source, ip.destination, ip.payload):
        raise L2tpError("UDP checksum is wrong")
    return ip.payload[8:]


def _session_and_payload(ip: _Ip) -> tuple[int, bytes]:
    if ip.protocol == PROTOCOL_L2TP:
        message = ip.payload
    elif ip.protocol == PROTOCOL_UDP:
        message = _strip_udp(ip)
        flags = int.from_bytes(message[:2], "big")
        if len(message) < 4 or flags & 0x000F != 3:
            raise L2tpError(f"L2TP version {flags & 0x000F}, not 3")
        if flags & 0x8000:
            return 0, message
        message = message[4:]
    else:
        raise L2tpError(f"IP protocol {ip.protocol} carries no L2TPv3")
    if len(message) < 4:
        raise L2tpError(f"L2TPv3 message of {len(message)} bytes")
    return int.from_bytes(message[:4], "big"), message[4:]


def decode_datagram(frame: bytes) -> Datagram:
    """Decodes an Ethernet frame without CRC."""
    if len(frame) < ETHERNET_HEADER:
        raise L2tpError(f"{len(frame)} bytes are no Ethernet frame")
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype == ETHERTYPE_IPV4:
        ip = _decode_ipv4(frame[ETHERNET_HEADER:])
    elif ethertype == ETHERTYPE_IPV6:
        ip = _decode_ipv6(frame[ETHERNET_HEADER:])
    else:
        raise L2tpError(f"EtherType {ethertype:#06x} is not IP")
    if len(frame) > max(ETHERNET_MINIMUM, ETHERNET_HEADER + ip.length):
        raise L2tpError(f"{len(frame) - ETHERNET_HEADER - ip.length} bytes behind the IP packet")
    session, payload = _session_and_payload(ip)
    carrier = Carrier(
        destination_mac=frame[:6],
        source_mac=frame[6:12],
        source=ip.source,
        destination=ip.destination,
        dscp=ip.traffic_class >> 2,
        ecn=ip.traffic_class & 3,
        ttl=ip.ttl,
        dont_fragment=ip.dont_fragment,
        udp=ip.protocol == PROTOCOL_UDP,
        identification=ip.identification,
    )
    return Datagram(carrier, session, payload, ip.length)
