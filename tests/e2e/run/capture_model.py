# SPDX-License-Identifier: BSD-3-Clause
"""Model of `vcmts-traffic --replay`, after its documentation: which packets of a capture are sent,
and with which bytes. Independent of the C code."""

from collections import Counter
from dataclasses import dataclass, field

from vcmts.witness.crc import internet_checksum
from vcmts.witness.l2tp import Address
from vcmts.witness.model import Config, Modem
from vcmts.witness.pcapfile import Record
from witness.classify import matches, parse

VLAN = (0x8100, 0x88A8, 0x9100)
EXTENSIONS = (0, 43, 60)
ICMP, TCP, UDP, IPV6_FRAGMENT, ICMPV6 = 1, 6, 17, 44, 58
CHECKSUMS = {UDP: 6, TCP: 16}  # offsets in the upper-layer header
TAG = 20  # bytes
SHORTEST = 60  # bytes of a frame
ROUTER = bytes.fromhex("02000000ff01")


class SkippedError(Exception):
    """The packet is not replayed. The text is the name of the reason."""


@dataclass
class ReplayedPacket:
    """A packet that is replayed, without its tag, which only the sender knows."""

    frame: bytearray
    upper: int  # offset of the upper-layer header
    end: int  # of the IP packet
    tag_offset: int  # from the start of the frame
    checksum_offset: int | None
    lengthened: bool
    destination: Address | None = None
    modem: Modem | None = None

    def sent_with(self, tag: bytes) -> bytes:
        """The frame as it must be sent with this tag."""
        frame = bytearray(self.frame)
        frame[self.tag_offset : self.tag_offset + TAG] = tag
        if self.checksum_offset is not None:
            frame[self.checksum_offset : self.checksum_offset + 2] = bytes(2)
            checksum = internet_checksum(self.pseudo_header() + bytes(frame[self.upper : self.end]))
            if checksum == 0 and self.protocol() == UDP:
                checksum = 0xFFFF
            frame[self.checksum_offset : self.checksum_offset + 2] = checksum.to_bytes(2, "big")
        return bytes(frame)

    def protocol(self) -> int:
        at = 14 + 9 if self.frame[14] >> 4 == 4 else 14 + 6
        return _find_upper(self.frame[14:], self.frame[at])[1]

    def pseudo_header(self) -> bytes:
        length = (self.end - self.upper).to_bytes(4, "big")
        if self.protocol() == ICMP:
            return b""
        addresses = self.frame[26:34] if self.frame[14] >> 4 == 4 else self.frame[22:54]
        return bytes(addresses) + length + self.protocol().to_bytes(4, "big")


def _find_upper(packet: bytes | bytearray, protocol: int) -> tuple[int, int]:
    """Offset and protocol of the upper-layer header."""
    if packet[0] >> 4 == 4:
        return 4 * (packet[0] & 15), protocol
    at = 40
    while protocol in EXTENSIONS:
        protocol, at = packet[at], at + 8 + 8 * packet[at + 1]
    if protocol == IPV6_FRAGMENT:
        raise SkippedError("fragment")
    return at, protocol


def _untagged(frame: bytes) -> bytes:
    while int.from_bytes(frame[12:14], "big") in VLAN:
        frame = frame[:12] + frame[16:]
    return frame


def _ip_packet(record: Record) -> tuple[bytes, int, int]:
    """The IP packet without padding, and offset and protocol of its upper-layer header."""
    frame = _untagged(record.data)
    if int.from_bytes(frame[12:14], "big") not in (0x0800, 0x86DD):
        raise SkippedError("not_ip")
    packet = frame[14:]
    version = packet[0] >> 4
    if version == 4:
        total = int.from_bytes(packet[2:4], "big")
        protocol, fragment = packet[9], int.from_bytes(packet[6:8], "big") & 0x3FFF
    else:
        total, protocol, fragment = 40 + int.from_bytes(packet[4:6], "big"), packet[6], 0
    if total > len(packet):
        raise SkippedError("truncated")
    if fragment:
        raise SkippedError("fragment")
    upper, protocol = _find_upper(packet, protocol)
    return packet[:total], upper, protocol


