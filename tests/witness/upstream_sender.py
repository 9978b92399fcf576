# SPDX-License-Identifier: BSD-3-Clause
"""Generates correct upstream traffic of modems and an R-PHY device, with random choices of all that
the specifications allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from vcmts.witness.burst import Burst
from vcmts.witness.docsis import SEGMENT_SEQUENCES, Request, encode_request
from vcmts.witness.model import Config, Modem, SidCluster, UpstreamChannel, UpstreamFlow
from vcmts.witness.uepi import RequestRecord
from witness.cable_modem import (
    FrameOptions,
    concatenate,
    fragment,
    management_frame,
    packet_frame,
    split_segments,
)
from witness.rphy_device import RphyDevice

MAX_SEGMENT = 12000  # bytes
MAX_PENDING = 4  # bursts per channel, so that channels stay within the reorder window
PRE_3_0_SID = 20  # of the modem that sends fragments

Stream = tuple[int, int]  # service flow, SID cluster


@dataclass(frozen=True)
class Slot:
    """The content of a grant. `first`: the first segment of a stream, which must be sent first."""

    channel: UpstreamChannel
    sid: int
    payload: bytes
    segmented: bool
    first: bool = False


@dataclass
class UpstreamSender:
    """send() queues frames, flush() sends these. `packets`: those of the R-PHY device; `expected`,
    `management`: what a receiver must deliver; `fragments`: the number of fragments sent."""

    config: Config
    random: Random
    udp: bool = False
    first_segment: int = SEGMENT_SEQUENCES - 3  # so that numbers wrap soon
    packets: list[bytes] = field(default_factory=list)
    expected: dict[Stream, list[bytes]] = field(default_factory=dict)
    management: list[bytes] = field(default_factory=list)
    queues: dict[Stream, list[bytes]] = field(default_factory=dict)
    segments: dict[Stream, int] = field(default_factory=dict)
    fragments: int = 0

    def __post_init__(self) -> None:
        self.device = RphyDevice(self.config, self.random, self.udp)
        self._build_tables()

    def _build_tables(self) -> None:
        self.by_stream = {
            (flow.id, cluster.id): (modem, flow, cluster)
            for modem in self.config.modems
            for flow in modem.upstream_flows
            for cluster in flow.clusters
        }
        self.channels = {channel.id: channel for channel in self.config.upstream.channels}

    def change(self, config: Config) -> None:
        """Flushes, then applies a new configuration."""
        self.flush()
        self.config = self.device.config = config
        self._build_tables()

    def streams(self) -> list[Stream]:
        return list(self.by_stream)

    def send(self, stream: Stream, ethernet: bytes) -> None:
        self.queues.setdefault(stream, []).append(ethernet)
        self.expected.setdefault(stream, []).append(ethernet)

    def send_management(self, stream: Stream, message: bytes) -> None:
        """Sends a message in the stream of a service flow, after the queued frames."""
        self.flush()
        _, flow, cluster = self.by_stream[stream]
        self.management.append(message)
        self._transmit(self._slots(stream, flow, cluster, [management_frame(message)]))

    def send_ranging(self, channel: UpstreamChannel, sid: int, message: bytes) -> None:
        assert channel.ranging_session is not None
        self.flush()
        self.management.append(message)
        burst = self.device.burst(channel, sid, management_frame(message), segmented=False)
        self.packets += self.device.pack(channel, channel.ranging_session, [burst])

    def send_record(self, channel: UpstreamChannel, record: RequestRecord) -> None:
        assert channel.request_session is not None
        ofdma = channel.type == "ofdma"
        self.packets.append(self.device.records(channel.request_session, [record], ofdma))

    # Frames

    def _random_options(self, modem: Modem) -> FrameOptions:
        security, draw = modem.security, self.random
        element: str | None = draw.choice(["bp_up", "bp_up2"])
        if security.key is None:
            element = draw.choice([element, None])
        return FrameOptions(
            element,
            next_key=security.next_key is not None and draw.random() < 0.5,
            piggyback=draw.choice([0, 0, 7]) if element == "bp_up" else 0,
            request=draw.choice([None, None, None, 9]),
            isolation=draw.random() < 0.1,
        )

    def _mac_frames(self, modem: Modem, sid: int, frames: Sequence[bytes]) -> list[bytes]:
        result: list[bytes] = []
        for ethernet in frames:
            if self.random.random() < 0.1:
                result.append(encode_request(Request(sid, 3, self.random.random() < 0.5)))
            result.append(packet_frame(modem.security, sid, ethernet, self._random_options(modem)))
        return result

    def _random_offsets(self, size: int) -> list[int]:
        """Random offsets: few or many, for segments from one byte to MAX_SEGMENT."""
        draw = self.random
        count = draw.choice([0, 1, 3, 10, size // 400])
        offsets = {draw.randint(0, size) for _ in range(count)}
        offsets |= {
            min(offset + 1, size) for offset in draw.sample(sorted(offsets), len(offsets) // 4)
        }
        return sorted(offsets | set(range(0, size, MAX_SEGMENT)))

    # Bursts

    def _slots(
        self, stream: Stream, flow: UpstreamFlow, cluster: SidCluster, frames: Sequence[bytes]
    ) -> Iterator[Slot]:
        if not flow.segment_header:
            for payload in self._bursts(frames):
                channel, sid = cluster.sids[0]
                yield Slot(self.channels[channel], sid, payload, False)
            return
        new = stream not in self.segments
        first = self.segments.get(stream, self.first_segment)
        offsets = self._random_offsets(sum(len(frame) for frame in frames))
        requests = [self.random.choice([0, 16]) for _ in offsets]
        segments = split_segments(frames, offsets, first, cluster.id, requests)
        self.segments[stream] = first + len(segments)
        segments[-1] += b"\xff" * self.random.choice([0, 0, 1, 100])
        for index, segment in enumerate(segments):
            channel, sid = self.random.choice(cluster.sids)
            yield Slot(self.channels[channel], sid, segment, True, new and not index)

    def _bursts(self, frames: Sequence[bytes]) -> Iterator[bytes]:
        """Bursts of whole frames, some with padding."""
        left = list(frames)
        while left:
            count = self.random.randint(1, 4)
            burst, left = left[:count], left[count:]
            if self.random.random() < 0.3:
                burst = concatenate(burst)
            yield b"".join(burst) + b"\0" * self.random.choice([0, 0, 6, 60])

    def _fragments(self, modem: Modem, sid: int, ethernet: bytes) -> list[bytes]:
        """Fragments of a clear frame. The fragments are encrypted."""
        inside = packet_frame(modem.security, sid, ethernet, FrameOptions(None))
        if self.random.random() < 0.3:
            inside = b"".join(concatenate([inside]))
        offsets = self.random.sample(range(1, len(inside)), self.random.randint(0, 5))
        self.fragments += len(set(offsets)) + 1
        return fragment(modem.security, sid, inside, offsets, self.random.randrange(16))

    def _stream_slots(self, stream: Stream) -> Iterator[Slot]:
        modem, flow, cluster = self.by_stream[stream]
        sid = cluster.sids[0][1]
        frames = self.queues.pop(stream)
        if sid != PRE_3_0_SID:
            yield from self._slots(stream, flow, cluster, self._mac_frames(modem, sid, frames))
            return
        for ethernet in frames:
            result = (
                self._fragments(modem, sid, ethernet)
                if self.random.random() < 0.5
                else self._mac_frames(modem, sid, [ethernet])
            )
            yield from self._slots(stream, flow, cluster, result)

    # Packets

    def _transmit(self, slots: Iterator[Slot]) -> None:
        pending: dict[int, list[Burst]] = {}

        def flush(channel: UpstreamChannel) -> None:
            bursts = pending.pop(channel.id, [])
            self.packets.extend(self.device.pack(channel, channel.session, bursts))

        for slot in slots:
            bursts = pending.setdefault(slot.channel.id, [])
            payloads = [slot.payload] if self.random.random() < 0.9 else [b"", slot.payload]
            for payload in payloads:
                bursts.append(
                    self.device.burst(slot.channel, slot.sid, payload, segmented=slot.segmented)
                )
            if slot.first or len(bursts) >= MAX_PENDING or self.random.random() < 0.5:
                flush(slot.channel)
        for channel in self.channels.values():
            flush(channel)

    def _interleave(self, sources: list[Iterator[Slot]]) -> Iterator[Slot]:
        """Interleaves sources at random; each keeps its order."""
        while sources:
            source = self.random.choice(sources)
            slot = next(source, None)
            if slot is None:
                sources.remove(source)
            else:
                yield slot

    def flush(self) -> None:
        self._transmit(
            self._interleave([self._stream_slots(stream) for stream in list(self.queues)])
        )
