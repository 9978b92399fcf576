# SPDX-License-Identifier: BSD-3-Clause
"""Whether a subscriber's frame may have its source address (docs/upstream.md, "Frames")."""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from vcmts.witness.ip import ICMPV6, IGMP, UDP, Packet
from vcmts.witness.l2tp import Address

LINK_LOCAL = IPv6Network("fe80::/10")
NOBODY_4, NOBODY_6 = IPv4Address(0), IPv6Address(0)
DHCP_SERVER, DHCP_V6_SERVER = 67, 547
# MLD reports and done, router and neighbour solicitations: sent before there is an address
UNADDRESSED = (131, 132, 143, 133, 135)
BURST, INTERVAL_NS = 200, 10_000_000


def is_own(packet: Packet, addresses: Collection[Address]) -> bool:
    """`addresses` are those of the modem's subscribers. What has no address is anybody's."""
    return packet.source is None or packet.source in addresses


def needs_none(packet: Packet) -> bool:
    """What hosts send without an address of their own, or among neighbours."""
    source = packet.source
    if packet.kind == "arp":
        return source == NOBODY_4  # a probe
    to_port = packet.ports[1] if packet.protocol == UDP else None
    if packet.kind == "ipv4":
        return source == NOBODY_4 and (packet.protocol == IGMP or to_port == DHCP_SERVER)
    if packet.protocol == ICMPV6 and source == NOBODY_6:
        return not packet.fragment and packet.payload[:1] in [bytes([t]) for t in UNADDRESSED]
    return source in LINK_LOCAL and (packet.protocol == ICMPV6 or to_port == DHCP_V6_SERVER)


def may_send(packet: Packet, addresses: Collection[Address]) -> bool:
    return is_own(packet, addresses) or needs_none(packet)


@dataclass
class Allowance:
    """So many such packets of a modem at once, and one an interval."""

    tokens: float = BURST
    at_ns: int = 0

    def take(self, now_ns: int) -> bool:
        self.tokens = min(BURST, self.tokens + (now_ns - self.at_ns) / INTERVAL_NS)
        self.at_ns = now_ns
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
