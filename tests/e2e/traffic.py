# SPDX-License-Identifier: BSD-3-Clause
"""Seeded random traffic for a service group, drawn to the edges of its rules."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from e2e.frames import (
    ARP,
    BROADCAST,
    DESTINATION_OPTIONS,
    ETHERNET_HEADER,
    ETHERTYPES,
    EXTENSIONS,
    GRE,
    HEADERS,
    ICMP,
    ICMPV6,
    MORE_FRAGMENTS,
    NO_NEXT,
    TCP,
    UDP,
    arp_frame,
    ethernet,
    ip_frame,
    ipv4_packet,
    ipv6_packet,
    udp,
    upper,
)
from vcmts.witness.model import Config, Match, Modem
from vcmts.witness.pcapfile import Record

CRC_LENGTH = 4
START_NS = 1_700_000_000_123_456_789
STRANGER4, STRANGER6 = IPv4Address("172.16.0.1"), IPv6Address("2001:db8:dead::1")
PLAIN4, PLAIN6 = IPv4Address("192.0.2.1"), IPv6Address("2001:db8:ff::1")


@dataclass
class Generator:
    """Draws frames for the modems of `config`; the same seed gives the same frames."""

    config: Config
    random: random.Random

    def __post_init__(self) -> None:
        self.longest = self.config.max_frame - CRC_LENGTH

    def _matches(self, modem: Modem, family: str) -> list[Match]:
        """What the packets of this modem are compared with."""
        rules = [r for group in modem.filter_groups for r in self.config.filter_groups[group]]
        matches = [rule.match for rule in rules] + [c.match for c in modem.classifiers]
        return [match for match in matches if match.family == family]

    def _edges(self, low: int, high: int, top: int) -> int:
        """On, inside and beside the bounds of a range."""
        inside = self.random.randint(low, high)
        return min(top, max(0, self.random.choice([low - 1, low, inside, high, high + 1])))

    def _size(self, least: int) -> int:
        """Often the smallest and the largest; IMIX sizes; anything."""
        draws = [least, 60, 84, 256, 1280, self.longest - 1, self.longest]
        if self.random.random() < 0.5:
            draws = [self.random.randint(least, self.longest)]
        return max(least, min(self.longest, self.random.choice(draws)))

    def _source(self, match: Match, version: int) -> IPv4Address | IPv6Address:
        if match.source is None:
            return PLAIN4 if version == 4 else PLAIN6
        network = match.source
        offset = self._edges(0, network.num_addresses - 1, network.num_addresses - 1)
        return network[offset]

    def ip(self, modem: Modem, destination: IPv4Address | IPv6Address) -> bytes:
        """A well-formed packet whose fields are near those of a rule."""
        version = destination.version
        match = Match(f"ipv{version}")
        aims = self._matches(modem, match.family)
        if aims and self.random.random() < 0.8:
            match = self.random.choice(aims)
        protocol = match.protocol
        if protocol is None or self.random.random() < 0.1:
            protocol = self.random.choice([UDP, TCP, ICMP if version == 4 else ICMPV6, GRE, 254])
        ports = (
            self._edges(*match.source_ports, 65535),
            self._edges(*match.destination_ports, 65535),
        )
        tos = self.random.randrange(256)
        if match.tos is not None and self.random.random() < 0.8:
            value, mask = match.tos
            tos = value | tos & ~mask & 0xFF
        source = self._source(match, version)
        empty = HEADERS[version] + len(upper(protocol, ports, b""))
        data = self.random.randbytes(self._size(empty) - empty)
        return ip_frame(source, destination, protocol, upper(protocol, ports, data), tos)

    def cut_short(self, destination: IPv4Address | IPv6Address) -> bytes:
        """TCP or UDP with fewer bytes than two ports need, behind Ethernet padding that could be
        taken for them."""
        payload = self.random.randbytes(self.random.randrange(4))
        source = PLAIN4 if destination.version == 4 else PLAIN6
        frame = ip_frame(source, destination, self.random.choice([TCP, UDP]), payload)
        return frame + b"\x13\x8c" * ((60 - len(frame)) // 2 + 1)

    def options_or_fragment4(self, destination: IPv4Address) -> bytes:
        options = bytes([1]) * 4 * self.random.randrange(11)
        fragment = self.random.choice([0, MORE_FRAGMENTS, MORE_FRAGMENTS | 5, 3, 0x1FFF])
        payload = udp(53, self.random.choice([5004, 5009, 9]), self.random.randbytes(200))
        packet = ipv4_packet(PLAIN4, destination, UDP, payload, options=options, fragment=fragment)
        return ethernet(ETHERTYPES[4], packet)

    def extensions6(self, destination: IPv6Address) -> bytes:
        kinds = self.random.choices(EXTENSIONS, k=self.random.choice([*range(6), 15, 16, 17]))
        extensions = tuple(
            (kind, self.random.randrange(4), self.random.choice([0, 1, 8, 0xFFF9]))
            for kind in kinds
        )
        protocol = self.random.choice([UDP, TCP, ICMPV6, NO_NEXT])
        ports = (self.random.choice([443, 1000, 9]), self.random.choice([80, 81]))
        payload = upper(protocol, ports, self.random.randbytes(64))
        if self.random.random() < 0.1:  # RFC 7112 asks for more of a first fragment
            payload = payload[: self.random.randrange(5)]
        packet = ipv6_packet(
            PLAIN6, destination, protocol, payload, traffic_class=0x20, extensions=extensions
        )
        return ethernet(ETHERTYPES[6], packet)

    def llc(self, modem: Modem) -> bytes:
        """To the modem's own MAC address: any type that is not IP, or a length (802.3)."""
        wanted = [m.ethertype for m in self._matches(modem, "llc") if m.ethertype != ARP]
        ethertype = self.random.choice([*wanted, 0x88CC, 0x8864, 0x0800 - 1, 0x05DC, 0x0026])
        size = self._size(ETHERNET_HEADER)
        return ethernet(ethertype or 0, self.random.randbytes(size - ETHERNET_HEADER), modem.mac)

    def arp(self, modem: Modem) -> bytes:
        targets = [a for a in modem.addresses if isinstance(a, IPv4Address)]
        return arp_frame(
            self.random.choice([*targets, STRANGER4]),
            self.random.randrange(1, 3),
            self.random.choice([0, 18]),
        )

    def frame(self) -> bytes:
        modem = self.random.choice(self.config.modems)
        address = self.random.choice(modem.addresses)
        others: list[Callable[[], bytes]] = [
            lambda: self.llc(modem),
            lambda: self.arp(modem),
            lambda: self.cut_short(address),
        ]
        if isinstance(address, IPv4Address):
            others.append(lambda: self.options_or_fragment4(address))
        else:
            others.append(lambda: self.extensions6(address))
        frame = self.random.choice(others)()
        if self.random.random() < 0.7:
            frame = self.ip(modem, address)
        return self._tagged(frame) if self.random.random() < 0.02 else frame

    def _tagged(self, frame: bytes) -> bytes:
        """With a priority and no VLAN."""
        control = self.random.randrange(16) << 12
        return frame[:12] + bytes.fromhex("8100") + control.to_bytes(2, "big") + frame[12:]

    def _broken(self, frame: bytes) -> bytes:
        """One that was good, with a few bytes changed or its end cut off."""
        changed = bytearray(frame)
        for _ in range(self.random.randrange(3)):
            changed[self.random.randrange(min(len(changed), 64))] = self.random.randrange(256)
        end = self.random.choice([len(changed), self.random.randrange(len(changed) + 1)])
        return bytes(changed[:end])

    def frames(self, count: int, broken: float = 0.0) -> Iterator[bytes]:
        for _ in range(count):
            frame = self.frame()
            yield self._broken(frame) if self.random.random() < broken else frame


