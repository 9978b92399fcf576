# SPDX-License-Identifier: BSD-3-Clause
"""Encodes, decodes and reassembles PSP packets of DEPI (the payload of an L2TPv3 session).

A packet after its session ID, with a frame of 62 bytes and the two extra bytes of a PSP-DEPI
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
    """Malformed PSP packet, or values that do not fit its fields."""


@dataclass(frozen=True)
class Segment:
    """A part of a DOCSIS frame. `begin`, `end`: it has the frame's first or last byte."""

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


def _split_segments(entries: Sequence[int], data: bytes) -> tuple[Segment, ...]:
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
    """Decodes the payload of a session. `extra_length`: bytes between segment table and
    segments."""
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
        segments=_split_segments(struct.unpack(f">{count}H", table), payload[data_at:]),
        extra=payload[data_at - extra_length : data_at],
        flow=flags >> 1 & 7,
        sequenced=bool(flags & 0x40),
        vccv=bool(flags & 0x80),
        header_extension=flags >> 4 & 3,
    )


@dataclass(frozen=True)
class Whole:
    """A reassembled frame, and the numbers of the packets with its first and last byte."""

    data: bytes
    first_packet: int
    last_packet: int


@dataclass
class _Partial:
    first_packet: int
    data: bytearray = field(default_factory=bytearray)


@dataclass
class Reassembler:
    """Reassembles the frames of one session. Reports errors and continues.

    Sequence numbers count per session, or per session and flow.
    """

    sequence_per_flow: bool = False
    window: bool = False  # the capture may begin inside a frame, and may lack packets
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
        """Adds a packet. Returns the frames that end in it, and problems as text."""
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
        """Returns a problem for each incomplete frame at the end of the capture."""
        return [text for flow in sorted(self._open) for text in self._abandon(flow, "no more")]


@dataclass(frozen=True)
class ExtraBytes:
    """The bytes between segment table and segments: a fixed value, or a 4-bit counter and the
    profile."""

    length: int = 0
    counting: bool = False
    profile: int = 0

    def at(self, counter: int) -> bytes:
        """The bytes for a counter, which is modulo 16."""
        if not self.length:
            return b""
        low = (counter & 0x0F if self.counting else 0) << 4 | self.profile
        return low.to_bytes(self.length, "big")


NO_EXTRA = ExtraBytes()


@dataclass
class Packetizer:
    """The sender of one session: packs frames into packets of the MTU, with concatenation and
    fragmentation."""

    carrier: Carrier
    session: int
    mtu: int = 1500  # bytes of the IP packet
    extra: ExtraBytes = NO_EXTRA
    max_segments: int = 16
    flow: int = 0
    sequence: int = 0
    counter: int = 0
    _pending: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self._free_bytes() < 1:
            raise DepiError(f"MTU {self.mtu} is too small for segment data")

    def _free_bytes(self) -> int:
        """The maximum data of one more segment in the pending packet, bytes."""
        ip_header = 20 if self.carrier.source.version == 4 else 40
        udp = 12 if self.carrier.udp else 0
        used = sum(2 + len(segment.data) for segment in self._pending)
        fixed = ip_header + udp + 4 + PSP_HEADER + self.extra.length
        return min(self.mtu - fixed - used - 2, MAX_SEGMENT)

    def send(self, segments: Sequence[Segment]) -> bytes:
        """Returns a packet with exactly these segments."""
        psp = Psp(self.sequence, tuple(segments), self.extra.at(self.counter), self.flow)
        packet = encode_datagram(self.carrier, self.session, encode_psp(psp))
        self.sequence = (self.sequence + 1) & 0xFFFF
        self.counter = (self.counter + 1) & 0x0F
        return packet

    def flush(self) -> list[bytes]:
        """Sends the pending segments."""
        pending, self._pending = self._pending, []
        return [self.send(pending)] if pending else []

    def push(self, frame: bytes) -> list[bytes]:
        """Queues a frame. Returns the packets that it filled."""
        packets: list[bytes] = []
        offset = 0
        while offset < len(frame):
            if len(self._pending) == self.max_segments or self._free_bytes() < 1:
                packets += self.flush()
            piece = frame[offset : offset + self._free_bytes()]
            begin, offset = offset == 0, offset + len(piece)
            self._pending.append(Segment(piece, begin, offset == len(frame)))
        return packets

    def pack(self, frames: Iterable[bytes]) -> list[bytes]:
        """Sends all frames and flushes."""
        packets = [packet for frame in frames for packet in self.push(frame)]
        return packets + self.flush()
