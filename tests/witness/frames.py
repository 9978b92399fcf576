# SPDX-License-Identifier: BSD-3-Clause
"""Model: processes MAC frames and requests (docs/upstream.md, "Frames", "Bandwidth requests")."""

from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence, internet_checksum
from vcmts.witness.ip import IpFault, ethernet_frame, read_frame
from vcmts.witness.model import Config, Modem, Security, UpstreamChannel, UpstreamFlow
from vcmts.witness.source import Allowance, has_own_source, may_be_unaddressed
from witness.accounting import Accounting
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
MAX_JOINED = 65541  # bytes of joined fragments
FIRST, LAST = 0x20, 0x10  # bits of the fragmentation control byte
NO_KEY = Security(said=0, key=None, iv=b"", key_sequence=0)


@dataclass(frozen=True)
class BandwidthRequest:
    """A bandwidth request. `size`: minislots, or units of the service flow's N bytes."""

    kind: str
    modem: bytes  # its MAC address
    flow: int
    cluster: int
    size: int
    n_bytes: bool


@dataclass(frozen=True)
class Sent:
    """A frame at the network port, without CRC. Frames of a SID cluster are in order."""

    flow: int
    cluster: int
    ethernet: bytes


@dataclass(frozen=True)
class Owner:
    """The owner of a SID."""

    modem: Modem
    flow: UpstreamFlow
    cluster: int


@dataclass(frozen=True)
class Origin:
    """Where a frame came from. `owner`: None on ranging sessions and in request regions, in which
    any modem may send. `joined`: from fragments."""

    channel: UpstreamChannel
    owner: Owner | None
    now: int
    joined: bool = False
    contention: bool = False


@dataclass
class Reassembly:
    """Joined fragments of a frame. `sequence`: the expected number of the next one."""

    data: bytes
    count: int
    sequence: int
    begun: int