def generate(config: Config, seed: int, count: int, broken: float = 0.0) -> list[bytes]:
    return list(Generator(config, random.Random(seed)).frames(count, broken))


def spread(frames: list[bytes], seed: int, mean_gap_ns: int = 20_000) -> list[Record]:
    """The frames with times: bursts of the same instant, gaps, and now and then a long pause."""
    draw = random.Random(seed)
    records = []
    now = START_NS
    for frame in frames:
        records.append(Record(now, frame, len(frame)))
        now += draw.choice([0, 0, 1, mean_gap_ns, 3 * mean_gap_ns])
        now += 2_000_000 if draw.random() < 0.005 else 0
    return records


def broken_frames(config: Config) -> list[tuple[str, bytes]]:
    """Every kind of bad input with the reason that it has to be counted by."""
    modem = config.modems[0]
    ipv4 = next(a for a in modem.addresses if isinstance(a, IPv4Address))
    ipv6 = next(a for a in modem.addresses if isinstance(a, IPv6Address))
    return [*_ethernet_faults(config, ipv4), *_ipv4_faults(ipv4), *_ipv6_faults(ipv6)] + [
        ("multicast", ip_frame(PLAIN4, IPv4Address(text), UDP, udp(1, 2, b"x")))
        for text in ("224.0.0.1", "239.255.255.255", "255.255.255.255")
    ]


