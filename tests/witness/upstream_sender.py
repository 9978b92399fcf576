# SPDX-License-Identifier: BSD-3-Clause
"""Modems and an R-PHY device that do nothing wrong, but everything that is allowed, at random."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from vcmts.witness.burst import Burst
from vcmts.witness.docsis import SEGMENT_SEQUENCES, Request, encode_request
from vcmts.witness.model import Config, Modem, SidCluster, UpstreamChannel, UpstreamFlow
from vcmts.witness.uepi import RequestRecord
from witness.cable_modem import (
    Dress,
    concatenate,
    cut_segments,
    fragment,
    management_frame,
    packet_frame,
)
from witness.rphy_device import RphyDevice

MOST_SEGMENT = 12000
MOST_WAITING = 4  # bursts of a channel, so that no other channel is far ahead
PRE_3_0_SID = 20

Stream = tuple[int, int]  # service flow, SID cluster


@dataclass(frozen=True)
class Slot:
    """What goes into a grant. The first segment of a stream must not be overtaken."""

    channel: UpstreamChannel
    sid: int
    payload: bytes
    segmented: bool
    first: bool = False


@dataclass
class UpstreamSender:
    """Queues frames by send() and sends them by flush(); `packets` are the R-PHY device's."""

    config: Config
    random: Random
    udp: bool = False
    first_segment: int = SEGMENT_SEQUENCES - 3  # soon past the end of the number space
    packets: list[bytes] = field(default_factory=list)
    expected: dict[Stream, list[bytes]] = field(default_factory=dict)
    management: list[bytes] = field(default_factory=list)
    queues: dict[Stream, list[bytes]] = field(default_factory=dict)
    segments: dict[Stream, int] = field(default_factory=dict)
    fragments: int = 0

    def __post_init__(self) -> None:
        self.device = RphyDevice(self.config, self.random, self.udp)
        self._know()

    def _know(self) -> None:
        self.by_stream = {
            (flow.id, cluster.id): (modem, flow, cluster)
            for modem in self.config.modems
            for flow in modem.upstream_flows
            for cluster in flow.clusters
        }
        self.channels = {channel.id: channel for channel in self.config.upstream.channels}

    def change(self, config: Config) -> None:
        """What waits goes out; from now on everybody is as that one says."""
        self.flush()
        self.config = self.device.config = config
        self._know()

    def streams(self) -> list[Stream]:
        return list(self.by_stream)

    def send(self, stream: Stream, ethernet: bytes) -> None:
        self.queues.setdefault(stream, []).append(ethernet)
        self.expected.setdefault(stream, []).append(ethernet)

    def send_management(self, stream: Stream, message: bytes) -> None:
        """In the stream of a service flow, behind what waits."""
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

    def _dress(self, modem: Modem) -> Dress:
        security, draw = modem.security, self.random
        element: str | None = draw.choice(["bp_up", "bp_up2"])
        if security.key is None:
            element = draw.choice([element, None])
        return Dress(
            element,
            next_key=security.next_key is not None and draw.random() < 0.5,
            piggyback=draw.choice([0, 0, 7]) if element == "bp_up" else 0,
            request=draw.choice([None, None, None, 9]),
            isolation=draw.random() < 0.1,
        )

    def _mac_frames(self, modem: Modem, sid: int, frames: Sequence[bytes]) -> list[bytes]:
        made: list[bytes] = []
        for ethernet in frames:
            if self.random.random() < 0.1:
                made.append(encode_request(Request(sid, 3, self.random.random() < 0.5)))
            made.append(packet_frame(modem.security, sid, ethernet, self._dress(modem)))
        return made

    def _cuts(self, size: int) -> list[int]:
        """Anything from one cut to many, and parts from one byte to the longest segment."""
        draw = self.random
        often = draw.choice([0, 1, 3, 10, size // 400])
        cuts = {draw.randint(0, size) for _ in range(often)}
        cuts |= {min(cut + 1, size) for cut in draw.sample(sorted(cuts), len(cuts) // 4)}
        return sorted(cuts | set(range(0, size, MOST_SEGMENT)))

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
        cuts = self._cuts(sum(len(frame) for frame in frames))
        requests = [self.random.choice([0, 16]) for _ in cuts]
        segments = cut_segments(frames, cuts, first, cluster.id, requests)
        self.segments[stream] = first + len(segments)
        segments[-1] += b"\xff" * self.random.choice([0, 0, 1, 100])
        for index, segment in enumerate(segments):
            channel, sid = self.random.choice(cluster.sids)
            yield Slot(self.channels[channel], sid, segment, True, new and not index)

    def _bursts(self, frames: Sequence[bytes]) -> Iterator[bytes]:
        """Bursts that start with a frame and end with one, and perhaps padding."""
        left = list(frames)
        while left:
            count = self.random.randint(1, 4)
            burst, left = left[:count], left[count:]
            if self.random.random() < 0.3:
                burst = concatenate(burst)
            yield b"".join(burst) + b"\0" * self.random.choice([0, 0, 6, 60])

    def _fragments(self, modem: Modem, sid: int, ethernet: bytes) -> list[bytes]:
        """What is inside is in the clear: the fragments are encrypted."""
        inside = packet_frame(modem.security, sid, ethernet, Dress(None))
        if self.random.random() < 0.3:
            inside = b"".join(concatenate([inside]))
        cuts = self.random.sample(range(1, len(inside)), self.random.randint(0, 5))
        self.fragments += len(set(cuts)) + 1
        return fragment(modem.security, sid, inside, cuts, self.random.randrange(16))

    def _stream_slots(self, stream: Stream) -> Iterator[Slot]:
        modem, flow, cluster = self.by_stream[stream]
        sid = cluster.sids[0][1]
        frames = self.queues.pop(stream)
        if sid != PRE_3_0_SID:
            yield from self._slots(stream, flow, cluster, self._mac_frames(modem, sid, frames))
            return
        for ethernet in frames:
            made = (
                self._fragments(modem, sid, ethernet)
                if self.random.random() < 0.5
                else self._mac_frames(modem, sid, [ethernet])
            )
            yield from self._slots(stream, flow, cluster, made)

    # Packets

    def _transmit(self, slots: Iterator[Slot]) -> None:
        waiting: dict[int, list[Burst]] = {}

        def flush(channel: UpstreamChannel) -> None:
            bursts = waiting.pop(channel.id, [])
            self.packets.extend(self.device.pack(channel, channel.session, bursts))

        for slot in slots:
            bursts = waiting.setdefault(slot.channel.id, [])
            payloads = [slot.payload] if self.random.random() < 0.9 else [b"", slot.payload]
            for payload in payloads:
                bursts.append(
                    self.device.burst(slot.channel, slot.sid, payload, segmented=slot.segmented)
                )
            if slot.first or len(bursts) >= MOST_WAITING or self.random.random() < 0.5:
                flush(slot.channel)
        for channel in self.channels.values():
            flush(channel)

    def _mixed(self, sources: list[Iterator[Slot]]) -> Iterator[Slot]:
        """One slot after the other of sources chosen at random, each in its own order."""
        while sources:
            source = self.random.choice(sources)
            slot = next(source, None)
            if slot is None:
                sources.remove(source)
            else:
                yield slot

    def flush(self) -> None:
        self._transmit(self._mixed([self._stream_slots(stream) for stream in list(self.queues)]))
