# SPDX-License-Identifier: BSD-3-Clause
"""Generates random downstream frames near the limits of rules, and invalid ones, from a seed."""

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
    upper_layer,
)
from vcmts.witness.model import Config, Match, Modem
from vcmts.witness.pcapfile import Record

CRC_LENGTH = 4
START_NS = 1_700_000_000_123_456_789
UNKNOWN4, UNKNOWN6 = IPv4Address("172.16.0.1"), IPv6Address("2001:db8:dead::1")
SOURCE4, SOURCE6 = IPv4Address("192.0.2.1"), IPv6Address("2001:db8:ff::1")


@dataclass
class Generator:
    """Draws frames for the modems of `config`."""

    config: Config
    random: random.Random

    def __post_init__(self) -> None:
        self.longest = self.config.max_frame - CRC_LENGTH

    def _matches(self, modem: Modem, family: str) -> list[Match]:
        """Criteria of all rules and classifiers that apply to packets of this modem."""
        rules = [r for group in modem.filter_groups for r in self.config.filter_groups[group]]
        matches = [rule.match for rule in rules] + [c.match for c in modem.classifiers]
        return [match for match in matches if match.family == family]

    def _near_range(self, low: int, high: int, top: int) -> int:
        """A value at, inside or next to the bounds of a range, from 0 to `top`."""
        inside = self.random.randint(low, high)
        return min(top, max(0, self.random.choice([low - 1, low, inside, high, high + 1])))

    def _frame_size(self, smallest: int) -> int:
        """A frame size: the smallest, the largest, one of IMIX, or any."""
        sizes = [smallest, 60, 84, 256, 1280, self.longest - 1, self.longest]
        if self.random.random() < 0.5:
            sizes = [self.random.randint(smallest, self.longest)]
        return max(smallest, min(self.longest, self.random.choice(sizes)))

    def _source(self, match: Match, version: int) -> IPv4Address | IPv6Address:
        if match.source is None:
            return SOURCE4 if version == 4 else SOURCE6
        network = match.source
        offset = self._near_range(0, network.num_addresses - 1, network.num_addresses - 1)
        return network[offset]

    def ip(self, modem: Modem, destination: IPv4Address | IPv6Address) -> bytes:
        """A valid packet whose fields are near the criteria of a rule."""
        version = destination.version
        match = Match(f"ipv{version}")
        matches = self._matches(modem, match.family)
        if matches and self.random.random() < 0.8:
            match = self.random.choice(matches)
        protocol = match.protocol
        if protocol is None or self.random.random() < 0.1:
            protocol = self.random.choice([UDP, TCP, ICMP if version == 4 else ICMPV6, GRE, 254])
        ports = (
            self._near_range(*match.source_ports, 65535),
            self._near_range(*match.destination_ports, 65535),
        )
        tos = self.random.randrange(256)
        if match.tos is not None and self.random.random() < 0.8:
            value, mask = match.tos
            tos = value | tos & ~mask & 0xFF
        source = self._source(match, version)
        empty = HEADERS[version] + len(upper_layer(protocol, ports, b""))
        data = self.random.randbytes(self._frame_size(empty) - empty)
        return ip_frame(source, destination, protocol, upper_layer(protocol, ports, data), tos)

    def without_ports(self, destination: IPv4Address | IPv6Address) -> bytes:
        """TCP or UDP that is too short for its ports. The Ethernet padding after it looks like
        ports."""
        payload = self.random.randbytes(self.random.randrange(4))
        source = SOURCE4 if destination.version == 4 else SOURCE6
        frame = ip_frame(source, destination, self.random.choice([TCP, UDP]), payload)
        return frame + b"\x13\x8c" * ((60 - len(frame)) // 2 + 1)

    def ipv4_options_or_fragment(self, destination: IPv4Address) -> bytes:
        options = bytes([1]) * 4 * self.random.randrange(11)
        fragment = self.random.choice([0, MORE_FRAGMENTS, MORE_FRAGMENTS | 5, 3, 0x1FFF])
        payload = udp(53, self.random.choice([5004, 5009, 9]), self.random.randbytes(200))
        packet = ipv4_packet(SOURCE4, destination, UDP, payload, options=options, fragment=fragment)
        return ethernet(ETHERTYPES[4], packet)

    def ipv6_extensions(self, destination: IPv6Address) -> bytes:
        kinds = self.random.choices(EXTENSIONS, k=self.random.choice([*range(6), 15, 16, 17]))
        extensions = tuple(
            (kind, self.random.randrange(4), self.random.choice([0, 1, 8, 0xFFF9]))
            for kind in kinds
        )
        protocol = self.random.choice([UDP, TCP, ICMPV6, NO_NEXT])
        ports = (self.random.choice([443, 1000, 9]), self.random.choice([80, 81]))
        payload = upper_layer(protocol, ports, self.random.randbytes(64))
        if self.random.random() < 0.1:  # too short for a first fragment (RFC 7112)
            payload = payload[: self.random.randrange(5)]
        packet = ipv6_packet(
            SOURCE6, destination, protocol, payload, traffic_class=0x20, extensions=extensions
        )
        return ethernet(ETHERTYPES[6], packet)

    def llc(self, modem: Modem) -> bytes:
        """A frame to the modem's MAC address. Its Ethertype is not IP, or is a length (802.3)."""
        ethertypes = [m.ethertype for m in self._matches(modem, "llc") if m.ethertype != ARP]
        ethertype = self.random.choice([*ethertypes, 0x88CC, 0x8864, 0x0800 - 1, 0x05DC, 0x0026])
        size = self._frame_size(ETHERNET_HEADER)
        return ethernet(ethertype or 0, self.random.randbytes(size - ETHERNET_HEADER), modem.mac)

    def arp(self, modem: Modem) -> bytes:
        targets = [a for a in modem.addresses if isinstance(a, IPv4Address)]
        return arp_frame(
            self.random.choice([*targets, UNKNOWN4]),
            self.random.randrange(1, 3),
            self.random.choice([0, 18]),
        )

    def frame(self) -> bytes:
        modem = self.random.choice(self.config.modems)
        address = self.random.choice(modem.addresses)
        special_frames: list[Callable[[], bytes]] = [
            lambda: self.llc(modem),
            lambda: self.arp(modem),
            lambda: self.without_ports(address),
        ]
        if isinstance(address, IPv4Address):
            special_frames.append(lambda: self.ipv4_options_or_fragment(address))
        else:
            special_frames.append(lambda: self.ipv6_extensions(address))
        frame = self.random.choice(special_frames)()
        if self.random.random() < 0.7:
            frame = self.ip(modem, address)
        return self._add_priority_tag(frame) if self.random.random() < 0.02 else frame

    def _add_priority_tag(self, frame: bytes) -> bytes:
        """Adds a priority tag: 802.1Q with VLAN ID 0."""
        control = self.random.randrange(16) << 12
        return frame[:12] + bytes.fromhex("8100") + control.to_bytes(2, "big") + frame[12:]

    def _corrupt(self, frame: bytes) -> bytes:
        """Changes some bytes of the frame or truncates it."""
        changed = bytearray(frame)
        for _ in range(self.random.randrange(3)):
            changed[self.random.randrange(min(len(changed), 64))] = self.random.randrange(256)
        end = self.random.choice([len(changed), self.random.randrange(len(changed) + 1)])
        return bytes(changed[:end])

    def frames(self, count: int, broken: float = 0.0) -> Iterator[bytes]:
        for _ in range(count):
            frame = self.frame()
            yield self._corrupt(frame) if self.random.random() < broken else frame


def generate(config: Config, seed: int, count: int, broken: float = 0.0) -> list[bytes]:
    """`broken`: share of the frames that are truncated or have changed bytes."""
    return list(Generator(config, random.Random(seed)).frames(count, broken))


def with_times(frames: list[bytes], seed: int, mean_gap_ns: int = 20_000) -> list[Record]:
    """Records of the frames: bursts of one instant, random gaps, and some pauses of 2 ms."""
    draw = random.Random(seed)
    records = []
    now = START_NS
    for frame in frames:
        records.append(Record(now, frame, len(frame)))
        now += draw.choice([0, 0, 1, mean_gap_ns, 3 * mean_gap_ns])
        now += 2_000_000 if draw.random() < 0.005 else 0
    return records


def invalid_frames(config: Config) -> list[tuple[str, bytes]]:
    """Invalid frames of every kind, each with the drop reason that must count it."""
    modem = config.modems[0]
    ipv4 = next(a for a in modem.addresses if isinstance(a, IPv4Address))
    ipv6 = next(a for a in modem.addresses if isinstance(a, IPv6Address))
    return [*_invalid_ethernet(config, ipv4), *_invalid_ipv4(ipv4), *_invalid_ipv6(ipv6)] + [
        ("multicast", ip_frame(SOURCE4, IPv4Address(text), UDP, udp(1, 2, b"x")))
        for text in ("224.0.0.1", "239.255.255.255", "255.255.255.255")
    ]


def _invalid_ethernet(config: Config, ipv4: IPv4Address) -> list[tuple[str, bytes]]:
    good = ip_frame(SOURCE4, ipv4, UDP, udp(1, 2, bytes(30)))
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
        ("multicast", ip_frame(SOURCE6, IPv6Address("ff02::1"), UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ethernet(0x9000, bytes(46))),
        ("unknown_destination", ip_frame(SOURCE4, UNKNOWN4, UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ip_frame(SOURCE6, UNKNOWN6, UDP, udp(1, 2, b"x"))),
        ("unknown_destination", ip_frame(SOURCE4, IPv4Address(0), UDP, udp(1, 2, b"x"))),
        ("unknown_destination", arp_frame(UNKNOWN4)),
        *(("arp_malformed", arp[:size]) for size in (14, 15, 22, 41)),
        *(("arp_malformed", arp[:at] + b"\x07" + arp[at + 1 :]) for at in range(14, 20)),
    ]


def _invalid_ipv4(ipv4: IPv4Address) -> list[tuple[str, bytes]]:
    def packet(length: int | None = None, first: int | None = None, options: bytes = b"") -> bytes:
        payload = udp(1, 2, bytes(30))
        ip = ipv4_packet(
            SOURCE4, ipv4, UDP, payload, total_length=length, version_ihl=first, options=options
        )
        return ethernet(ETHERTYPES[4], ip)

    good = packet()
    return [
        *(("ipv4_header", good[:size]) for size in range(14, 34)),
        *(("ipv4_length", good[:size]) for size in range(34, len(good))),
        *(("ipv4_header", packet(first=first)) for first in (0x05, 0x44, 0x40, 0x65, 0xF5)),
        ("ipv4_header", packet(options=bytes(40))[:73]),
        *(("ipv4_length", packet(length)) for length in (0, 19, 59, 1500, 65535)),
        ("ipv4_length", packet(23, options=bytes(4))),
        *(
            ("ipv4_checksum", good[:offset] + bytes([good[offset] ^ 1]) + good[offset + 1 :])
            for offset in (15, 18, 22, 24, 25, 26, 33)
        ),
    ]


def _invalid_ipv6(ipv6: IPv6Address) -> list[tuple[str, bytes]]:
    def packet(length: int | None = None, version: int = 6) -> bytes:
        payload = udp(1, 2, bytes(30))
        ip = ipv6_packet(SOURCE6, ipv6, UDP, payload, payload_length=length, version=version)
        return ethernet(ETHERTYPES[6], ip)

    def with_extensions(*kinds: int) -> bytes:
        extensions = tuple((kind, 0, 0) for kind in kinds)
        return ethernet(
            ETHERTYPES[6], ipv6_packet(SOURCE6, ipv6, UDP, udp(1, 2, b""), extensions=extensions)
        )

    good = packet()
    return [
        ("ipv6_extensions", with_extensions(*[DESTINATION_OPTIONS] * 17)),
        ("ipv6_extensions", with_extensions(*EXTENSIONS, *EXTENSIONS)),
        *(("ipv6_header", good[:size]) for size in range(14, 54)),
        *(("ipv6_length", good[:size]) for size in range(54, len(good))),
        *(("ipv6_header", packet(version=version)) for version in (0, 4, 5, 7, 15)),
        *(("ipv6_length", packet(length)) for length in (39, 1500, 65535)),
    ]
