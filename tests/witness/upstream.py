# SPDX-License-Identifier: BSD-3-Clause
"""What has to come of an upstream capture: a slow model of docs/upstream.md.

Every packet goes all the way before the next one is looked at. Time passes only from packet to
packet, and what is to happen in between happens at its very moment: the data plane polls, so that
its timeouts come a little later. Memory, rings and buffers have no limits here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vcmts.witness.crc import header_check_sequence
from vcmts.witness.depi import Segment
from vcmts.witness.docsis import SEGMENT_HEADER, SEGMENT_SEQUENCES
from vcmts.witness.model import Config, UpstreamChannel
from vcmts.witness.pcapfile import Record
from witness.assembly import Assembler, Received, State
from witness.books import Books
from witness.frames import Ask, Frames, Origin, Owner, Sent
from witness.ordering import PSP_NAMES, SEGMENT_NAMES, Gap, Order
from witness.outer import Psp, Refused, read_packet
from witness.stream import RANGING, REQUESTING, Stream

PSP_WINDOW, SEGMENT_WINDOW = 32, 63
RECORD_SIZE = 16


@dataclass(frozen=True)
class Piece:
    """A segment of a service flow, without its header."""

    payload: bytes
    pointer: int | None
    origin: Origin


@dataclass
class Result:
    """`frames` leave by the network port, `management` by the control port, without CRC."""

    frames: list[Sent]
    management: list[bytes]
    requests: list[Ask]
    asking: set[bytes]  # modems that are there and asked
    counters: Counter[str]
    drops: Counter[str]
    held: dict[str, int]

    def stream(self, flow: int, cluster: int) -> list[bytes]:
        """The frames of a service flow's SID cluster, which stay in order."""
        place = (flow, cluster)
        return [sent.ethernet for sent in self.frames if (sent.flow, sent.cluster) == place]


@dataclass
class _Flow:
    """The segments of a service flow and SID cluster."""

    order: Order[Piece]
    stream: Stream[Origin]


