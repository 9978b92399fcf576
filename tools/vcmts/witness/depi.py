# SPDX-License-Identifier: BSD-3-Clause
"""DEPI: the packet streaming protocol inside an L2TPv3 session, and its segments (DEPI).

Behind the session ID, for one whole frame of 62 bytes with the two extra bytes of a PSP-DEPI
pseudowire:

      0    1     2..3     4..5           6..7
    | 40 | 01  | 6564   | C03E         | 0090         | C2000038BA43 ... |
      S    count sequence B E length 62  extra bytes    segment data
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vcmts.witness.l2tp import Carrier, encode_datagram

PSP_HEADER = 4
MAX_SEGMENT = 0x3FFF


class DepiError(ValueError):
    """The bytes are no well-formed PSP packet, or the values do not fit one."""


@dataclass(frozen=True)
class Segment:
    """A slice of a DOCSIS frame; `begin` and `end` tell whether it holds its first or last byte."""

    data: bytes
    begin: bool = True
    end: bool = True


@dataclass(frozen=True)
class Psp:
    sequence: int
    segments: tuple[Segment, ...]
    extra: bytes = b""
    flow: int = 0
    sequenced: bool = True
    vccv: bool = False
    header_extension: int = 0


def encode_psp(psp: Psp) -> bytes:
    if not 1 <= len(psp.segments) <= 255:
        raise DepiError(f"{len(psp.segments)} segments, allowed 1..255")
    if not (0 <= psp.flow < 8 and 0 <= psp.header_extension < 4 and 0 <= psp.sequence < 65536):
        raise DepiError("flow, header extension or sequence number does not fit its field")
    flags = psp.vccv << 7 | psp.sequenced << 6 | psp.header_extension << 4 | psp.flow << 1
    parts = [struct.pack(">BBH", flags, len(psp.segments), psp.sequence)]
    for segment in psp.segments:
        if not 1 <= len(segment.data) <= MAX_SEGMENT:
            raise DepiError(f"segment of {len(segment.data)} bytes, allowed 1..{MAX_SEGMENT}")
        parts.append(struct.pack(">H", segment.begin << 15 | segment.end << 14 | len(segment.data)))
    parts.append(psp.extra)
    parts.extend(segment.data for segment in psp.segments)
    return b"".join(parts)


def _cut_segments(entries: Sequence[int], data: bytes) -> tuple[Segment, ...]:
    segments = []
    offset = 0
    for entry in entries:
        length = entry & MAX_SEGMENT
        if not length:
            raise DepiError("segment of 0 bytes")
        piece = data[offset : offset + length]
        segments.append(Segment(piece, bool(entry & 0x8000), bool(entry & 0x4000)))
        offset += length
    if offset != len(data):
        raise DepiError(f"segment table tells {offset} bytes, {len(data)} are there")
    return tuple(segments)


def decode_psp(payload: bytes, extra_length: int = 0) -> Psp:
    """What follows the session ID, with `extra_length` bytes between table and first segment."""
    if len(payload) < PSP_HEADER:
        raise DepiError(f"PSP header of {len(payload)} bytes")
    flags, count, sequence = struct.unpack_from(">BBH", payload)
    if not count:
        raise DepiError("PSP packet without segments")
    table = payload[PSP_HEADER : PSP_HEADER + 2 * count]
    data_at = PSP_HEADER + 2 * count + extra_length
    if len(payload) < data_at:
        raise DepiError(f"{len(payload)} bytes are less than a table of {count} segments")
    if flags & 1:
        raise DepiError("PSP header: reserved bit is set")
    return Psp(
        sequence=sequence,
        segments=_cut_segments(struct.unpack(f">{count}H", table), payload[data_at:]),
        extra=payload[data_at - extra_length : data_at],
        flow=flags >> 1 & 7,
        sequenced=bool(flags & 0x40),
        vccv=bool(flags & 0x80),
        header_extension=flags >> 4 & 3,
    )


@dataclass(frozen=True)
class Whole:
    """A reassembled frame and the numbers of the packets that held its first and last byte."""

    data: bytes
    first_packet: int
    last_packet: int


@dataclass
class _Partial:
    first_packet: int
    data: bytearray = field(default_factory=bytearray)


@dataclass
class Reassembler:
    """Puts the segments of one session together; says what was wrong and goes on.

    Sequence numbers count per session, or per session and flow.
    """

    sequence_per_flow: bool = False
    window: bool = False  # may begin in the middle of a frame, and lack packets
    _begun: set[int] = field(default_factory=set)
    _expected: dict[int, int] = field(default_factory=dict)
    _open: dict[int, _Partial] = field(default_factory=dict)

    def _check_sequence(self, psp: Psp) -> list[str]:
        if not psp.sequenced:
            return []
        key = psp.flow if self.sequence_per_flow else 0
        expected = self._expected.get(key, psp.sequence)
        self._expected[key] = (psp.sequence + 1) & 0xFFFF
        if psp.sequence == expected:
            return []
        ahead = (psp.sequence - expected) & 0xFFFF
        if self.window and ahead < 0x8000:
            self._open.clear()
            self._begun.clear()
            return []
        what = f"{ahead} missing" if ahead < 0x8000 else "repeated or late"
        problems = [f"PSP sequence {psp.sequence}, expected {expected}: {what}"]
        flows = [psp.flow] if self.sequence_per_flow else list(self._open)
        return problems + [text for flow in flows for text in self._abandon(flow, "sequence")]

    def _abandon(self, flow: int, why: str) -> list[str]:
        partial = self._open.pop(flow, None)
        if partial is None:
            return []
        return [
            f"{len(partial.data)} bytes of a frame begun in packet {partial.first_packet}"
            f" given up: {why}"
        ]

    def push(self, psp: Psp, packet: int) -> tuple[list[Whole], list[str]]:
        """The frames that end in this packet, and the problems seen."""
        problems = self._check_sequence(psp)
        whole = []
        for segment in psp.segments:
            if segment.begin:
                problems += self._abandon(psp.flow, "another frame begins")
                self._open[psp.flow] = _Partial(packet)
                self._begun.add(psp.flow)
            partial = self._open.get(psp.flow)
            if partial is None and self.window and psp.flow not in self._begun:
                continue
            if partial is None:
                problems.append(f"{len(segment.data)} bytes continue a frame that never began")
                continue
            partial.data += segment.data
            if segment.end:
                whole.append(Whole(bytes(partial.data), partial.first_packet, packet))
                del self._open[psp.flow]
        return whole, problems

    def finish(self) -> list[str]:
        """What is still open at the end."""
        return [text for flow in sorted(self._open) for text in self._abandon(flow, "no more")]


@dataclass(frozen=True)
class ExtraBytes:
    """Bytes between segment table and segments: a fixed value, or a 4-bit counter and profile."""

    length: int = 0
    counting: bool = False
    profile: int = 0

    def at(self, counter: int) -> bytes:
        """The bytes of the packet with this counter, which runs modulo 16."""
        if not self.length:
            return b""
        low = (counter & 0x0F if self.counting else 0) << 4 | self.profile
        return low.to_bytes(self.length, "big")


NO_EXTRA = ExtraBytes()


@dataclass
class Packetizer:
    """Sends one session: concatenates and fragments frames into packets of the full MTU."""

    carrier: Carrier
    session: int
    mtu: int = 1500  # bytes of the IP packet
    extra: ExtraBytes = NO_EXTRA
    max_segments: int = 16
    flow: int = 0
    sequence: int = 0
    counter: int = 0
    _waiting: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self._room() < 1:
            raise DepiError(f"MTU {self.mtu} leaves no room for segment data")

    def _room(self) -> int:
        """Bytes of data that one more segment may hold."""
        ip_header = 20 if self.carrier.source.version == 4 else 40
        udp = 12 if self.carrier.udp else 0
        used = sum(2 + len(segment.data) for segment in self._waiting)
        fixed = ip_header + udp + 4 + PSP_HEADER + self.extra.length
        return min(self.mtu - fixed - used - 2, MAX_SEGMENT)

    def send(self, segments: Sequence[Segment]) -> bytes:
        """One packet with exactly these segments."""
        psp = Psp(self.sequence, tuple(segments), self.extra.at(self.counter), self.flow)
        packet = encode_datagram(self.carrier, self.session, encode_psp(psp))
        self.sequence = (self.sequence + 1) & 0xFFFF
        self.counter = (self.counter + 1) & 0x0F
        return packet

    def flush(self) -> list[bytes]:
        """Sends what waits for company."""
        waiting, self._waiting = self._waiting, []
        return [self.send(waiting)] if waiting else []

    def push(self, frame: bytes) -> list[bytes]:
        """Queues a frame; returns the packets that became full."""
        packets: list[bytes] = []
        offset = 0
        while offset < len(frame):
            if len(self._waiting) == self.max_segments or self._room() < 1:
                packets += self.flush()
            piece = frame[offset : offset + self._room()]
            begin, offset = offset == 0, offset + len(piece)
            self._waiting.append(Segment(piece, begin, offset == len(frame)))
        return packets

    def pack(self, frames: Iterable[bytes]) -> list[bytes]:
        """All frames at once, with nothing left waiting."""
        packets = [packet for frame in frames for packet in self.push(frame)]
        return packets + self.flush()