@dataclass
class Frames:
    """Delivers or drops frames, and collects the results."""

    config: Config
    accounting: Accounting
    sent: list[Sent] = field(default_factory=list)
    management: list[bytes] = field(default_factory=list)
    requests: list[BandwidthRequest] = field(default_factory=list)
    requesting: set[bytes] = field(default_factory=set)  # MAC addresses of configured modems
    reassemblies: dict[int, Reassembly] = field(default_factory=dict)  # by service flow
    # of the last valid header, by service flow and SID cluster
    last_channel: dict[tuple[int, int], UpstreamChannel] = field(default_factory=dict)
    allowances: dict[bytes, Allowance] = field(default_factory=dict)  # by MAC address

    def deliver(self, frame: bytes, header: MacHeader, origin: Origin) -> None:
        pdu = frame[header.header_size :]
        if header.kind in (REQUEST, QUEUE_REQUEST):
            self.accounting.count("request_frames")
        elif header.kind == MANAGEMENT:
            self._manage(pdu)
        elif origin.owner is not None:
            reason = self._private(header, pdu, origin, origin.owner)
            if reason is not None:
                self.accounting.drop(reason)

    # Bandwidth requests

    def count_repeated(self, channel: UpstreamChannel) -> bool:
        """Whether requests in bursts are repetitions, as the channel has request records."""
        self.accounting.count("requests_repeated", bool(channel.request_session))
        return bool(channel.request_session)

    def add_request(self, request: BandwidthRequest) -> None:
        self.accounting.count("requests")
        self.requests.append(request)
        self.requesting.add(request.modem)

    def read_requests(self, header: MacHeader, origin: Origin) -> None:
        """Adds the requests in a valid MAC header, even if the frame is dropped later."""
        if origin.owner is not None:
            self.last_channel[origin.owner.flow.id, origin.owner.cluster] = origin.channel
        if header.request is not None:
            kind = header.kind if header.kind in (REQUEST, QUEUE_REQUEST) else "element"
            self._add_sid_request(kind, *header.request, origin)
        if header.privacy is not None and header.privacy.piggyback:
            privacy = header.privacy
            self._add_sid_request("piggyback", privacy.piggyback, privacy.identifier, origin)

    def _add_sid_request(self, kind: str, size: int, sid: int, origin: Origin) -> None:
        if self.count_repeated(origin.channel):
            return
        found = self.config.by_sid.get((origin.channel.id, sid))
        requesting = origin.owner.modem.mac if origin.owner is not None else None
        if found is None or (found[0].mac != requesting and not origin.contention):
            self.accounting.count("bad_requests")
            return
        modem, flow, cluster = found
        self.add_request(
            BandwidthRequest(kind, modem.mac, flow.id, cluster.id, size, kind == QUEUE_REQUEST)
        )

    # Management

    def _manage(self, pdu: bytes) -> None:
        message, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        if crc != frame_check_sequence(message):
            self.accounting.drop("management_crc")
        elif not self.config.control_port:
            self.accounting.drop("no_control_port")
        else:
            self.accounting.count("management")
            self.management.append(ethernet_frame(message))

    # Privacy

    def current_owner(self, owner: Owner) -> Owner:
        """The owner in the present configuration: it may have changed since the frame arrived."""
        modem = self.config.by_mac.get(owner.modem.mac, owner.modem)
        flows = {flow.id: flow for flow in modem.upstream_flows}
        return Owner(modem, flows.get(owner.flow.id, owner.flow), owner.cluster)

    def _key(
        self, privacy: Privacy | None, owner: Owner, joined: bool
    ) -> tuple[bytes, bytes] | str | None:
        """Key and IV, None for a clear frame, or a drop reason. Frames joined from fragments are
        clear, as their fragments were decrypted."""
        security = NO_KEY if joined else owner.modem.security
        if privacy is None or not privacy.upstream:
            return None if security.key is None else "privacy_missing"
        if not owner.flow.has_sid(privacy.identifier):
            return "privacy_sid"
        if not privacy.enabled:
            return None if security.key is None else "privacy_missing"
        return security.generations.get((privacy.key_sequence, privacy.toggle)) or "key_unknown"

    def _private(self, header: MacHeader, pdu: bytes, origin: Origin, owner: Owner) -> str | None:
        """Decrypts and delivers a fragment or packet. Returns None or a drop reason."""
        owner = self.current_owner(owner)
        key = self._key(header.privacy, owner, origin.joined)
        if isinstance(key, str):
            return key
        self.accounting.count("clear" if key is None else "decrypted")
        if key is not None:
            self.accounting.count(f"decrypted_{bpi.counter_name(key[0])}")
        if header.kind == FRAGMENT:
            clear = pdu if key is None else bpi.decrypt(pdu, *key)
            return self._fragment(header, clear, origin, owner)
        clear = pdu if key is None else bpi.decrypt_pdu(pdu, *key)
        return self._packet(clear, owner, origin.now)

    def _packet(self, pdu: bytes, owner: Owner, now: int) -> str | None:
        ethernet, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        self.accounting.count("crc_verified", self.config.upstream.verify_crc)
        if self.config.upstream.verify_crc and crc != frame_check_sequence(ethernet):
            return "frame_crc"
        if self.config.upstream.verify_source:
            try:
                packet = read_frame(ethernet)
            except IpFault as fault:
                return str(fault)
            if packet.kind == "ipv4" and internet_checksum(packet.header) != 0:
                return "ipv4_checksum"
            self.accounting.count(packet.kind if packet.kind in ("ipv4", "ipv6") else "llc")
            if not has_own_source(packet, owner.modem.addresses):
                if not may_be_unaddressed(packet):
                    return "source_address"
                if not self.allowances.setdefault(owner.modem.mac, Allowance()).consume(now):
                    return "source_rate"
        ethernet = ethernet_frame(ethernet)
        self.accounting.count("transmitted")
        self.accounting.count("transmitted_bytes", len(ethernet))
        self.sent.append(Sent(owner.flow.id, owner.cluster, ethernet))
        return None

    # Fragments

    def abandon(self, flow: int, reason: str) -> None:
        reassembly = self.reassemblies.pop(flow, None)
        if reassembly is not None:
            self.accounting.drop(reason, reassembly.count)

    def _fragment(self, header: MacHeader, pdu: bytes, origin: Origin, owner: Owner) -> str | None:
        data, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
        if crc != frame_check_sequence(data):
            return "fragment_crc"
        assert header.privacy is not None and header.privacy.fragment is not None
        control, flow = header.privacy.fragment, owner.flow.id
        reassembly = self.reassemblies.get(flow)
        if control & FIRST:
            self.abandon(flow, "fragment_order")
            reassembly = self.reassemblies[flow] = Reassembly(b"", 0, control & 0x0F, origin.now)
        elif reassembly is None or control & 0x0F != reassembly.sequence:
            self.abandon(flow, "fragment_order")
            return "fragment_order"
        reassembly.data += data
        reassembly.sequence = (reassembly.sequence + 1) & 0x0F
        reassembly.count += 1
        if len(reassembly.data) > MAX_JOINED:
            self.abandon(flow, "fragment_too_long")
        elif control & LAST:
            del self.reassemblies[flow]
            self.accounting.count("fragments", reassembly.count)
            self._join(reassembly.data, origin, owner)
        return None

    def _join(self, data: bytes, origin: Origin, owner: Owner) -> None:
        whole, channel = self.config.max_frame, self.last_channel[owner.flow.id, owner.cluster]
        inner: Stream[Origin] = Stream(
            self.accounting, whole, 0, self.read_requests, self.deliver, JOINED
        )
        inner.burst(data, Origin(channel, owner, origin.now, joined=True), origin.now)

    def deadlines(self) -> dict[int, int]:
        timeout = self.config.upstream.frame_timeout_ns
        return {flow: reassembly.begun + timeout for flow, reassembly in self.reassemblies.items()}

    def expire(self, now: int) -> None:
        for flow, deadline in self.deadlines().items():
            if now >= deadline:
                self.abandon(flow, "frame_timeout")

    def stop(self) -> None:
        for flow in list(self.reassemblies):
            self.abandon(flow, "stopped")

    @property
    def pending(self) -> int:
        return sum(reassembly.count for reassembly in self.reassemblies.values())