@dataclass
class Model:
    config: Config
    books: Books = field(default_factory=Books)
    now: int = 0
    orders: dict[tuple[int, ...], Order[Psp]] = field(default_factory=dict)
    assemblers: dict[tuple[int, int], Assembler] = field(default_factory=dict)
    flows: dict[tuple[int, int], _Flow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frames = Frames(self.config, self.books)

    # Packets

    def packet(self, frame: bytes, time_ns: int) -> None:
        self.advance(time_ns)
        self.books.count("received")
        self.books.count("received_bytes", len(frame))
        try:
            psp = read_packet(frame, self.config)
        except Refused as refused:
            self.books.drop(str(refused))
            return
        if psp.sequence is None:
            self._deliver(psp)
            return
        key = self._numbering(psp)
        if key not in self.orders:
            timeout = self.config.upstream.reorder_timeout_ns
            self.orders[key] = Order(self.books, PSP_NAMES, 1 << 16, PSP_WINDOW, timeout)
        self._in_order(key, self.orders[key].push(psp.sequence, psp, self.now))

    def _numbering(self, psp: Psp) -> tuple[int, ...]:
        by_flow = self.config.upstream.psp_numbering == "flow"
        return (psp.session, psp.flow) if by_flow else (psp.session,)

    def _in_order(self, key: tuple[int, ...], items: list[Psp | Gap]) -> None:
        for item in items:
            if isinstance(item, Gap):
                for place, assembler in self.assemblers.items():
                    if place[: len(key)] == key:
                        assembler.gap()
            else:
                self._deliver(item)

    def _deliver(self, psp: Psp) -> None:
        self.books.count("psp_packets")
        self.books.count("psp_segments", len(psp.segments))
        channel, kind = self.config.upstream.by_session[psp.session]
        self.books.count("psp_ofdma", channel.type == "ofdma")
        for segment in psp.segments:
            if kind == "requests":
                self._record(channel, segment)
                continue
            received = self._assembler(psp, channel).push(segment, self.now)
            if received is not None:
                self._burst(received, channel, ranging=kind == "ranging")

        open_ = kind != "requests" and self._assembler(psp, channel).state is State.OPEN
        self.books.count("psp_partial", open_)

    def _assembler(self, psp: Psp, channel: UpstreamChannel) -> Assembler:
        timeout = self.config.upstream.frame_timeout_ns
        fresh = Assembler(self.books, channel.type == "ofdma", timeout)
        return self.assemblers.setdefault((psp.session, psp.flow), fresh)

    def _record(self, channel: UpstreamChannel, segment: Segment) -> None:
        data = segment.data
        good = segment.begin and segment.end and len(data) == RECORD_SIZE
        good = good and (channel.type != "ofdma" or data[0] >> 6 == 1)
        sid = int.from_bytes(data[6:8], "big") & 0x3FFF
        owner = self.config.by_sid.get((channel.id, sid))
        if not good or owner is None:
            self.books.count("bad_requests")
            return
        modem, flow, cluster = owner
        number = data[0] >> 3 & 7 if data[0] & 4 else cluster.id
        size = int.from_bytes(data[2:4], "big")
        ask = Ask("record", modem.mac, flow.id, number, size, bool(data[0] & 2))
        self.frames.hand_over(ask)

    # Segments

    def _burst(self, received: Received, channel: UpstreamChannel, *, ranging: bool) -> None:
        if ranging or received.request:
            origin = Origin(channel, None, self.now, contention=received.request)
            self._whole_frames(received.payload, origin)
            return
        found = self.config.by_sid.get((channel.id, received.sid))
        if found is None:
            self.books.drop("unknown_sid")
            return
        modem, flow, cluster = found
        if flow.segment_header:
            self._segment(received.payload, channel, Owner(modem, flow, cluster.id))
        else:
            origin = Origin(channel, Owner(modem, flow, cluster.id), self.now)
            self._whole_frames(received.payload, origin)

    def _stream(self, refused: Mapping[str, str]) -> Stream[Origin]:
        return Stream(
            self.books,
            self.config.max_frame,
            self.config.upstream.frame_timeout_ns,
            self.frames.notice,
            self.frames.take,
            refused,
        )

    def _whole_frames(self, payload: bytes, origin: Origin) -> None:
        self.books.count("segments")
        self.books.count("segment_bytes", len(payload))
        self.books.count("extracted")
        refused: Mapping[str, str] = {}
        if origin.owner is None:
            refused = REQUESTING if origin.contention else RANGING
        self._stream(refused).burst(payload, origin, self.now)

    def _segment(self, data: bytes, channel: UpstreamChannel, owner: Owner) -> None:
        self.books.count("segments")
        self.books.count("segment_bytes", len(data))
        if len(data) < SEGMENT_HEADER:
            self.books.drop("segment_truncated")
            return
        header, payload = data[:SEGMENT_HEADER], data[SEGMENT_HEADER:]
        if header[6:] != header_check_sequence(header[:6]):
            self.books.drop("segment_hcs")
            return
        first, second, amount = (int.from_bytes(header[at : at + 2], "big") for at in (0, 2, 4))
        if not any(cluster.id == second & 7 for cluster in owner.flow.clusters):
            self.books.drop("segment_cluster")
            return
        pointer = first & 0x3FFF if first & 0x8000 else None
        if pointer is not None and pointer > len(payload):
            self.books.drop("segment_pointer")
            return
        owner = Owner(owner.modem, owner.flow, second & 7)
        if amount and not self.frames.is_repeated(channel):
            who = (owner.modem.mac, owner.flow.id, owner.cluster)
            self.frames.hand_over(Ask("segment", *who, amount, n_bytes=True))
        piece = Piece(payload, pointer, Origin(channel, owner, self.now))
        flow = self._flow(owner)
        self._segments_in_order(flow, flow.order.push(second >> 3, piece, self.now))

    def _flow(self, owner: Owner) -> _Flow:
        # What is missing may itself wait for the order of its PSP packet.
        timeout = 2 * self.config.upstream.reorder_timeout_ns
        order: Order[Piece] = Order(
            self.books, SEGMENT_NAMES, SEGMENT_SEQUENCES, SEGMENT_WINDOW, timeout
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
        """Lets time pass; it never goes back."""
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
        """From now on that one is in service, between two packets."""
        before = self.config.upstream.by_session
        now = config.upstream.by_session
        for session, (channel, kind) in before.items():
            there = now.get(session)
            if there is None or (there[0].id, there[1]) != (channel.id, kind):
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
        for number in [number for number in self.frames.joining if number not in flows]:
            self.frames.give_up(number, "frame_flow_removed")
        self.frames.asking &= set(config.by_mac)
        self.config = self.frames.config = config

    def _remove_session(self, session: int) -> None:
        for key in [key for key in self.orders if key[0] == session]:
            self.books.drop("packet_session_removed", len(self.orders.pop(key).waiting))
        for place in [place for place in self.assemblers if place[0] == session]:
            self.assemblers.pop(place).remove()

    def _remove_flow(self, key: tuple[int, int]) -> None:
        flow = self.flows.pop(key)
        self.books.drop("segment_flow_removed", len(flow.order.waiting))
        flow.stream.lose("frame_flow_removed")

    # The end

    def held(self) -> dict[str, int]:
        flows = self.flows.values()
        return {
            "packet": sum(len(order.waiting) for order in self.orders.values()),
            "burst": sum(item.state is State.OPEN for item in self.assemblers.values()),
            "segment": sum(len(flow.order.waiting) for flow in flows),
            "frame": sum(bool(flow.stream.partial) for flow in flows) + self.frames.held,
        }

    def stop(self) -> None:
        """What is held is dropped."""
        for order in self.orders.values():
            self.books.drop("packet_stopped", len(order.waiting))
            order.waiting.clear()
        for assembler in self.assemblers.values():
            assembler.stop()
        for flow in self.flows.values():
            self.books.drop("segment_stopped", len(flow.order.waiting))
            flow.order.waiting.clear()
            flow.stream.lose("stopped")
        self.frames.stop()

    def result(self) -> Result:
        """What has come out so far. The accounts must balance."""
        held = self.held()
        self.books.balance(held)
        frames = self.frames
        assert self.books.counters["requests"] == len(frames.requests)
        assert self.books.counters["transmitted"] == len(frames.sent)
        return Result(
            list(frames.sent),
            list(frames.management),
            list(frames.requests),
            set(frames.asking),
            +self.books.counters,
            +self.books.drops,
            held,
        )


def expect_upstream(
    records: Iterable[Record],
    config: Config,
    *,
    drain: bool = True,
    changes: Iterable[tuple[int, Config]] = (),
) -> Result:
    """What the packets of the R-PHY port must lead to. With `drain`, time then passes until
    every timeout is over; otherwise what waits is held. Each of `changes` is in service from its
    time (ns) on, what came in that ns before it."""
    model = Model(config)
    coming = list(changes)
    for record in records:
        while coming and coming[0][0] < record.time_ns:
            at, changed = coming.pop(0)
            model.advance(at)
            model.change(changed)
        model.packet(record.data, record.time_ns)
        model.books.balance(model.held())
    if drain:
        upstream = config.upstream
        model.advance(model.now + 100 * (upstream.reorder_timeout_ns + upstream.frame_timeout_ns))
    return model.result()
