# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of whole MAC frames of modems (docs/upstream.md, "Frames", "Bandwidth requests")."""

from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence, internet_checksum
from vcmts.witness.ip import IpFault, ethernet_frame, read_frame
from vcmts.witness.model import Config, Modem, Security, UpstreamChannel, UpstreamFlow
from vcmts.witness.source import Allowance, has_own_source, may_be_unaddressed
from witness.books import Books
from witness.mac_header import (
    FRAGMENT,
    MANAGEMENT,
    QUEUE_REQUEST,
    REQUEST,
    MacHeader,
    Privacy,
)
from witness.stream import JOINED, Stream

CRC_LENGTH = 4
MAX_JOINED = 65541
FIRST, LAST = 0x20, 0x10
NO_KEY = Security(said=0, key=None, iv=b"", key_sequence=0)


@dataclass(frozen=True)
class Ask:
    """A bandwidth request. The unit is minislots or the service flow's N bytes."""

    kind: str
    modem: bytes  # its MAC address
    flow: int
    cluster: int
    size: int
    n_bytes: bool


@dataclass(frozen=True)
class Sent:
    """A frame for the network port, without CRC. Order holds in a service flow's SID cluster."""

    flow: int
    cluster: int
    ethernet: bytes


@dataclass(frozen=True)
class Owner:
    """Whose bytes these are."""

    modem: Modem
    flow: UpstreamFlow
    cluster: int


@dataclass(frozen=True)
class Origin:
    """`owner` is None on ranging sessions, and in an opportunity for requests, in which any modem
    may ask. What is joined from fragments is `joined`."""

    channel: UpstreamChannel
    owner: Owner | None
    now: int
    joined: bool = False
    contention: bool = False


@dataclass
class Joining:
    """Fragments of a frame: their payloads, and what the next one has to be."""

    data: bytes
    count: int
    sequence: int
    begun: int