def _header_size(packet: bytes, upper: int, protocol: int) -> int:
    return 4 * (packet[upper + 12] >> 4) if protocol == TCP else 8


def _lengthened(packet: bytes, upper: int, protocol: int, header: int) -> bytes:
    """The packet lengthened by a tag after its payload, with correct length fields."""
    size = len(packet) - upper
    extra = max(header, size + size % 2) + TAG - size
    changed = bytearray(packet + bytes(extra))
    at, length = (2, len(changed)) if packet[0] >> 4 == 4 else (4, len(changed) - 40)
    changed[at : at + 2] = length.to_bytes(2, "big")
    if protocol == UDP:
        changed[upper + 4 : upper + 6] = (size + extra).to_bytes(2, "big")
    return bytes(changed)


def _find_checksum(packet: bytes, upper: int, protocol: int) -> int | None:
    version = packet[0] >> 4
    if protocol == UDP and version == 4 and packet[upper + 6 : upper + 8] == bytes(2):
        return None
    if protocol == (ICMP if version == 4 else ICMPV6):
        return 14 + upper + 2
    return 14 + upper + CHECKSUMS[protocol] if protocol in CHECKSUMS else None


def _rewrite(record: Record, config: Config) -> ReplayedPacket:
    packet, upper, protocol = _ip_packet(record)
    header = _header_size(packet, upper, protocol)
    tag_offset = (len(packet) - upper - TAG) & ~1
    lengthened = tag_offset < header
    if lengthened:
        packet = _lengthened(packet, upper, protocol, header)
        tag_offset = len(packet) - upper - TAG
    ethertype = (0x0800 if packet[0] >> 4 == 4 else 0x86DD).to_bytes(2, "big")
    frame = bytearray(bytes.fromhex("020000000001") + ROUTER + ethertype + packet)
    end = len(frame)
    frame += bytes(max(0, SHORTEST - end))
    if len(frame) > config.max_frame - 4:
        raise SkippedError("too_long")
    checksum = _find_checksum(packet, upper, protocol)
    return ReplayedPacket(frame, 14 + upper, end, 14 + upper + tag_offset, checksum, lengthened)


def _permitted(config: Config, modem: Modem, frame: bytes) -> bool:
    headers = parse(frame, config.max_frame)
    for group in modem.filter_groups:
        for rule in config.filter_groups[group]:
            if matches(rule.match, headers):
                return rule.permit
    return config.filter_default_permit


@dataclass
class CaptureModel:
    """Model of a capture. Destinations get modem addresses by round robin, in their order."""

    config: Config
    packets: list[ReplayedPacket] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    mapped: dict[bytes, tuple[Modem, Address]] = field(default_factory=dict)

    def _modem_addresses(self, version: int) -> list[tuple[Modem, Address]]:
        def limit(modem: Modem) -> int:
            return modem.cpe_limit if version == 4 else modem.cpe_limit_ipv6

        return [
            (modem, address)
            for modem in self.config.modems
            for address in [a for a in modem.addresses if a.version == version][: limit(modem)]
        ]

    def _send_to_modem(self, packet: ReplayedPacket) -> None:
        version, at, size = (4, 30, 4) if packet.frame[14] >> 4 == 4 else (6, 38, 16)
        original = bytes(packet.frame[at : at + size])
        targets = self._modem_addresses(version)
        index = sum(len(key) == size for key in self.mapped)
        modem, address = self.mapped.setdefault(original, targets[index % len(targets)])
        packet.frame[at : at + size] = address.packed
        packet.modem, packet.destination = modem, address
        if version == 4:
            header = packet.frame[14 : packet.frame[14] % 16 * 4 + 14]
            header[10:12] = bytes(2)
            packet.frame[24:26] = internet_checksum(bytes(header)).to_bytes(2, "big")
        if not _permitted(self.config, modem, bytes(packet.frame)):
            raise SkippedError("denied")

    def add(self, record: Record) -> None:
        try:
            packet = _rewrite(record, self.config)
            self._send_to_modem(packet)
        except SkippedError as reason:
            self.skipped[str(reason)] += 1
        else:
            self.packets.append(packet)


def model_capture(config: Config, records: list[Record]) -> CaptureModel:
    replay = CaptureModel(config)
    for record in records:
        replay.add(record)
    return replay
