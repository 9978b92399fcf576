# SPDX-License-Identifier: BSD-3-Clause
"""Whether a subscriber's frame may have its source address (docs/upstream.md, "Frames")."""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from witness.ip import ICMPV6, UDP, Packet
from witness.l2tp import Address

LINK_LOCAL = IPv6Network("fe80::/10")
NOBODY_4, NOBODY_6 = IPv4Address(0), IPv6Address(0)
DHCP = (68, 67)
DHCP_V6 = (546, 547)


def may_send(packet: Packet, addresses: Collection[Address]) -> bool:
    """`addresses` are those of the modem's subscribers."""
    source = packet.source
    if source is None or source in addresses:
        return True
    if packet.kind == "arp":
        return source == NOBODY_4  # a probe
    udp_ports = packet.ports if packet.protocol == UDP else None
    if packet.kind == "ipv4":
        return source == NOBODY_4 and udp_ports == DHCP
    if packet.protocol == ICMPV6 and source == NOBODY_6:
        return True
    return source in LINK_LOCAL and (packet.protocol == ICMPV6 or udp_ports == DHCP_V6)
