# SPDX-License-Identifier: BSD-3-Clause
"""A reference model of the upstream (docs/upstream.md): computes the result of a capture.

It processes packet by packet. Timers expire exactly on time; those of the data plane are slightly
later, as it polls. Memory, rings and buffers have no limits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vcmts.witness.crc import header_check_sequence
from vcmts.witness.depi import Segment
from vcmts.witness.docsis import SEGMENT_HEADER, SEGMENT_SEQUENCES
from vcmts.witness.model import Config, UpstreamChannel
from vcmts.witness.pcapfile import Record
from witness.accounting import Accounting
from witness.assembly import Assembler, Received, State
from witness.frames import BandwidthRequest, Frames, Origin, Owner, Sent
from witness.ordering import PSP_NAMES, SEGMENT_NAMES, Gap, Order
from witness.outer import PacketDropped, Psp, read_packet
from witness.stream import RANGING, REQUESTING, Stream

PSP_WINDOW, SEGMENT_WINDOW = 32, 63  # packets, segments
RECORD_SIZE = 16


@dataclass(frozen=True)
class Piece:
    """A segment of a service flow, without its header."""

    payload: bytes
    pointer: int | None
    origin: Origin


@dataclass
class Result:
    """The result. `frames`: at the network port; `management`: at the control port; without CRC."""

    frames: list[Sent]
    management: list[bytes]
    requests: list[BandwidthRequest]
    requesting: set[bytes]  # MAC addresses of configured modems that sent requests
    counters: Counter[str]
    drops: Counter[str]
    pending: dict[str, int]

    def stream(self, flow: int, cluster: int) -> list[bytes]:
        """The frames of a SID cluster of a service flow, in order."""
        key = (flow, cluster)
        return [sent.ethernet for sent in self.frames if (sent.flow, sent.cluster) == key]


@dataclass
class _Flow:
    """State of a SID cluster of a service flow."""

    order: Order[Piece]
    stream: Stream[Origin]


@dataclass
class Model:
    config: Config
    accounting: Accounting = field(default_factory=Accounting)
    now: int = 0
    orders: dict[tuple[int, ...], Order[Psp]] = field(default_factory=dict)
    assemblers: dict[tuple[int, int], Assembler] = field(default_factory=dict)
    flows: dict[tuple[int, int], _Flow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frames = Frames(self.config, self.accounting)

    # Packets

    def packet(self, frame: bytes, time_ns: int) -> None:
        self.advance(time_ns)
        self.accounting.count("received")
        self.accounting.count("received_bytes", len(frame))
        try:
            psp = read_packet(frame, self.config)
        except PacketDropped as refused:
            self.accounting.drop(str(refused))
            return
        if psp.sequence is None:
            self._deliver(psp)
            return
        key = self._numbering(psp)
        if key not in self.orders:
            timeout = self.config.upstream.reorder_timeout_ns
            self.orders[key] = Order(self.accounting, PSP_NAMES, 1 << 16, PSP_WINDOW, timeout)
        self._in_order(key, self.orders[key].push(psp.sequence, psp, self.now))

    def _numbering(self, psp: Psp) -> tuple[int, ...]:
        by_flow = self.config.upstream.psp_numbering == "flow"
        return (psp.session, psp.flow) if by_flow else (psp.session,)

    def _in_order(self, key: tuple[int, ...], items: list[Psp | Gap]) -> None:
        for item in items:
            if isinstance(item, Gap):
                for stream, assembler in self.assemblers.items():
                    if stream[: len(key)] == key:
                        assembler.gap()
            else:
                self._deliver(item)

    def _deliver(self, psp: Psp) -> None:
        self.accounting.count("psp_packets")
        self.accounting.count("psp_segments", len(psp.segments))
        channel, kind = self.config.upstream.by_session[psp.session]
        self.accounting.count("psp_ofdma", channel.type == "ofdma")
        for segment in psp.segments:
            if kind == "requests":
                self._record(channel, segment)
                continue
            received = self._assembler(psp, channel).push(segment, self.now)
            if received is not None:
                self._burst(received, channel, ranging=kind == "ranging")

        open_ = kind != "requests" and self._assembler(psp, channel).state is State.OPEN
        self.accounting.count("psp_partial", open_)

    def _assembler(self, psp: Psp, channel: UpstreamChannel) -> Assembler:
        timeout = self.config.upstream.frame_timeout_ns
        fresh = Assembler(self.accounting, channel.type == "ofdma", timeout)
        return self.assemblers.setdefault((psp.session, psp.flow), fresh)

    def _record(self, channel: UpstreamChannel, segment: Segment) -> None:
        data = segment.data
        good = segment.begin and segment.end and len(data) == RECORD_SIZE
        good = good and (channel.type != "ofdma" or data[0] >> 6 == 1)
        sid = int.from_bytes(data[6:8], "big") & 0x3FFF
        owner = self.config.by_sid.get((channel.id, sid))
        if not good or owner is None:
            self.accounting.count("bad_requests")
            return
        modem, flow, cluster = owner
        number = data[0] >> 3 & 7 if data[0] & 4 else cluster.id
        size = int.from_bytes(data[2:4], "big")
        request = BandwidthRequest("record", modem.mac, flow.id, number, size, bool(data[0] & 2))
        self.frames.add_request(request)

    # Segments

    def _burst(self, received: Received, channel: UpstreamChannel, *, ranging: bool) -> None:
        if ranging or received.request:
            origin = Origin(channel, None, self.now, contention=received.request)
            self._whole_frames(received.payload, origin)
            return
        found = self.config.by_sid.get((channel.id, received.sid))
        if found is None:
            self.accounting.drop("unknown_sid")
            return
        modem, flow, cluster = found
        if flow.segment_header:
            self._segment(received.payload, channel, Owner(modem, flow, cluster.id))
        else:
            origin = Origin(channel, Owner(modem, flow, cluster.id), self.now)
            self._whole_frames(received.payload, origin)

    def _stream(self, refused: Mapping[str, str]) -> Stream[Origin]:
        return Stream(
            self.accounting,
            self.config.max_frame,
            self.config.upstream.frame_timeout_ns,
            self.frames.read_requests,
            self.frames.deliver,
            refused,
        )

    def _whole_frames(self, payload: bytes, origin: Origin) -> None:
        self.accounting.count("segments")
        self.accounting.count("segment_bytes", len(payload))
        self.accounting.count("extracted")
        refused: Mapping[str, str] = {}
        if origin.owner is None:
            refused = REQUESTING if origin.contention else RANGING
        self._stream(refused).burst(payload, origin, self.now)

    def _segment(self, data: bytes, channel: UpstreamChannel, owner: Owner) -> None:
        self.accounting.count("segments")
        self.accounting.count("segment_bytes", len(data))
        if len(data) < SEGMENT_HEADER:
            self.accounting.drop("segment_truncated")
            return
        header, payload = data[:SEGMENT_HEADER], data[SEGMENT_HEADER:]
        if header[6:] != header_check_sequence(header[:6]):
            self.accounting.drop("segment_hcs")
            return
        first, second, amount = (int.from_bytes(header[at : at + 2], "big") for at in (0, 2, 4))
        if not any(cluster.id == second & 7 for cluster in owner.flow.clusters):
            self.accounting.drop("segment_cluster")
            return
        pointer = first & 0x3FFF if first & 0x8000 else None
        if pointer is not None and pointer > len(payload):
            self.accounting.drop("segment_pointer")
            return
        owner = Owner(owner.modem, owner.flow, second & 7)
        if amount and not self.frames.count_repeated(channel):
            owner_ids = (owner.modem.mac, owner.flow.id, owner.cluster)
            self.frames.add_request(BandwidthRequest("segment", *owner_ids, amount, n_bytes=True))
        piece = Piece(payload, pointer, Origin(channel, owner, self.now))
        flow = self._flow(owner)
        self._segments_in_order(flow, flow.order.push(second >> 3, piece, self.now))

    def _flow(self, owner: Owner) -> _Flow:
        # A missing segment may be in a PSP packet that is pending itself.
        timeout = 2 * self.config.upstream.reorder_timeout_ns
        order: Order[Piece] = Order(
            self.accounting, SEGMENT_NAMES, SEGMENT_SEQUENCES, SEGMENT_WINDOW, timeout
        )
        key = (owner.flow.id, owner.cluster)
        return self.flows.setdefault(key, _Flow(order, self._stream({})))

    def _segments_in_order(self, flow: _Flow, items: list[Piece | Gap]) -> None:
        for item in items:
            if isinstance(item, Gap):
                flow.stream.lose("frame_gap")
            else:
                origin = Origin(item.origin.channel, item.origin.owner, self.now)
                flow.stream.segment(item.payload, item.pointer, origin, self.now)

    # Time

    def _deadlines(self) -> list[int]:
        given = [
            *(order.deadline for order in self.orders.values()),
            *(assembler.deadline for assembler in self.assemblers.values()),
            *(flow.order.deadline for flow in self.flows.values()),
            *(flow.stream.deadline for flow in self.flows.values()),
            *self.frames.deadlines().values(),
        ]
        return [deadline for deadline in given if deadline is not None]

    def advance(self, time_ns: int) -> None:
        """Advances the time, and expires timers on the way."""
        while due := [deadline for deadline in self._deadlines() if deadline <= time_ns]:
            self.now = min(due)
            for key, order in self.orders.items():
                self._in_order(key, order.expire(self.now))
            for flow in list(self.flows.values()):
                self._segments_in_order(flow, flow.order.expire(self.now))
                flow.stream.expire(self.now)
            for assembler in self.assemblers.values():
                assembler.expire(self.now)
            self.frames.expire(self.now)
        self.now = max(self.now, time_ns)

    # Changes

    def change(self, config: Config) -> None:
        """Applies a new configuration between two packets."""
        sessions = config.upstream.by_session
        for session, (channel, kind) in self.config.upstream.by_session.items():
            after = sessions.get(session)
            if after is None or (after[0].id, after[1]) != (channel.id, kind):
                self._remove_session(session)
        clusters = {
            (flow.id, cluster.id)
            for modem in config.modems
            for flow in modem.upstream_flows
            for cluster in flow.clusters
        }
        for key in [key for key in self.flows if key not in clusters]:
            self._remove_flow(key)
        flows = {flow for flow, _ in clusters}
        for number in [number for number in self.frames.reassemblies if number not in flows]:
            self.frames.abandon(number, "frame_flow_removed")
        self.frames.requesting &= set(config.by_mac)
        self.config = self.frames.config = config

    def _remove_session(self, session: int) -> None:
        for key in [key for key in self.orders if key[0] == session]:
            self.accounting.drop("packet_session_removed", len(self.orders.pop(key).pending))
        for key in [key for key in self.assemblers if key[0] == session]:
            self.assemblers.pop(key).remove()

    def _remove_flow(self, key: tuple[int, int]) -> None:
        flow = self.flows.pop(key)
        self.accounting.drop("segment_flow_removed", len(flow.order.pending))
        flow.stream.lose("frame_flow_removed")

    # The end

    def pending(self) -> dict[str, int]:
        flows = self.flows.values()
        return {
            "packet": sum(len(order.pending) for order in self.orders.values()),
            "burst": sum(item.state is State.OPEN for item in self.assemblers.values()),
            "segment": sum(len(flow.order.pending) for flow in flows),
            "frame": sum(bool(flow.stream.partial) for flow in flows) + self.frames.pending,
        }

    def stop(self) -> None:
        """Drops all pending units."""
        for order in self.orders.values():
            self.accounting.drop("packet_stopped", len(order.pending))
            order.pending.clear()
        for assembler in self.assemblers.values():
            assembler.stop()
        for flow in self.flows.values():
            self.accounting.drop("segment_stopped", len(flow.order.pending))
            flow.order.pending.clear()
            flow.stream.lose("stopped")
        self.frames.stop()

    def result(self) -> Result:
        """The result so far. Asserts that the counters balance."""
        pending = self.pending()
        self.accounting.balance(pending)
        frames = self.frames
        assert self.accounting.counters["requests"] == len(frames.requests)
        assert self.accounting.counters["transmitted"] == len(frames.sent)
        return Result(
            list(frames.sent),
            list(frames.management),
            list(frames.requests),
            set(frames.requesting),
            +self.accounting.counters,
            +self.accounting.drops,
            pending,
        )


def expect_upstream(
    records: Iterable[Record],
    config: Config,
    *,
    drain: bool = True,
    changes: Iterable[tuple[int, Config]] = (),
) -> Result:
    """Computes the expected result of packets at the R-PHY port.

    `drain`: advance the time after the last packet until all timers have expired. `changes`: (time
    in ns, configuration); a packet of the same time comes before the change.
    """
    model = Model(config)
    remaining = list(changes)
    for record in records:
        while remaining and remaining[0][0] < record.time_ns:
            at, changed = remaining.pop(0)
            model.advance(at)
            model.change(changed)
        model.packet(record.data, record.time_ns)
        model.accounting.balance(model.pending())
    if drain:
        upstream = config.upstream
        model.advance(model.now + 100 * (upstream.reorder_timeout_ns + upstream.frame_timeout_ns))
    return model.result()
