# SPDX-License-Identifier: BSD-3-Clause
"""Decodes and checks the DEPI packets that the data plane sends to the R-PHY device.

Per packet: outer headers, session, PSP sequence, segments. Per frame: HCS, extended header,
decryption, Ethernet CRC, addresses. At the end, it restores the order of the frames of each DSID,
which came over several channels. Each violation is reported as a problem.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.depi import DepiError, Psp, Reassembler, Whole, decode_psp
from vcmts.witness.docsis import Frame, decode_frame
from vcmts.witness.ehdr import BpDown, DocsisError, DsService
from vcmts.witness.l2tp import Datagram, L2tpError, decode_datagram
from vcmts.witness.model import Channel, Config, Modem, ServiceFlow
from vcmts.witness.pcapfile import Record

ETHERNET_HEADER = 14
CRC_LENGTH = 4
PRIVACY_VERSION = 1


@dataclass(frozen=True)
class Problem:
    """A violation at a packet (counted from 1, as in Wireshark)."""

    packet: int
    text: str
    reason: str = ""  # the drop reason of a CMTS; "": none


@dataclass(frozen=True)
class FrameRecord:
    """A received MAC frame. If a check failed, `flows` is empty or `ethernet` is None."""

    packet: int  # the packet with the last byte
    first_packet: int
    session: int
    time_ns: int  # of `packet`
    header: Frame | None
    modem: Modem | None = None
    flows: tuple[int, ...] = ()
    ethernet: bytes | None = None  # decrypted, without CRC

    @property
    def service(self) -> DsService | None:
        for element in self.header.elements if self.header else ():
            if isinstance(element, DsService):
                return element
        return None


@dataclass
class Result:
    """The decoded traffic. `flows`: Ethernet frames without CRC, in the modem's order, by service
    flow. Flows that look equal on the wire share a key, which is the tuple of their IDs."""

    flows: dict[tuple[int, ...], list[bytes]] = field(default_factory=dict)
    counters: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    frames: list[FrameRecord] = field(default_factory=list)

    def flow(self, flow_id: int) -> list[bytes]:
        """The frames of a flow, and of flows that look equal on the wire."""
        return next((frames for ids, frames in self.flows.items() if flow_id in ids), [])


class _RejectedError(Exception):
    """The frame cannot be delivered."""


@dataclass
class _Session:
    channel: Channel
    reassembler: Reassembler
    counter: int | None = None
    sequence: int = -1
    last_packet: int = 0


@dataclass
class Witness:
    config: Config
    window: bool = False  # the capture may begin and end inside frames
    result: Result = field(default_factory=Result)
    sessions: dict[int, _Session] = field(default_factory=dict)

    def problem(self, packet: int, text: str) -> None:
        self.result.problems.append(Problem(packet, text))
        self.result.counters["problems"] += 1

    def packet(self, number: int, record: Record) -> None:
        self.result.counters["packets"] += 1
        self.result.counters["bytes"] += len(record.data)
        if len(record.data) != record.original_length:
            text = f"cut to {len(record.data)} of {record.original_length} bytes by the capture"
            self.problem(number, text)
        try:
            datagram = decode_datagram(record.data)
            channel = self.config.by_session.get(datagram.session)
            if channel is None:
                raise L2tpError(f"session {datagram.session:#010x} is unknown")
            self._check_carrier(number, datagram)
            psp = decode_psp(datagram.payload, channel.extra.length)
        except (L2tpError, DepiError) as error:
            self.problem(number, str(error))
            return
        if psp.flow and psp.flow == self.config.message_flow:
            self.result.counters["messages"] += 1
            return
        fresh = _Session(channel, Reassembler(window=self.window))
        session = self.sessions.setdefault(datagram.session, fresh)
        session.last_packet = number
        self._check_psp(number, session, psp)
        whole, problems = session.reassembler.push(psp, number)
        for text in problems:
            self.problem(number, f"session {datagram.session:#010x}: {text}")
        for frame in whole:
            self.frame(session.channel, record.time_ns, frame)

    def _check_carrier(self, number: int, datagram: Datagram) -> None:
        found = asdict(datagram.carrier)
        for name, expected in asdict(self.config.rphy.carrier).items():
            # the identification of an atomic datagram has no meaning (RFC 6864)
            if found[name] != expected and name != "identification":
                self.problem(number, f"{name} {found[name]!s}, expected {expected!s}")
        if datagram.ip_length > self.config.rphy.mtu:
            self.problem(
                number, f"IP packet of {datagram.ip_length} bytes, MTU {self.config.rphy.mtu}"
            )

    def _check_psp(self, number: int, session: _Session, psp: Psp) -> None:
        counters = self.result.counters
        counters["segments"] += len(psp.segments)
        counters["fragments"] += sum(not (s.begin and s.end) for s in psp.segments)
        counters[f"with_{len(psp.segments)}_segments"] += 1
        counters["concatenated"] += len(psp.segments) > 1
        if not psp.sequenced or psp.vccv or psp.header_extension or psp.flow:
            self.problem(number, "PSP flags are not: sequence valid, flow 0, nothing else")
        if len(psp.segments) > self.config.rphy.max_segments:
            self.problem(
                number, f"{len(psp.segments)} segments, at most {self.config.rphy.max_segments}"
            )
        extra = session.channel.extra
        found = psp.extra[-1] >> 4 if extra.counting else 0
        follows = not self.window or psp.sequence == session.sequence + 1 & 0xFFFF
        known = session.counter is not None and follows
        counter = (session.counter or 0) + 1 & 0x0F if known else found
        if psp.extra != extra.at(counter):
            self.problem(
                number, f"extra bytes {psp.extra.hex()}, expected {extra.at(counter).hex()}"
            )
        session.counter, session.sequence = found, psp.sequence

    def frame(self, channel: Channel, time_ns: int, whole: Whole) -> None:
        counters = self.result.counters
        counters["frames"] += 1
        record = FrameRecord(
            whole.last_packet, whole.first_packet, channel.session, time_ns, header=None
        )
        try:
            frame = decode_frame(whole.data)
            record = replace(record, header=frame)
            modem, flow = self._identify(channel, whole.last_packet, frame)
            record = replace(record, modem=modem, flows=modem.wire_group(flow))
            ethernet = self._payload(modem, frame)
            record = replace(record, ethernet=ethernet)
            counters["delivered"] += 1
        except (DocsisError, _RejectedError) as error:
            counters["rejected"] += 1
            self.problem(whole.last_packet, str(error))
        self.result.frames.append(record)

    def _identify(self, channel: Channel, packet: int, frame: Frame) -> tuple[Modem, ServiceFlow]:
        """Finds the modem by SAID and destination address, and the flow by DSID or priority."""
        if frame.fc_type or frame.fc_parm:
            raise _RejectedError(f"FC_TYPE {frame.fc_type} PARM {frame.fc_parm}, no packet PDU")
        match frame.elements:
            case (BpDown() as privacy, DsService() as service):
                pass
            case _:
                kinds = [type(element).__name__ for element in frame.elements]
                raise _RejectedError(f"extended header {kinds}, expected BP_DOWN and DS EHDR")
        sharing = self.config.by_said.get(privacy.said)
        if sharing is None:
            raise _RejectedError(f"SAID {privacy.said:#06x} belongs to no modem")
        modem = sharing.get(frame.pdu[:6])
        if modem is None:
            raise _RejectedError(
                f"destination {frame.pdu[:6].hex(':')} is no modem of SAID {privacy.said:#06x}"
            )
        security = modem.security
        key_sequence, key, _ = security.downstream
        wanted = BpDown(
            key_sequence=key_sequence,
            enabled=key is not None,
            toggle=key_sequence & 1,
            said=security.said,
            version=PRIVACY_VERSION,
        )
        if privacy != wanted:
            raise _RejectedError(f"{privacy}, expected {wanted}")
        flow = self._flow(modem, service, channel)
        if channel.id not in flow.channels:
            self.problem(packet, f"flow {flow.id} on channel {channel.id}, not its own")
        if service.priority != flow.priority:
            self.problem(packet, f"flow {flow.id}: priority {service.priority} on the wire")
        if not flow.active:
            self.problem(packet, f"flow {flow.id} is not active")
        return modem, flow

    def _flow_without_dsid(self, modem: Modem, priority: int, channel: Channel) -> ServiceFlow:
        """A flow of this priority without DSID, preferably one on this channel."""
        candidates = [
            flow
            for flow in modem.flows
            if flow.active and flow.dsid is None and flow.priority == priority
        ]
        if not candidates:
            raise _RejectedError(
                f"modem {modem.mac.hex(':')} has no flow of priority {priority} without DSID"
            )
        of_channel = (flow for flow in candidates if channel.id in flow.channels)
        return next(of_channel, candidates[0])

    def _flow(self, modem: Modem, service: DsService, channel: Channel) -> ServiceFlow:
        if service.dsid is None:
            return self._flow_without_dsid(modem, service.priority, channel)
        if service.dsid not in self.config.by_dsid:
            raise _RejectedError(f"DSID {service.dsid:#07x} is unknown")
        owner, flow = self.config.by_dsid[service.dsid]
        if owner != modem:
            raise _RejectedError(
                f"DSID {service.dsid:#07x} is of modem {owner.mac.hex(':')},"
                f" SAID of {modem.mac.hex(':')}"
            )
        if service.sequence is None:
            raise _RejectedError(f"DSID {service.dsid:#07x} without sequence number")
        return flow

    def _payload(self, modem: Modem, frame: Frame) -> bytes:
        pdu = frame.pdu
        if not ETHERNET_HEADER + CRC_LENGTH <= len(pdu) <= self.config.max_frame:
            raise _RejectedError(f"PDU of {len(pdu)} bytes")
        _, key, iv = modem.security.downstream
        if key is not None:
            pdu = bpi.decrypt_pdu(pdu, key, iv)
        ethernet, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        wanted = frame_check_sequence(ethernet) if self.config.generate_crc else bytes(CRC_LENGTH)
        if crc != wanted:
            raise _RejectedError(f"Ethernet CRC {crc.hex()}, computed {wanted.hex()}")
        return ethernet

    def finish(self) -> Result:
        for number, session in self.sessions.items():
            for text in session.reassembler.finish():
                self.problem(session.last_packet, f"session {number:#010x}: {text}")
        by_stream: dict[tuple[tuple[int, ...], int | None], list[FrameRecord]] = {}
        for record in self.result.frames:
            if record.flows:
                dsid = record.service.dsid if record.service else None
                by_stream.setdefault((record.flows, dsid), []).append(record)
        for (flows, dsid), records in by_stream.items():
            ordered = records if dsid is None else self._resequence(dsid, records)
            frames = [record.ethernet for record in ordered if record.ethernet is not None]
            self.result.flows.setdefault(flows, []).extend(frames)
        self.result.problems.sort(key=lambda problem: problem.packet)
        return self.result

    def _resequence(self, dsid: int, records: list[FrameRecord]) -> list[FrameRecord]:
        """Orders frames by packet sequence number. A number is the one nearest to the highest so
        far (MULPI: half the number space)."""
        counters = self.result.counters
        by_number: dict[int, FrameRecord] = {}
        newest_of_session: dict[int, int] = {}
        highest: int | None = None
        change_count: int | None = None
        for record in records:
            service = record.service
            assert service is not None and service.sequence is not None
            if highest is None:
                highest, change_count = service.sequence, service.sequence_change_count
            if service.sequence_change_count != change_count:
                self.problem(record.packet, f"DSID {dsid:#07x}: sequence change count changed")
                change_count = service.sequence_change_count
            number = highest + (service.sequence - highest + 0x8000) % 0x10000 - 0x8000
            counters["out_of_order"] += number < highest
            if number in by_number:
                counters["duplicates"] += 1
                self.problem(record.packet, f"DSID {dsid:#07x}: {service.sequence} came twice")
                continue
            if number < newest_of_session.get(record.session, number):
                text = f"DSID {dsid:#07x}: {service.sequence} is late within one channel"
                self.problem(record.packet, text)
            newest_of_session[record.session] = number
            by_number[number] = record
            highest = max(highest, number)
        ordered = sorted(by_number)
        for before, after in pairwise(ordered):
            missing = after - before - 1
            counters["gaps"] += missing
            if missing:
                self.problem(
                    by_number[after].packet,
                    f"DSID {dsid:#07x}: {missing} missing before {after & 0xFFFF}",
                )
        return [by_number[number] for number in ordered]


def decode_window(packets: Iterable[Record], config: Config) -> Result:
    """Decodes the whole frames of a part of a capture (a window). It does not check the order of
    frames, as some of a flow may be before or after the window."""
    witness = Witness(config, window=True)
    for number, record in enumerate(packets, start=1):
        witness.packet(number, record)
    return witness.result


def decode_downstream(packets: Iterable[Record], config: Config) -> Result:
    """Decodes the packets of the R-PHY port, in the order of the capture."""
    witness = Witness(config)
    for number, record in enumerate(packets, start=1):
        witness.packet(number, record)
    return witness.finish()
