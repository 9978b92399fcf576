# SPDX-License-Identifier: BSD-3-Clause
"""A bench for the upstream's model: packets are put in by hand, with time between them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vcmts.witness.config import parse_config
from vcmts.witness.crc import header_check_sequence
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.docsis import SegmentHeader, encode_segment_header
from vcmts.witness.l2tp import encode_datagram
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record
from witness.cable_modem import Dress, packet_frame
from witness.rphy_device import RphyDevice
from witness.sample import UPSTREAM
from witness.subscriber import numbered_frame
from witness.upstream import Model, Result, expect_upstream

GAP_NS = 1000
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
        """A faultless burst on a channel's data session, in packets of its own."""
        found = self.config.upstream.channels[channel - 1]
        burst = self.device.burst(found, sid, payload, segmented=segmented)
        for packet in self.device.pack(found, found.session, [burst]):
            self.put(packet)

    def result(self) -> Result:
        """After all timeouts."""
        return expect_upstream(self.records, self.config)

    def model(self) -> Model:
        """Right behind the last packet."""
        model = Model(self.config)
        for record in self.records:
            model.packet(record.data, record.time_ns)
        return model


@dataclass(frozen=True)
class Case:
    """What to put in, and what must be counted: all drops, and these counters (0: not at all)."""

    name: str
    build: Callable[[Rig], object]
    drops: Mapping[str, int]
    counters: Mapping[str, int]


@dataclass
class Cases:
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
    assert not any(result.held.values())
    return result


# Frames and segments


def packet(number: int = 0, size: int = 60) -> bytes:
    return numbered_frame(PLAIN.addresses[0], number, size)


def plain(number: int = 0, size: int = 60) -> bytes:
    """A frame of the modem without key: 70 bytes for a packet of 60."""
    return packet_frame(PLAIN.security, 11, packet(number, size), Dress(None))


def with_hcs(header: bytes) -> bytes:
    return header + header_check_sequence(header)


def mac(fc: int, parm: int, length: int, rest: bytes = b"") -> bytes:
    """A MAC frame with whatever header, and a good HCS."""
    ehdr = rest[: parm if fc & 1 else 0]
    return with_hcs(bytes([fc, parm]) + length.to_bytes(2, "big") + ehdr) + rest[len(ehdr) :]


def spoilt(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def segment(number: int, payload: bytes, pointer: int | None = None, cluster: int = 1) -> bytes:
    return encode_segment_header(SegmentHeader(number, cluster, 0, pointer)) + payload


def send(rig: Rig, *segments: bytes) -> None:
    """Bursts of service flow 202, whose SID cluster is 1."""
    for data in segments:
        rig.burst(1, 11, data, segmented=True)


def whole(rig: Rig, *frames: bytes, sid: int = 10) -> None:
    """A burst of service flow 201, without segment headers."""
    rig.burst(1, sid, b"".join(frames))