@dataclass
class Frames:
    """The end of every frame's way."""

    config: Config
    books: Books
    sent: list[Sent] = field(default_factory=list)
    management: list[bytes] = field(default_factory=list)
    requests: list[Ask] = field(default_factory=list)
    asking: set[bytes] = field(default_factory=set)  # MAC addresses of modems that are there
    joining: dict[int, Joining] = field(default_factory=dict)  # by service flow
    heard: dict[tuple[int, int], UpstreamChannel] = field(default_factory=dict)  # of headers
    allowances: dict[bytes, Allowance] = field(default_factory=dict)  # by MAC address

    def take(self, frame: bytes, header: MacHeader, origin: Origin) -> None:
        pdu = frame[header.header_size :]
        if header.kind in (REQUEST, QUEUE_REQUEST):
            self.books.count("request_frames")
        elif header.kind == MANAGEMENT:
            self._manage(pdu)
        elif origin.owner is not None:
            reason = self._private(header, pdu, origin, origin.owner)
            if reason is not None:
                self.books.drop(reason)

    # Bandwidth requests

    def is_repeated(self, channel: UpstreamChannel) -> bool:
        """A request in a burst is a repetition where records tell of it."""
        self.books.count("requests_repeated", bool(channel.request_session))
        return bool(channel.request_session)

    def hand_over(self, ask: Ask) -> None:
        self.books.count("requests")
        self.requests.append(ask)
        self.asking.add(ask.modem)

    def notice(self, header: MacHeader, origin: Origin) -> None:
        """The requests in a good MAC header, whatever becomes of the frame."""
        if origin.owner is not None:
            self.heard[origin.owner.flow.id, origin.owner.cluster] = origin.channel
        if header.request is not None:
            kind = header.kind if header.kind in (REQUEST, QUEUE_REQUEST) else "element"
            self._ask(kind, *header.request, origin)
        if header.privacy is not None and header.privacy.piggyback:
            privacy = header.privacy
            self._ask("piggyback", privacy.piggyback, privacy.identifier, origin)

    def _ask(self, kind: str, size: int, sid: int, origin: Origin) -> None:
        if self.is_repeated(origin.channel):
            return
        found = self.config.by_sid.get((origin.channel.id, sid))
        asking = origin.owner.modem.mac if origin.owner is not None else None
        if found is None or (found[0].mac != asking and not origin.contention):
            self.books.count("bad_requests")
            return
        modem, flow, cluster = found
        self.hand_over(Ask(kind, modem.mac, flow.id, cluster.id, size, kind == QUEUE_REQUEST))

    # Management

    def _manage(self, pdu: bytes) -> None:
        message, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        if crc != frame_check_sequence(message):
            self.books.drop("management_crc")
        elif not self.config.control_port:
            self.books.drop("no_control_port")
        else:
            self.books.count("management")
            self.management.append(ethernet_frame(message))

    # Privacy

    def present(self, owner: Owner) -> Owner:
        """What waited while the configuration changed meets what its modem has by now."""
        modem = self.config.by_mac.get(owner.modem.mac, owner.modem)
        flows = {flow.id: flow for flow in modem.upstream_flows}
        return Owner(modem, flows.get(owner.flow.id, owner.flow), owner.cluster)

    def _key(
        self, privacy: Privacy | None, owner: Owner, joined: bool
    ) -> tuple[bytes, bytes] | str | None:
        """Key and IV, None for a frame in the clear, or a drop reason. What is joined from
        fragments was decrypted with them: there is no key for it."""
        security = NO_KEY if joined else owner.modem.security
        if privacy is None or not privacy.upstream:
            return None if security.key is None else "privacy_missing"
        if not owner.flow.has_sid(privacy.identifier):
            return "privacy_sid"
        if not privacy.enabled:
            return None if security.key is None else "privacy_missing"
        return security.generations.get((privacy.key_sequence, privacy.toggle)) or "key_unknown"

    def _private(self, header: MacHeader, pdu: bytes, origin: Origin, owner: Owner) -> str | None:
        """Decrypts a fragment or a packet and sends it on its way, or gives a drop reason."""
        owner = self.present(owner)
        key = self._key(header.privacy, owner, origin.joined)
        if isinstance(key, str):
            return key
        self.books.count("clear" if key is None else "decrypted")
        if key is not None:
            self.books.count(f"decrypted_{bpi.counter_name(key[0])}")
        if header.kind == FRAGMENT:
            clear = pdu if key is None else bpi.decrypt(pdu, *key)
            return self._fragment(header, clear, origin, owner)
        clear = pdu if key is None else bpi.decrypt_pdu(pdu, *key)
        return self._packet(clear, owner, origin.now)

    def _packet(self, pdu: bytes, owner: Owner, now: int) -> str | None:
        ethernet, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        self.books.count("crc_verified", self.config.upstream.verify_crc)
        if self.config.upstream.verify_crc and crc != frame_check_sequence(ethernet):
            return "frame_crc"
        if self.config.upstream.verify_source:
            try:
                packet = read_frame(ethernet)
            except IpFault as fault:
                return str(fault)
            if packet.kind == "ipv4" and internet_checksum(packet.header) != 0:
                return "ipv4_checksum"
            self.books.count(packet.kind if packet.kind in ("ipv4", "ipv6") else "llc")
            if not has_own_source(packet, owner.modem.addresses):
                if not may_be_unaddressed(packet):
                    return "source_address"
                if not self.allowances.setdefault(owner.modem.mac, Allowance()).consume(now):
                    return "source_rate"
        ethernet = ethernet_frame(ethernet)
        self.books.count("transmitted")
        self.books.count("transmitted_bytes", len(ethernet))
        self.sent.append(Sent(owner.flow.id, owner.cluster, ethernet))
        return None

    # Fragments

    def give_up(self, flow: int, reason: str) -> None:
        joining = self.joining.pop(flow, None)
        if joining is not None:
            self.books.drop(reason, joining.count)

    def _fragment(self, header: MacHeader, pdu: bytes, origin: Origin, owner: Owner) -> str | None:
        data, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        if crc != frame_check_sequence(data):
            return "fragment_crc"
        assert header.privacy is not None and header.privacy.fragment is not None
        control, flow = header.privacy.fragment, owner.flow.id
        joining = self.joining.get(flow)
        if control & FIRST:
            self.give_up(flow, "fragment_order")
            joining = self.joining[flow] = Joining(b"", 0, control & 0x0F, origin.now)
        elif joining is None or control & 0x0F != joining.sequence:
            self.give_up(flow, "fragment_order")
            return "fragment_order"
        joining.data += data
        joining.sequence = (joining.sequence + 1) & 0x0F
        joining.count += 1
        if len(joining.data) > MAX_JOINED:
            self.give_up(flow, "fragment_too_long")
        elif control & LAST:
            del self.joining[flow]
            self.books.count("fragments", joining.count)
            self._join(joining.data, origin, owner)
        return None

    def _join(self, data: bytes, origin: Origin, owner: Owner) -> None:
        whole, channel = self.config.max_frame, self.heard[owner.flow.id, owner.cluster]
        inner: Stream[Origin] = Stream(self.books, whole, 0, self.notice, self.take, JOINED)
        inner.burst(data, Origin(channel, owner, origin.now, joined=True), origin.now)

    def deadlines(self) -> dict[int, int]:
        timeout = self.config.upstream.frame_timeout_ns
        return {flow: joining.begun + timeout for flow, joining in self.joining.items()}

    def expire(self, now: int) -> None:
        for flow, deadline in self.deadlines().items():
            if now >= deadline:
                self.give_up(flow, "frame_timeout")

    def stop(self) -> None:
        for flow in list(self.joining):
            self.give_up(flow, "stopped")

    @property
    def held(self) -> int:
        return sum(joining.count for joining in self.joining.values())
