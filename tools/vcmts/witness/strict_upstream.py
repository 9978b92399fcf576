# SPDX-License-Identifier: BSD-3-Clause
"""Decodes what faultless modems sent (the capture of an R-PHY port), and forgives nothing.

This looks at the whole capture at once: the segments of a service flow are sorted, and what they
hold is read from end to end. A window into the traffic begins and ends in the middle of bursts and
frames, which are left out.
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
    Place,
    Wrong,
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
    flows: dict[Place, FlowReader] = field(default_factory=dict)
    segments: dict[Place, list[tuple[int, Segment]]] = field(default_factory=dict)

    def problem(self, packet: int, text: str, reason: str = "") -> None:
        self.decoded.problems.append(Problem(packet, text, reason))

    def burst(self, arrived: Arrived) -> None:
        burst = arrived.burst
        if not burst.payload:
            return
        if arrived.ranging:
            frames = split_burst(burst.payload)
            if len(frames) != 1 or frames[0][0] != 0xC2:
                raise Wrong("a ranging burst is one management message")
            self.decoded.management.append(check_crc(decode_frame(frames[0]).pdu))
            return
        if burst.header.iuc == REQUEST_REGION:
            self._requests(arrived.channel.id, burst.payload)
            return
        found = self.config.by_sid.get((arrived.channel.id, burst.header.sid))
        if found is None:
            raise Wrong(f"SID {burst.header.sid} is unknown")
        modem, flow, cluster = found
        marked = getattr(burst.header, "segment_header", flow.segment_header)  # OFDMA only
        if marked != flow.segment_header:
            raise Wrong(f"S is {marked}")
        if flow.segment_header:
            self._segment(arrived.packet, burst, modem, flow, cluster.id)
            return
        reader = self._flow(modem, flow, (flow.id, cluster.id))
        for frame in split_burst(burst.payload):
            reader.frame(frame)

    def _requests(self, channel: int, payload: bytes) -> None:
        """Request frames alone, of any modem of the channel."""
        for frame in split_burst(payload):
            request = decode_request(frame)
            if (channel, request.sid) not in self.config.by_sid:
                raise Wrong(f"request of SID {request.sid}")
            self.decoded.kinds["request"] += 1

    def _flow(self, modem: Modem, flow: UpstreamFlow, place: Place) -> FlowReader:
        fresh = FlowReader(self.config, modem, flow, place, self.decoded, self.window)
        return self.flows.setdefault(place, fresh)

    def _segment(
        self, packet: int, burst: Burst, modem: Modem, flow: UpstreamFlow, cluster: int
    ) -> None:
        header = decode_segment_header(burst.payload)
        if header.sid_cluster != cluster:
            raise Wrong(f"SID of cluster {cluster}, header of {header.sid_cluster}")
        place = (flow.id, cluster)
        self._flow(modem, flow, place)
        segment = (header, burst.payload[SEGMENT_HEADER:])
        self.segments.setdefault(place, []).append((packet, segment))

    def finish(self, place: Place) -> None:
        """All segments of a stream: sorted, without gap, with the right pointers. At both ends of a
        window some are missing, and whose frames begin before it are read from a pointer on."""
        arrived = self.segments[place]
        numbered: list[tuple[int, int, Segment]] = []
        near = arrived[0][1][0].sequence
        for packet, segment in arrived:
            half = SEGMENT_SEQUENCES // 2
            near += (segment[0].sequence - near + half) % SEGMENT_SEQUENCES - half
            numbered.append((near, packet, segment))
        numbered.sort(key=lambda entry: entry[0])
        begun: bytes | None = None if self.window else b""
        last = numbered[0][0] - 1
        for number, packet, segment in numbered:
            if number != last + 1 and self.window and number != last:
                begun = None
            elif number != last + 1:
                text = f"{place}: segment {number % SEGMENT_SEQUENCES} behind {last}"
                self.problem(packet, text)
            last = number
            begun = self._enter(packet, place, begun, segment)
        if begun and not self.window:
            self.problem(numbered[-1][1], f"{place}: {len(begun)} bytes of a frame at the end")

    def _take(self, packet: int, place: Place, frame: bytes) -> None:
        try:
            self.flows[place].frame(frame)
        except (Wrong, DocsisError) as error:
            self.problem(packet, f"{place}: {error}", getattr(error, "reason", ""))

    def _enter(
        self, packet: int, place: Place, begun: bytes | None, segment: Segment
    ) -> bytes | None:
        """Reads a segment; where nothing is known of the one before, from its pointer on."""
        header, payload = segment
        if begun is not None:
            return self._read(packet, place, begun, segment)
        if header.pointer is None:
            return None
        if header.pointer > len(payload):
            self.problem(packet, f"{place}: pointer {header.pointer} behind the segment")
            return None
        return self._read(
            packet, place, b"", (replace(header, pointer=0), payload[header.pointer :])
        )

    def _read(self, packet: int, place: Place, begun: bytes, segment: Segment) -> bytes:
        """Reads a segment; `begun` is the beginning of a frame, returned for the next one."""
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
                self._take(packet, place, begun)
                begun = b""
        if start != header.pointer:
            self.problem(packet, f"{place}: pointer {header.pointer}, a frame begins at {start}")
        return begun


def decode_strictly(records: Sequence[Record], config: Config, *, window: bool = False) -> Decoded:
    """All that the modems sent. Without problems it is complete and well formed; of a window it is
    what lies in it whole."""
    bursts = read_bursts(records, config, window=window)
    decoder = _Decoder(config, window)
    decoder.decoded.problems += bursts.problems
    for arrived in bursts.bursts:
        try:
            decoder.burst(arrived)
        except (Wrong, DocsisError) as error:
            decoder.problem(arrived.packet, str(error))
    for place in decoder.segments:
        decoder.finish(place)
    for place, flow in decoder.flows.items():
        if flow.next_fragment is not None and not window:
            decoder.problem(len(records), f"{place}: the last fragment is missing")
    return decoder.decoded