def _ethernet_faults(config: Config, ipv4: IPv4Address) -> list[tuple[str, bytes]]:
    good = ip_frame(PLAIN4, ipv4, UDP, udp(1, 2, bytes(30)))
    arp = arp_frame(ipv4)
    longest = config.max_frame - CRC_LENGTH
    too_long = [longest + 1, longest + 4, 2044, 2045, 2048, 2049, 4096, 9001, 65535, 70000, 200000]
    return [
        *(("runt", good[:size]) for size in (0, 1, 6, 12, 13)),
        *(("frame_too_long", good.ljust(size, b"\0")) for size in too_long),
        ("vlan", good[:12] + bytes.fromhex("81000007") + good[12:]),
        ("vlan", good[:12] + bytes.fromhex("88a80007 81000001") + good[12:]),
        ("vlan", good[:12] + bytes.fromhex("8100")),
        ("vlan", good[:12] + bytes.fromhex("81000000 81000000") + good[12:]),
        ("vlan", good[:12] + bytes.fromhex("88a80000") + good[12:]),
        (
            "frame_too_long",
            good[:12] + bytes.fromhex("81000000") + good[12:].ljust(longest - 11, b"\0"),
        ),
        ("multicast", ethernet(0x88CC, bytes(46), bytes.fromhex("0180c200000e"))),
        ("multicast", ethernet(0x9000, bytes(46), BROADCAST)),
        ("multicast", ip_frame(PLAIN6, IPv6Address("ff02::1"), UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ethernet(0x9000, bytes(46))),
        ("unknown_destination", ip_frame(PLAIN4, STRANGER4, UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ip_frame(PLAIN6, STRANGER6, UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ip_frame(PLAIN4, IPv4Address(0), UDP, udp(1, 2, b"x"))),
        ("unknown_destination", arp_frame(STRANGER4)),
        *(("arp_malformed", arp[:size]) for size in (14, 15, 22, 41)),
        *(("arp_malformed", arp[:at] + b"\x07" + arp[at + 1 :]) for at in range(14, 20)),
    ]


def _ipv4_faults(ipv4: IPv4Address) -> list[tuple[str, bytes]]:
    def packet(length: int | None = None, first: int | None = None, options: bytes = b"") -> bytes:
        payload = udp(1, 2, bytes(30))
        made = ipv4_packet(
            PLAIN4, ipv4, UDP, payload, total_length=length, version_ihl=first, options=options
        )
        return ethernet(ETHERTYPES[4], made)

    good = packet()
    return [
        *(("ipv4_header", good[:size]) for size in range(14, 34)),
        *(("ipv4_length", good[:size]) for size in range(34, len(good))),
        *(("ipv4_header", packet(first=first)) for first in (0x05, 0x44, 0x40, 0x65, 0xF5)),
        ("ipv4_header", packet(options=bytes(40))[:73]),
        *(("ipv4_length", packet(length)) for length in (0, 19, 59, 1500, 65535)),
        ("ipv4_length", packet(23, options=bytes(4))),
        *(
            ("ipv4_checksum", good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
            for at in (15, 18, 22, 24, 25, 26, 33)
        ),
    ]


def _ipv6_faults(ipv6: IPv6Address) -> list[tuple[str, bytes]]:
    def packet(length: int | None = None, version: int = 6) -> bytes:
        payload = udp(1, 2, bytes(30))
        made = ipv6_packet(PLAIN6, ipv6, UDP, payload, payload_length=length, version=version)
        return ethernet(ETHERTYPES[6], made)

    def extended(*kinds: int) -> bytes:
        extensions = tuple((kind, 0, 0) for kind in kinds)
        return ethernet(
            ETHERTYPES[6], ipv6_packet(PLAIN6, ipv6, UDP, udp(1, 2, b""), extensions=extensions)
        )

    good = packet()
    return [
        ("ipv6_extensions", extended(*[DESTINATION_OPTIONS] * 17)),
        ("ipv6_extensions", extended(*EXTENSIONS, *EXTENSIONS)),
        *(("ipv6_header", good[:size]) for size in range(14, 54)),
        *(("ipv6_length", good[:size]) for size in range(54, len(good))),
        *(("ipv6_header", packet(version=version)) for version in (0, 4, 5, 7, 15)),
        *(("ipv6_length", packet(length)) for length in (39, 1500, 65535)),
    ]
