# SPDX-License-Identifier: BSD-3-Clause
"""From an Ethernet frame of the R-PHY device to PSP (docs/upstream.md, "Packets", 1 and 2)."""

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


class Refused(Exception):
    """The packet goes no further; the text is the drop reason."""


@dataclass(frozen=True)
class Psp:
    session: int
    flow: int
    sequence: int | None  # None: S = 0
    segments: tuple[Segment, ...]


def _read_carrier(frame: bytes) -> Packet:
    """At most one 802.1Q tag is passed over."""
    if frame[12:14] == VLAN:
        frame = frame[4:]
    try:
        packet = read_frame(frame)
    except IpFault as fault:
        raise Refused(REASONS[str(fault)]) from fault
    if packet.kind not in ("ipv4", "ipv6"):
        raise Refused("not_l2tp")
    if packet.kind == "ipv4" and internet_checksum(packet.header):
        raise Refused("outer_ip_checksum")
    if packet.fragment:
        raise Refused("outer_fragment")
    return packet


def _read_l2tp(packet: Packet) -> tuple[int, bytes]:
    """Session ID and what follows it (RFC 3931, 4.1)."""
    message = packet.payload
    if packet.protocol == UDP:
        if len(message) < 8:
            raise Refused("l2tp_truncated")
        if PORT not in packet.ports:
            raise Refused("not_l2tp")
        length = int.from_bytes(message[4:6], "big")
        if not 8 <= length <= len(message):
            raise Refused("outer_ip_length")
        message = message[8:length]
        if len(message) < 8:
            raise Refused("l2tp_truncated")
        flags, message = int.from_bytes(message[:2], "big"), message[4:]
        if flags & 0x000F != 3:
            raise Refused("l2tp_version")
        if flags & 0x8000:
            raise Refused("l2tp_control")
        return int.from_bytes(message[:4], "big"), message[4:]
    if packet.protocol != L2TP:
        raise Refused("not_l2tp")
    if len(message) < 4:
        raise Refused("l2tp_truncated")
    if message[:4] == bytes(4):
        raise Refused("l2tp_control")
    return int.from_bytes(message[:4], "big"), message[4:]


def _read_psp(session: int, data: bytes) -> Psp:
    if len(data) < 4:
        raise Refused("psp_truncated")
    if data[0] & 0x80:
        raise Refused("psp_control")
    if data[0] & 0x30:
        raise Refused("psp_extended")
    count = data[1]
    table, rest = data[4 : 4 + 2 * count], data[4 + 2 * count :]
    if len(table) < 2 * count:
        raise Refused("psp_truncated")
    segments = []
    for index in range(count):
        entry = int.from_bytes(table[2 * index : 2 * index + 2], "big")
        length = entry & 0x3FFF
        if length > len(rest):
            raise Refused("psp_truncated")
        segments.append(Segment(rest[:length], bool(entry & 0x8000), bool(entry & 0x4000)))
        rest = rest[length:]
    if rest:
        raise Refused("psp_trailing")
    sequence = int.from_bytes(data[2:4], "big") if data[0] & 0x40 else None
    return Psp(session, data[0] >> 1 & 7, sequence, tuple(segments))


def read_packet(frame: bytes, config: Config) -> Psp:
    """Raises Refused."""
    packet = _read_carrier(frame)
    session, data = _read_l2tp(packet)
    carrier = config.rphy.carrier  # of the other direction
    if (packet.source, packet.destination) != (carrier.destination, carrier.source):
        raise Refused("outer_address")
    if session not in config.upstream.by_session:
        raise Refused("unknown_session")
    return _read_psp(session, data)
