# SPDX-License-Identifier: BSD-3-Clause
"""Model: parses Ethernet frames of the R-PHY device up to PSP (docs/upstream.md, "Packets", 1,
2)."""

from dataclasses import dataclass

from vcmts.witness.crc import internet_checksum
from vcmts.witness.depi import Segment
from vcmts.witness.ip import UDP, IpFault, Packet, read_frame
from vcmts.witness.model import Config

L2TP = 115
PORT = 1701
VLAN = b"\x81\x00"
REASONS = {
    "runt": "outer_runt",
    "vlan": "not_l2tp",
    "arp_malformed": "not_l2tp",
    "ipv4_header": "outer_ip_header",
    "ipv6_header": "outer_ip_header",
    "ipv4_length": "outer_ip_length",
    "ipv6_length": "outer_ip_length",
}


class PacketDropped(Exception):
    """The packet is dropped; the text is the drop reason."""


@dataclass(frozen=True)
class Psp:
    session: int
    flow: int
    sequence: int | None  # None: S = 0
    segments: tuple[Segment, ...]


def _read_carrier(frame: bytes) -> Packet:
    """Parses Ethernet and IP. Skips one 802.1Q tag."""
    if frame[12:14] == VLAN:
        frame = frame[4:]
    try:
        packet = read_frame(frame)
    except IpFault as fault:
        raise PacketDropped(REASONS[str(fault)]) from fault
    if packet.kind not in ("ipv4", "ipv6"):
        raise PacketDropped("not_l2tp")
    if packet.kind == "ipv4" and internet_checksum(packet.header):
        raise PacketDropped("outer_ip_checksum")
    if packet.fragment:
        raise PacketDropped("outer_fragment")
    return packet


def _read_l2tp(packet: Packet) -> tuple[int, bytes]:
    """Returns session ID and payload (RFC 3931, 4.1)."""
    message = packet.payload
    if packet.protocol == UDP:
        if len(message) < 8:
            raise PacketDropped("l2tp_truncated")
        if PORT not in packet.ports:
            raise PacketDropped("not_l2tp")
        length = int.from_bytes(message[4:6], "big")
        if not 8 <= length <= len(message):
            raise PacketDropped("outer_ip_length")
        message = message[8:length]
        if len(message) < 8:
            raise PacketDropped("l2tp_truncated")
        flags, message = int.from_bytes(message[:2], "big"), message[4:]
        if flags & 0x000F != 3:
            raise PacketDropped("l2tp_version")
        if flags & 0x8000:
            raise PacketDropped("l2tp_control")
        return int.from_bytes(message[:4], "big"), message[4:]
    if packet.protocol != L2TP:
        raise PacketDropped("not_l2tp")
    if len(message) < 4:
        raise PacketDropped("l2tp_truncated")
    if message[:4] == bytes(4):
        raise PacketDropped("l2tp_control")
    return int.from_bytes(message[:4], "big"), message[4:]


def _read_psp(session: int, data: bytes) -> Psp:
    if len(data) < 4:
        raise PacketDropped("psp_truncated")
    if data[0] & 0x80:
        raise PacketDropped("psp_control")
    if data[0] & 0x30:
        raise PacketDropped("psp_extended")
    count = data[1]
    table, rest = data[4 : 4 + 2 * count], data[4 + 2 * count :]
    if len(table) < 2 * count:
        raise PacketDropped("psp_truncated")
    segments = []
    for index in range(count):
        entry = int.from_bytes(table[2 * index : 2 * index + 2], "big")
        length = entry & 0x3FFF
        if length > len(rest):
            raise PacketDropped("psp_truncated")
        segments.append(Segment(rest[:length], bool(entry & 0x8000), bool(entry & 0x4000)))
        rest = rest[length:]
    if rest:
        raise PacketDropped("psp_trailing")
    sequence = int.from_bytes(data[2:4], "big") if data[0] & 0x40 else None
    return Psp(session, data[0] >> 1 & 7, sequence, tuple(segments))


def read_packet(frame: bytes, config: Config) -> Psp:
    """Parses a packet. Raises PacketDropped."""
    packet = _read_carrier(frame)
    session, data = _read_l2tp(packet)
    carrier = config.rphy.carrier  # of the downstream
    if (packet.source, packet.destination) != (carrier.destination, carrier.source):
        raise PacketDropped("outer_address")
    if session not in config.upstream.by_session:
        raise PacketDropped("unknown_session")
    return _read_psp(session, data)
