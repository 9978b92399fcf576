# SPDX-License-Identifier: BSD-3-Clause
"""Decodes the upstream of correct modems from a capture of the R-PHY port, and reports deviations.

It sorts the segments of each service flow and decodes their bytes from end to end. A window (a part
of a capture) begins and ends inside bursts and frames, which it skips.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vcmts.witness.burst import Burst
from vcmts.witness.docsis import (
    SEGMENT_HEADER,
    SEGMENT_SEQUENCES,
    SegmentHeader,
    decode_frame,
    decode_request,
    decode_segment_header,
    frame_size,
)
from vcmts.witness.downstream import Problem
from vcmts.witness.ehdr import DocsisError
from vcmts.witness.model import Config, Modem, UpstreamFlow
from vcmts.witness.pcapfile import Record
from vcmts.witness.strict_bursts import Arrived, read_bursts
from vcmts.witness.strict_frames import (
    Decoded,
    FlowReader,
    FrameError,
    StreamId,
    check_crc,
    is_padding,
    split_burst,
)

REQUEST_REGION = 1  # IUC
Segment = tuple[SegmentHeader, bytes]


@dataclass
class _Decoder:
    config: Config
    window: bool = False
    decoded: Decoded = field(default_factory=Decoded)
    flows: dict[StreamId, FlowReader] = field(default_factory=dict)
    segments: dict[StreamId, list[tuple[int, Segment]]] = field(default_factory=dict)

    def problem(self, packet: int, text: str, reason: str = "") -> None:
        self.decoded.problems.append(Problem(packet, text, reason))

    def burst(self, arrived: Arrived) -> None:
        burst = arrived.burst
        if not burst.payload:
            return
        if arrived.ranging:
            frames = split_burst(burst.payload)
            if len(frames) != 1 or frames[0][0] != 0xC2:
                raise FrameError("a ranging burst is one management message")
            self.decoded.management.append(check_crc(decode_frame(frames[0]).pdu))
            return
        if burst.header.iuc == REQUEST_REGION:
            self._requests(arrived.channel.id, burst.payload)
            return
        found = self.config.by_sid.get((arrived.channel.id, burst.header.sid))
        if found is None:
            raise FrameError(f"SID {burst.header.sid} is unknown")
        modem, flow, cluster = found
        marked = getattr(burst.header, "segment_header", flow.segment_header)  # OFDMA only
        if marked != flow.segment_header:
            raise FrameError(f"S is {marked}")
        if flow.segment_header:
            self._segment(arrived.packet, burst, modem, flow, cluster.id)
            return
        reader = self._flow(modem, flow, (flow.id, cluster.id))
        for frame in split_burst(burst.payload):
            reader.frame(frame)

    def _requests(self, channel: int, payload: bytes) -> None:
        """Decodes a burst of request frames, of any modems of the channel."""
        for frame in split_burst(payload):
            request = decode_request(frame)
            if (channel, request.sid) not in self.config.by_sid:
                raise FrameError(f"request of SID {request.sid}")
            self.decoded.kinds["request"] += 1

    def _flow(self, modem: Modem, flow: UpstreamFlow, stream: StreamId) -> FlowReader:
        fresh = FlowReader(self.config, modem, flow, stream, self.decoded, self.window)
        return self.flows.setdefault(stream, fresh)

    def _segment(
        self, packet: int, burst: Burst, modem: Modem, flow: UpstreamFlow, cluster: int
    ) -> None:
        header = decode_segment_header(burst.payload)
        if header.sid_cluster != cluster:
            raise FrameError(f"SID of cluster {cluster}, header of {header.sid_cluster}")
        stream = (flow.id, cluster)
        self._flow(modem, flow, stream)
        segment = (header, burst.payload[SEGMENT_HEADER:])
        self.segments.setdefault(stream, []).append((packet, segment))

    def finish(self, stream: StreamId) -> None:
        """Checks the segments of a stream for gaps and wrong pointers. In a window, gaps are
        allowed, and decoding continues at the next pointer."""
        arrived = self.segments[stream]
        numbered: list[tuple[int, int, Segment]] = []
        latest = arrived[0][1][0].sequence
        for packet, segment in arrived:
            half = SEGMENT_SEQUENCES // 2
            latest += (segment[0].sequence - latest + half) % SEGMENT_SEQUENCES - half
            numbered.append((latest, packet, segment))
        numbered.sort(key=lambda entry: entry[0])
        begun: bytes | None = None if self.window else b""
        last = numbered[0][0] - 1
        for number, packet, segment in numbered:
            if number != last + 1 and self.window and number != last:
                begun = None
            elif number != last + 1:
                text = f"{stream}: segment {number % SEGMENT_SEQUENCES} behind {last}"
                self.problem(packet, text)
            last = number
            begun = self._read_segment(packet, stream, begun, segment)
        if begun and not self.window:
            self.problem(numbered[-1][1], f"{stream}: {len(begun)} bytes of a frame at the end")

    def _read_frame(self, packet: int, stream: StreamId, frame: bytes) -> None:
        try:
            self.flows[stream].frame(frame)
        except (FrameError, DocsisError) as error:
            self.problem(packet, f"{stream}: {error}", getattr(error, "reason", ""))

    def _read_segment(
        self, packet: int, stream: StreamId, begun: bytes | None, segment: Segment
    ) -> bytes | None:
        """Decodes a segment; from its pointer if `begun`, the bytes of a frame of the segment
        before, is None (unknown)."""
        header, payload = segment
        if begun is not None:
            return self._read_bytes(packet, stream, begun, segment)
        if header.pointer is None:
            return None
        if header.pointer > len(payload):
            self.problem(packet, f"{stream}: pointer {header.pointer} behind the segment")
            return None
        return self._read_bytes(
            packet, stream, b"", (replace(header, pointer=0), payload[header.pointer :])
        )

    def _read_bytes(self, packet: int, stream: StreamId, begun: bytes, segment: Segment) -> bytes:
        """Decodes a segment. `begun`: the bytes of a frame that began before. Returns the bytes of
        a frame that the next segment continues."""
        header, payload = segment
        start: int | None = None
        offset = 0
        while offset < len(payload) and (begun or not is_padding(payload[offset:])):
            if not begun and start is None:
                start = offset
            size = frame_size(begun + payload[offset:])
            end = len(payload) if size is None else min(offset + size - len(begun), len(payload))
            begun, offset = begun + payload[offset:end], end
            if len(begun) == size:
                self._read_frame(packet, stream, begun)
                begun = b""
        if start != header.pointer:
            self.problem(packet, f"{stream}: pointer {header.pointer}, a frame begins at {start}")
        return begun


def decode_strictly(records: Sequence[Record], config: Config, *, window: bool = False) -> Decoded:
    """Decodes all frames that the modems sent; of a window, those that are complete in it."""
    bursts = read_bursts(records, config, window=window)
    decoder = _Decoder(config, window)
    decoder.decoded.problems += bursts.problems
    for arrived in bursts.bursts:
        try:
            decoder.burst(arrived)
        except (FrameError, DocsisError) as error:
            decoder.problem(arrived.packet, str(error))
    for stream in decoder.segments:
        decoder.finish(stream)
    for stream, flow in decoder.flows.items():
        if flow.next_fragment is not None and not window:
            decoder.problem(len(records), f"{stream}: the last fragment is missing")
    return decoder.decoded
