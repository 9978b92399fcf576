# SPDX-License-Identifier: BSD-3-Clause
"""Decodes UEPI packets of a correct R-PHY device to bursts and request records.

Each deviation from the format is reported as a problem.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from vcmts.witness.burst import Burst, decode_bursts
from vcmts.witness.depi import DepiError, Psp, Segment, decode_psp
from vcmts.witness.downstream import Problem
from vcmts.witness.l2tp import Datagram, L2tpError, decode_datagram
from vcmts.witness.model import Config, UpstreamChannel
from vcmts.witness.pcapfile import Record
from vcmts.witness.uepi import (
    OfdmaHeader,
    RequestRecord,
    ScQamHeader,
    TrailerFlag,
    UepiError,
    decode_request_record,
)


@dataclass(frozen=True)
class Arrived:
    """A received burst, and the number (from 1) of the packet with its trailer."""

    packet: int
    channel: UpstreamChannel
    ranging: bool
    burst: Burst


@dataclass
class Bursts:
    """The decoder and its results. `records`: request records with their channel."""

    config: Config
    window: bool = False  # the capture may begin and end inside bursts
    bursts: list[Arrived] = field(default_factory=list)
    records: list[tuple[UpstreamChannel, RequestRecord]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _expected: dict[tuple[int, ...], int] = field(default_factory=dict)
    _open: dict[tuple[int, int], list[Segment]] = field(default_factory=dict)
    _begun: set[tuple[int, int]] = field(default_factory=set)
    _latest: dict[int, ScQamHeader | OfdmaHeader] = field(default_factory=dict)  # by session

    def problem(self, packet: int, text: str) -> None:
        self.problems.append(Problem(packet, text))

    def packet(self, number: int, record: Record) -> None:
        try:
            datagram = decode_datagram(record.data)
            found = self.config.upstream.by_session.get(datagram.session)
            if found is None:
                raise L2tpError(f"session {datagram.session:#010x} is unknown")
            self._check_carrier(number, record, datagram)
            psp = decode_psp(datagram.payload)
        except (L2tpError, DepiError) as error:
            self.problem(number, str(error))
            return
        self._check_psp(number, datagram.session, psp)
        channel, kind = found
        if kind == "requests":
            self._requests(number, channel, psp)
            return
        if channel.type == "sc-qam":
            self._check_one_burst(number, psp)
        for segment in psp.segments:
            self._segment(number, datagram.session, psp.flow, segment)

    def _check_carrier(self, number: int, record: Record, datagram: Datagram) -> None:
        if len(record.data) != record.original_length:
            self.problem(number, "cut by the capture")
        wanted = self.config.upstream_carrier()
        for name in ("destination_mac", "source_mac", "source", "destination", "dont_fragment"):
            if getattr(datagram.carrier, name) != getattr(wanted, name):
                self.problem(number, f"{name} is {getattr(datagram.carrier, name)}")
        if datagram.ip_length > self.config.rphy.mtu:
            self.problem(number, f"IP packet of {datagram.ip_length} bytes")

    def _check_psp(self, number: int, session: int, psp: Psp) -> None:
        if psp.vccv or psp.header_extension or not psp.sequenced:
            self.problem(number, "PSP with V or H, or without S")
        by_flow = self.config.upstream.psp_numbering == "flow"
        key = (session, psp.flow) if by_flow else (session,)
        expected = self._expected.get(key, psp.sequence)
        if psp.sequence != expected:
            self.problem(number, f"PSP sequence {psp.sequence}, expected {expected}")
        self._expected[key] = (psp.sequence + 1) & 0xFFFF

    def _check_one_burst(self, number: int, psp: Psp) -> None:
        inner = psp.segments[1:]
        if any(segment.begin for segment in inner) or any(s.end for s in psp.segments[:-1]):
            self.problem(number, "parts of two bursts in a packet of an SC-QAM session")

    def _requests(self, number: int, channel: UpstreamChannel, psp: Psp) -> None:
        for segment in psp.segments:
            try:
                record = decode_request_record(segment.data, channel.type == "ofdma")
            except UepiError as error:
                self.problem(number, str(error))
                continue
            if not (segment.begin and segment.end):
                self.problem(number, "request record in parts")
            if record.session != channel.session:
                self.problem(number, f"request record of session {record.session:#010x}")
            if (channel.id, record.sid) not in self.config.by_sid:
                self.problem(number, f"request record of SID {record.sid}")
            self.records.append((channel, record))

    def _segment(self, number: int, session: int, flow: int, segment: Segment) -> None:
        if self.window and not segment.begin and (session, flow) not in self._begun:
            return  # the burst began before the window
        self._begun.add((session, flow))
        unit = self._open.setdefault((session, flow), [])
        unit.append(segment)
        if not segment.end:
            return
        del self._open[session, flow]
        channel, kind = self.config.upstream.by_session[session]
        try:
            (burst,) = decode_bursts(unit, channel.type == "ofdma")
        except UepiError as error:
            self.problem(number, str(error))
            return
        self._check_burst(number, session, burst)
        self.bursts.append(Arrived(number, channel, kind == "ranging", burst))

    def _check_burst(self, number: int, session: int, burst: Burst) -> None:
        header, trailer = burst.header, burst.trailer
        if header.no_burst == bool(burst.payload):
            self.problem(number, f"N is {header.no_burst}, {len(burst.payload)} bytes")
        if trailer.flags & TrailerFlag.FEC_VALID and trailer.uncorrectable:
            self.problem(number, f"{trailer.uncorrectable} codewords lost")
        before = self._latest.get(session)
        self._latest[session] = header
        if before is None or self.window:  # the traffic program sends bursts of a MAP in any order
            return
        if not 0 < (header.start_minislot - before.start_minislot) % (1 << 32) < 1 << 31:
            text = f"minislot {header.start_minislot} behind {before.start_minislot}"
            self.problem(number, text)
        if isinstance(header, OfdmaHeader) and isinstance(before, OfdmaHeader):
            passed = (header.burst_id - before.burst_id) % (1 << 32)
            channel, _ = self.config.upstream.by_session[session]
            # With two sessions per channel, each has only some of the grants.
            if passed != 1 and (not channel.ranging_session or not 0 < passed < 1 << 31):
                self.problem(number, f"burst {header.burst_id} behind {before.burst_id}")


def read_bursts(records: Iterable[Record], config: Config, *, window: bool = False) -> Bursts:
    bursts = Bursts(config, window)
    number = 0
    for number, record in enumerate(records, start=1):
        bursts.packet(number, record)
    for session, flow in {} if window else bursts._open:
        bursts.problem(number, f"a burst of session {session:#010x}, flow {flow} has no end")
    return bursts
