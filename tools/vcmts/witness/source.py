# SPDX-License-Identifier: BSD-3-Clause
"""The rules of source verification for subscribers' frames (docs/upstream.md, "Frames")."""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from vcmts.witness.ip import ICMPV6, IGMP, UDP, Packet
from vcmts.witness.l2tp import Address

LINK_LOCAL = IPv6Network("fe80::/10")
UNSPECIFIED_4, UNSPECIFIED_6 = IPv4Address(0), IPv6Address(0)
DHCP_SERVER, DHCP_V6_SERVER = 67, 547
# ICMPv6 types that hosts send without an address: MLD, router and neighbour solicitations
UNADDRESSED = (131, 132, 143, 133, 135)
BURST, INTERVAL_NS = 200, 10_000_000


def has_own_source(packet: Packet, addresses: Collection[Address]) -> bool:
    """Whether the source is one of the modem's `addresses`. Packets without IP source pass."""
    return packet.source is None or packet.source in addresses


def may_be_unaddressed(packet: Packet) -> bool:
    """Whether hosts may send the packet without an own address, or link-local."""
    source = packet.source
    if packet.kind == "arp":
        return source == UNSPECIFIED_4  # an ARP probe
    to_port = packet.ports[1] if packet.protocol == UDP else None
    if packet.kind == "ipv4":
        return source == UNSPECIFIED_4 and (packet.protocol == IGMP or to_port == DHCP_SERVER)
    if packet.protocol == ICMPV6 and source == UNSPECIFIED_6:
        return not packet.fragment and packet.payload[:1] in [bytes([t]) for t in UNADDRESSED]
    return source in LINK_LOCAL and (packet.protocol == ICMPV6 or to_port == DHCP_V6_SERVER)


def may_send(packet: Packet, addresses: Collection[Address]) -> bool:
    return has_own_source(packet, addresses) or may_be_unaddressed(packet)


@dataclass
class Allowance:
    """The token bucket of a modem's packets without own address: BURST, and one per INTERVAL_NS."""

    tokens: float = BURST
    at_ns: int = 0

    def consume(self, now_ns: int) -> bool:
        self.tokens = min(BURST, self.tokens + (now_ns - self.at_ns) / INTERVAL_NS)
        self.at_ns = now_ns
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
