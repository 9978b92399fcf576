# SPDX-License-Identifier: BSD-3-Clause
"""Generates random upstream traffic with errors in every layer.

Random bytes would fail the first checksum. This corrupts frames, segments, bursts and packets at
random and mostly keeps their checksums valid, so that errors reach all layers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from vcmts.witness.burst import encode_burst
from vcmts.witness.crc import header_check_sequence
from vcmts.witness.depi import Segment
from vcmts.witness.docsis import SEGMENT_HEADER, Request, encode_request
from vcmts.witness.model import Config, Modem, SidCluster, UpstreamFlow
from vcmts.witness.pcapfile import Record
from witness.cable_modem import (
    RNG_REQ,
    FrameOptions,
    concatenate,
    fragment,
    management_frame,
    management_message,
    packet_frame,
    split_segments,
)
from witness.rphy_device import RphyDevice
from witness.subscriber import numbered_frame

SIZES = [4, 60, 60, 252, 1500]
# FC bytes: known types with and without EHDR_ON, and reserved ones
KINDS = bytes.fromhex("00 01 02 03 40 80 81 83 C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 CA F8 F9")
STEP_NS = 1000  # between two packets without a pause
PAUSES_NS = [20_000_000, 1_000_000_000, 2_500_000_000]  # the last exceeds all timeouts


def _flip(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


@dataclass
class Hostile:
    config: Config
    random: Random
    now: int = 0
    number: int = 0
    sequences: dict[tuple[int, int], int] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.device = RphyDevice(self.config, self.random)

    def _chance(self, share: float = 0.1) -> bool:
        return self.random.random() < share

    # Frames

    def _good(self, modem: Modem, sid: int) -> bytes:
        draw = self.random
        self.number += 1
        owner = modem if not self._chance(0.05) else draw.choice(self.config.modems)
        ethernet = numbered_frame(draw.choice(owner.addresses), self.number, draw.choice(SIZES))
        element = draw.choice(["bp_up", "bp_up2"])
        options = FrameOptions(
            None if self._chance(0.05) else element,
            next_key=modem.security.next_key is not None and self._chance(0.5),
            piggyback=7 * (element == "bp_up"),
            request=9 if self._chance() else None,
        )
        sid = sid if not self._chance(0.05) else draw.randint(0, 30)
        return packet_frame(modem.security, sid, ethernet, options)

    def _strange(self) -> bytes:
        """A random header with a valid HCS."""
        draw = self.random
        fc = draw.choice(KINDS)
        elen = draw.choice([0, 3, 4, 5, 6, 9, 250])
        ehdr = bytes(
            draw.choice([0x00, 0x13, 0x34, 0x35, 0x44, 0x73, 0x85, 0x02, draw.randrange(256)])
            for _ in range(elen if fc & 1 else 0)
        )
        size = draw.choice([0, 3, 4, 5, 17, 18, 60, 2000, 2001])
        length = max(len(ehdr) + size + draw.choice([0, 0, 0, -5, 40]), 0)
        header = bytes([fc, elen]) + length.to_bytes(2, "big") + ehdr
        return header + header_check_sequence(header) + bytes(size)

    def _fragments(self, modem: Modem, sid: int) -> bytes:
        """Fragments, some missing, repeated or out of order."""
        draw = self.random
        inside = self._good(modem, sid) if self._chance() else self._clear(modem)
        offsets = draw.sample(range(1, len(inside)), draw.randint(0, 3))
        pieces = fragment(modem.security, sid, inside, offsets, draw.randrange(16))
        pieces = [_flip(draw, piece) if self._chance(0.05) else piece for piece in pieces]
        return b"".join(self._shuffled(pieces, 0.1))

    def _clear(self, modem: Modem) -> bytes:
        self.number += 1
        ethernet = numbered_frame(modem.addresses[0], self.number, 100)
        return packet_frame(modem.security, 0, ethernet, FrameOptions(None))

    def _frame(self, modem: Modem, sid: int) -> bytes:
        draw = self.random
        make: Callable[[], bytes] = draw.choice(
            [
                *[lambda: self._good(modem, sid)] * 8,
                self._strange,
                lambda: _flip(draw, self._good(modem, sid)),
                lambda: encode_request(Request(draw.choice([sid, 9]), 3, self._chance(0.5))),
                lambda: concatenate([self._good(modem, sid)])[0],
                lambda: self._fragments(modem, sid),
                lambda: management_frame(management_message(modem.mac, RNG_REQ, b"body")),
                lambda: draw.choice([b"\xff", bytes(6), bytes(5), b"\0"]),
            ]
        )
        return make()

    # Segments and bursts

    def _shuffled(self, items: Sequence[bytes], share: float) -> list[bytes]:
        """Drops, repeats and delays some items."""
        positions: list[tuple[float, bytes]] = []
        for position, item in enumerate(items):
            if self._chance(share / 3):
                continue
            positions.append((position + (2.5 if self._chance(share / 3) else 0), item))
            if self._chance(share / 3):
                positions.append((position + self.random.randint(0, 4), item))
        return [item for _, item in sorted(positions, key=lambda entry: entry[0])]

    def _spoil_segment(self, data: bytes) -> bytes:
        draw = self.random
        first, second = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
        payload = data[SEGMENT_HEADER:]
        spoil = draw.randrange(7)
        if spoil == 0:
            return _flip(draw, data)
        if spoil == 1:
            return data[: draw.randint(1, len(data))]
        if spoil == 2:
            first = 0x8000 | draw.randint(0, len(payload) + 1)
        elif spoil == 3:
            first = 0
        elif spoil == 4:
            second = draw.randrange(1 << 16) & 0xFFF8 | second & 7
        elif spoil == 5:
            second = second & 0xFFF8 | draw.randrange(8)
        else:
            payload += draw.choice([b"\xff" * 9, bytes(7), bytes(3), b"x" * 20])
        header = first.to_bytes(2, "big") + second.to_bytes(2, "big") + data[4:6]
        return header + header_check_sequence(header) + payload

    def _payloads(self, modem: Modem, flow: UpstreamFlow, cluster: SidCluster) -> list[bytes]:
        sid = cluster.sids[0][1]
        frames = [self._frame(modem, sid) for _ in range(self.random.randint(1, 6))]
        if not flow.segment_header:
            return [b"".join(frames)]
        size = sum(map(len, frames))
        offsets = {self.random.randint(0, size) for _ in range(self.random.choice([0, 1, 2, 9]))}
        offsets |= set(range(0, size, 10000))
        position = (flow.id, cluster.id)
        first = self.sequences.get(position, 8180)
        segments = split_segments(frames, sorted(offsets), first, cluster.id, [16])
        self.sequences[position] = first + len(segments)
        corrupted = [self._spoil_segment(data) if self._chance(0.08) else data for data in segments]
        return self._shuffled(corrupted, 0.15)

    def _spoil_unit(self, unit: list[Segment]) -> list[Segment]:
        draw = self.random
        index = draw.choice([0, 0, len(unit) - 1, len(unit) - 1, draw.randrange(len(unit))])
        old = unit[index]
        data = draw.choice([old.data[:-1], old.data + b"\0", _flip(draw, old.data), old.data])
        begin, end = old.begin ^ self._chance(0.3), old.end ^ self._chance(0.3)
        new = [Segment(data, begin, end)] if data and not self._chance(0.3) else []
        return [*unit[:index], *new, *unit[index + 1 :]]

    # Packets

    def burst(self) -> None:
        """Adds bursts of a random service flow."""
        draw = self.random
        modem = draw.choice([item for item in self.config.modems if item.upstream_flows])
        flow = draw.choice(modem.upstream_flows)
        cluster = draw.choice(flow.clusters)
        channels = {channel.id: channel for channel in self.config.upstream.channels}
        for payload in self._payloads(modem, flow, cluster):
            number, sid = draw.choice(cluster.sids)
            channel = channels[number]
            sid = sid if not self._chance(0.03) else draw.randint(0, 0x3FFF)
            session = channel.session
            if channel.ranging_session and self._chance(0.03):
                session = channel.ranging_session
            burst = self.device.burst(
                channel, sid, payload, segmented=flow.segment_header, lost=draw.choice([0, 0, 2])
            )
            unit = list(encode_burst(burst, sorted(draw.choices(range(len(payload) + 1), k=9))))
            if self._chance(0.08):
                unit = self._spoil_unit(unit)
            self._send(session, unit)

    def _send(self, session: int, unit: Sequence[Segment]) -> None:
        """Sends segments in small packets, of which some are lost, repeated or late."""
        packets: list[bytes] = []
        pending: list[Segment] = []
        for segment in unit:
            full = sum(2 + len(other.data) for other in (*pending, segment)) > 1400
            if pending and (full or self._chance(0.2)):
                packets.append(self.device.pseudowire(session).packet(pending))
                pending = []
            for at in range(0, len(segment.data), 1400):
                piece = Segment(segment.data[at : at + 1400], segment.begin, segment.end)
                pending.append(piece)
                if len(segment.data) > at + 1400:
                    packets.append(self.device.pseudowire(session).packet(pending))
                    pending = []
        if pending:
            packets.append(self.device.pseudowire(session).packet(pending))
        for packet in self._shuffled(packets, 0.03):
            self.now += STEP_NS + (self.random.choice(PAUSES_NS) if self._chance(0.003) else 0)
            self.records.append(Record(self.now, packet, len(packet)))


def hostile_records(config: Config, random: Random, bursts: int) -> list[Record]:
    """Returns the packets of `bursts` calls of Hostile.burst()."""
    hostile = Hostile(config, random)
    for _ in range(bursts):
        hostile.burst()
    return hostile.records
