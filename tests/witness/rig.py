# SPDX-License-Identifier: BSD-3-Clause
"""A test bench for the upstream: builds captures of packets, and runs the model on these.

The modems are those of witness.sample.UPSTREAM: KEYED (with a key), PLAIN (without), OLD (pre-3.0).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vcmts.witness.config import parse_config
from vcmts.witness.crc import header_check_sequence
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.docsis import SegmentHeader, encode_segment_header
from vcmts.witness.l2tp import encode_datagram
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record
from witness.cable_modem import FrameOptions, packet_frame
from witness.rphy_device import RphyDevice
from witness.sample import UPSTREAM
from witness.subscriber import numbered_frame
from witness.upstream import Model, Result, expect_upstream

GAP_NS = 1000  # between two packets
KEYED, PLAIN, OLD = parse_config(UPSTREAM).modems


@dataclass
class Rig:
    config: Config = field(default_factory=lambda: parse_config(UPSTREAM))
    records: list[Record] = field(default_factory=list)
    now: int = 0

    def __post_init__(self) -> None:
        self.device = RphyDevice(self.config)

    def put(self, packet: bytes) -> None:
        self.now += GAP_NS
        self.records.append(Record(self.now, packet, len(packet)))

    def wait(self, time_ns: int) -> None:
        self.now += time_ns

    def l2tp(self, session: int, payload: bytes, *, udp: bool = False) -> bytes:
        return encode_datagram(self.config.upstream_carrier(udp=udp), session, payload)

    def psp(self, session: int, number: int | None, *segments: Segment, flow: int = 0) -> None:
        """A packet with this sequence number; None: S = 0."""
        psp = Psp(number or 0, segments, flow=flow, sequenced=number is not None)
        self.put(self.l2tp(session, encode_psp(psp)))

    def burst(self, channel: int, sid: int, payload: bytes, *, segmented: bool = False) -> None:
        """Adds a correct burst of a channel's data session, in packets of its own."""
        found = self.config.upstream.channels[channel - 1]
        burst = self.device.burst(found, sid, payload, segmented=segmented)
        for packet in self.device.pack(found, found.session, [burst]):
            self.put(packet)

    def result(self) -> Result:
        """The model's result after all timeouts."""
        return expect_upstream(self.records, self.config)

    def model(self) -> Model:
        """The model right after the last packet."""
        model = Model(self.config)
        for record in self.records:
            model.packet(record.data, record.time_ns)
        return model


@dataclass(frozen=True)
class Case:
    """A test case. `build` adds packets. `drops`: all expected drops; `counters`: some expected
    counters, which may be 0."""

    name: str
    build: Callable[[Rig], object]
    drops: Mapping[str, int]
    counters: Mapping[str, int]


@dataclass
class Cases:
    """A list of cases. An instance is a decorator factory that adds the function as a case."""

    cases: list[Case] = field(default_factory=list)

    def __call__(
        self, drops: Mapping[str, int], **counters: int
    ) -> Callable[[Callable[[Rig], object]], Callable[[Rig], object]]:
        def keep(build: Callable[[Rig], object]) -> Callable[[Rig], object]:
            self.cases.append(Case(build.__name__, build, drops, counters))
            return build

        return keep

    @property
    def reasons(self) -> set[str]:
        return {reason for case in self.cases for reason in case.drops}


def check(case: Case, rig: Rig) -> Result:
    case.build(rig)
    result = rig.result()
    assert result.drops == dict(case.drops)
    assert {name: result.counters[name] for name in case.counters} == dict(case.counters)
    assert not any(result.pending.values())
    return result


# Frames and segments


def packet(number: int = 0, size: int = 60) -> bytes:
    return numbered_frame(PLAIN.addresses[0], number, size)


def plain(number: int = 0, size: int = 60) -> bytes:
    """A MAC frame of modem PLAIN: 70 bytes for a packet of 60."""
    return packet_frame(PLAIN.security, 11, packet(number, size), FrameOptions(None))


def with_hcs(header: bytes) -> bytes:
    return header + header_check_sequence(header)


def mac(fc: int, parm: int, length: int, rest: bytes = b"") -> bytes:
    """A MAC frame with any header, and a valid HCS."""
    ehdr = rest[: parm if fc & 1 else 0]
    return with_hcs(bytes([fc, parm]) + length.to_bytes(2, "big") + ehdr) + rest[len(ehdr) :]


def corrupted(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def segment(number: int, payload: bytes, pointer: int | None = None, cluster: int = 1) -> bytes:
    return encode_segment_header(SegmentHeader(number, cluster, 0, pointer)) + payload


def send(rig: Rig, *segments: bytes) -> None:
    """Sends segments in service flow 202, SID cluster 1."""
    for data in segments:
        rig.burst(1, 11, data, segmented=True)


def whole(rig: Rig, *frames: bytes, sid: int = 10) -> None:
    """Sends frames in a burst without segment headers; by default in service flow 201."""
    rig.burst(1, sid, b"".join(frames))
