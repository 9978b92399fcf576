# SPDX-License-Identifier: BSD-3-Clause
"""The configuration of a service group, as the witness reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network

from vcmts.witness.depi import ExtraBytes
from vcmts.witness.l2tp import Address, Carrier

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Rphy:
    carrier: Carrier
    mtu: int
    max_segments: int


@dataclass(frozen=True)
class Channel:
    id: int
    session: int
    extra: ExtraBytes


@dataclass(frozen=True)
class Match:
    """Criteria of a filter rule or classifier; None matches everything."""

    family: str  # ipv4, ipv6, llc
    source: Network | None = None
    destination: Network | None = None
    protocol: int | None = None
    tos: tuple[int, int] | None = None  # value, mask
    source_ports: tuple[int, int] = (0, 65535)
    destination_ports: tuple[int, int] = (0, 65535)
    ethertype: int | None = None


@dataclass(frozen=True)
class Rule:
    match: Match
    permit: bool


@dataclass(frozen=True)
class ServiceFlow:
    id: int
    channels: tuple[int, ...]  # channel IDs of its bonding group
    active: bool = True
    priority: int = 0
    dsid: int | None = None


@dataclass(frozen=True)
class Classifier:
    match: Match
    flow: int


@dataclass(frozen=True)
class Security:
    said: int
    key: bytes | None  # None: no encryption; its length determines the cipher
    iv: bytes
    key_sequence: int
    next_key: bytes | None = None  # for key_sequence + 1
    next_iv: bytes = b""
    uses_next: bool = False  # the downstream uses next_key

    @property
    def downstream(self) -> tuple[int, bytes | None, bytes]:
        """Key sequence number, key and IV of the downstream."""
        if self.uses_next:
            return (self.key_sequence + 1) % 16, self.next_key, self.next_iv
        return self.key_sequence, self.key, self.iv

    @property
    def generations(self) -> dict[tuple[int, int], tuple[bytes, bytes]]:
        """Keys and IVs that the upstream may use, by key sequence number and toggle bit."""
        pairs = ((self.key, self.iv), (self.next_key, self.next_iv))
        numbered = ((self.key_sequence + step) % 16 for step in range(2))
        return {
            (sequence, sequence & 1): (key, iv)
            for sequence, (key, iv) in zip(numbered, pairs, strict=True)
            if key is not None
        }


@dataclass(frozen=True)
class UpstreamChannel:
    id: int
    type: str  # sc-qam, ofdma
    rate: int  # bits per second
    session: int
    request_session: int | None = None
    ranging_session: int | None = None

    @property
    def sessions(self) -> dict[str, int]:
        """Session IDs by content: bursts, requests, ranging."""
        given = {
            "bursts": self.session,
            "requests": self.request_session,
            "ranging": self.ranging_session,
        }
        return {kind: session for kind, session in given.items() if session is not None}


@dataclass(frozen=True)
class SidCluster:
    id: int
    sids: tuple[tuple[int, int], ...]  # channel ID, SID


@dataclass(frozen=True)
class UpstreamFlow:
    id: int
    segment_header: bool
    clusters: tuple[SidCluster, ...]

    def has_sid(self, sid: int) -> bool:
        return any(sid == own for cluster in self.clusters for _, own in cluster.sids)


@dataclass(frozen=True)
class Upstream:
    verify_source: bool
    verify_crc: bool
    psp_numbering: str  # flow, session
    reorder_timeout_ns: int
    frame_timeout_ns: int
    held_by_modem: int
    held: int
    channels: tuple[UpstreamChannel, ...]

    @cached_property
    def by_session(self) -> dict[int, tuple[UpstreamChannel, str]]:
        """Channel and content (bursts, requests, ranging) by session ID."""
        return {
            session: (channel, kind)
            for channel in self.channels
            for kind, session in channel.sessions.items()
        }


@dataclass(frozen=True)
class Modem:
    mac: bytes
    addresses: tuple[Address, ...]
    cpe_limit: int
    cpe_limit_ipv6: int
    filter_groups: tuple[int, ...]
    security: Security
    flows: tuple[ServiceFlow, ...]
    classifiers: tuple[Classifier, ...]
    upstream_flows: tuple[UpstreamFlow, ...]

    @property
    def channels(self) -> tuple[int, ...]:
        """IDs of the channels that its active flows may use."""
        used = {channel for flow in self.flows if flow.active for channel in flow.channels}
        return tuple(sorted(used))

    def wire_group(self, flow: ServiceFlow) -> tuple[int, ...]:
        """IDs of the flows that look equal to this one on the wire.

        Without a DSID, frames show only modem, traffic priority and channel.
        """
        if flow.dsid is not None:
            return (flow.id,)
        return tuple(
            other.id
            for other in self.flows
            if other.active
            and other.dsid is None
            and (other.priority, other.channels) == (flow.priority, flow.channels)
        )


@dataclass(frozen=True)
class Config:
    max_frame: int  # with the CRC
    cpe_timeout_ns: int
    filter_default_permit: bool
    rphy: Rphy
    channels: tuple[Channel, ...]
    filter_groups: Mapping[int, tuple[Rule, ...]]
    modems: tuple[Modem, ...]
    upstream: Upstream
    control_port: bool  # a control port is configured
    message_flow: int = 0  # PSP flow of MAPs; 0: no MAPs
    generate_crc: bool = True  # downstream; False: the CRC is four zero bytes

    @cached_property
    def by_session(self) -> dict[int, Channel]:
        return {channel.session: channel for channel in self.channels}

    def upstream_carrier(self, *, udp: bool = False) -> Carrier:
        """The outer headers from the R-PHY device to the core."""
        down = self.rphy.carrier
        return replace(
            down,
            source=down.destination,
            destination=down.source,
            source_mac=down.destination_mac,
            destination_mac=down.source_mac,
            udp=udp,
        )

    @cached_property
    def by_said(self) -> dict[int, dict[bytes, Modem]]:
        """The modems of a security association, by SAID and MAC address."""
        sharing: dict[int, dict[bytes, Modem]] = {}
        for modem in self.modems:
            sharing.setdefault(modem.security.said, {})[modem.mac] = modem
        return sharing

    @cached_property
    def by_sid(self) -> dict[tuple[int, int], tuple[Modem, UpstreamFlow, SidCluster]]:
        """The owner of a SID, by channel ID and SID."""
        return {
            key: (modem, flow, cluster)
            for modem in self.modems
            for flow in modem.upstream_flows
            for cluster in flow.clusters
            for key in cluster.sids
        }

    @cached_property
    def by_mac(self) -> dict[bytes, Modem]:
        return {modem.mac: modem for modem in self.modems}

    @cached_property
    def by_address(self) -> dict[Address, Modem]:
        return {address: modem for modem in self.modems for address in modem.addresses}

    @cached_property
    def by_dsid(self) -> dict[int, tuple[Modem, ServiceFlow]]:
        return {
            flow.dsid: (modem, flow)
            for modem in self.modems
            for flow in modem.flows
            if flow.dsid is not None
        }
