# SPDX-License-Identifier: BSD-3-Clause
"""Headers before TCP and UDP, fragments, tags without a VLAN, and frames that are too short."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from e2e.expected import Expectation
from e2e.frames import (
    ETHERTYPES,
    EXTENSIONS,
    FRAGMENT,
    ICMP,
    MORE_FRAGMENTS,
    TCP,
    UDP,
    arp_frame,
    ethernet,
    ip_frame,
    ipv4_packet,
    ipv6_packet,
    tcp,
    udp,
)
from e2e.running import SMALL, replay
from e2e.traffic import PLAIN4, PLAIN6, spread

pytestmark = pytest.mark.replay

MAIL = "destination_ports: 25"
CPE4, CPE6 = IPv4Address("10.0.0.9"), IPv6Address("2001:db8:0:3::1")


def replayed(folder: Path, rules: list[str], frames: list[bytes]) -> Expectation:
    """Modem 3 with these rules; what the model says of it, which is what was seen."""
    text = SMALL.read_text().replace(
        'addresses: [10.0.0.9, "2001:db8:0:3::1"]',
        'addresses: [10.0.0.9, "2001:db8:0:3::1"]\n    filter_groups: [4]',
    )
    lines = "".join(f"      - {{{rule}}}\n" for rule in rules)
    text = text.replace("\nmodems:\n", f"\n  - id: 4\n    rules:\n{lines}modems:\n", 1)
    return replay(folder, text, spread(frames, 7)).check()


def chained(payload: bytes, *extensions: tuple[int, int, int], protocol: int = TCP) -> bytes:
    return ethernet(
        ETHERTYPES[6], ipv6_packet(PLAIN6, CPE6, protocol, payload, extensions=extensions)
    )


def test_tcp_behind_any_header_is_denied(tmp_path: Path) -> None:
    frames = [chained(tcp(1, 25, b"mail"), (kind, 2, 0)) for kind in EXTENSIONS]
    frames += [chained(tcp(1, 25, b""), *((kind, 0, 0) for kind in EXTENSIONS))]
    frames += [chained(tcp(1, 80, b"web"), (kind, 2, 0)) for kind in EXTENSIONS]
    expected = replayed(tmp_path, [f"family: ipv6, action: deny, protocol: tcp, {MAIL}"], frames)
    assert expected.drops == {"filter_deny": len(EXTENSIONS) + 1}


@pytest.mark.parametrize("kind", EXTENSIONS)
def test_rules_name_any_header_of_the_chain(kind: int, tmp_path: Path) -> None:
    """MULPI: the type of any header; the first rule of the list that fits one decides."""
    other = next(each for each in EXTENSIONS if each not in (kind, FRAGMENT))
    rules = [
        f"family: ipv6, action: permit, protocol: {kind}, source: '2001:db8:ff::/48', tos: 0x20",
        f"family: ipv6, action: deny, protocol: {kind}",
        "family: ipv6, action: permit, protocol: udp",
        f"family: ipv6, action: deny, protocol: {other}",
    ]
    frames = [
        chained(udp(1, 2, b"x"), protocol=UDP),
        chained(udp(1, 2, b"x"), (kind, 0, 0), protocol=UDP),
        chained(udp(1, 2, b"x"), (other, 0, 0), protocol=UDP),
        chained(udp(1, 2, b"x"), (kind, 1, 0), (other, 3, 0), protocol=UDP),
        chained(udp(1, 2, b"x"), (other, 1, 0), (kind, 0, 0), (other, 1, 0), protocol=UDP),
        chained(tcp(1, 2, b"x"), (other, 1, 0)),
        chained(tcp(1, 2, b"x")),
        chained(tcp(1, 2, b"x"), (FRAGMENT, 0, 8)),
    ]
    expected = replayed(tmp_path, rules, frames)
    assert expected.drops == {"filter_deny": 4 + (kind == FRAGMENT)}


def test_fragments_without_ports_meet_no_criterion_of_them(tmp_path: Path) -> None:
    """Nor does what has no ports at all."""
    rules = [
        f"family: {family}, action: deny, {direction}_ports: 0-1023"
        for family in ("ipv4", "ipv6")
        for direction in ("source", "destination")
    ]

    def fragments4(protocol: int, bits: int) -> bytes:
        return ethernet(
            ETHERTYPES[4],
            ipv4_packet(PLAIN4, CPE4, protocol, udp(7, 9, bytes(24)), fragment=bits),
        )

    passing = [
        fragments4(UDP, 3),
        fragments4(TCP, MORE_FRAGMENTS | 3),
        fragments4(ICMP, 0),
        chained(udp(7, 9, bytes(8)), (FRAGMENT, 0, 8), protocol=UDP),
        chained(udp(7, 9, bytes(8)), (60, 0, 0), (FRAGMENT, 0, 9), protocol=UDP),
    ]
    denied = [
        fragments4(UDP, 0),
        fragments4(UDP, MORE_FRAGMENTS),
        chained(udp(7, 9, bytes(8)), (FRAGMENT, 0, 1), protocol=UDP),
        chained(udp(7, 2000, bytes(8)), protocol=UDP),
    ]
    expected = replayed(tmp_path, rules, [*passing, *denied])
    assert expected.drops == {"filter_deny": len(denied)}
    wanted = [frame[6:].ljust(54, b"\0") for frame in passing]
    assert [frame[6:] for frames in expected.flows.values() for frame in frames if frame] != []
    sent = {frame[6:] for frames in expected.flows.values() for frame in frames}
    assert sent == set(wanted)


def test_a_tag_without_a_vlan_is_none(tmp_path: Path) -> None:
    """802.1Q, 6.9. The longest frame may have one, too."""
    longest = udp(1, 2, bytes(2000 - 4 - 14 - 28))
    plain = [
        ip_frame(PLAIN4, CPE4, UDP, udp(1, 2, b"x")),
        ip_frame(PLAIN4, CPE4, UDP, longest),
        chained(tcp(1, 2, b"x"), (60, 0, 0)),
        arp_frame(CPE4),
        ethernet(0x88CC, bytes(50), bytes.fromhex("020100000003")),
    ]
    tags = (0x0000, 0xE000, 0x1000)
    frames = [
        frame[:12] + b"\x81\x00" + tag.to_bytes(2, "big") + frame[12:]
        for tag in tags
        for frame in plain
    ]
    expected = replayed(tmp_path, ["family: llc, action: deny, ethertype: 0x88cc"], frames)
    assert expected.drops == {"filter_deny": len(tags)}
    sent = {frame[6:] for frames in expected.flows.values() for frame in frames}
    assert sent == {frame[6:].ljust(54, b"\0") for frame in plain[:4]}


def test_short_frames_are_as_long_as_ethernet_asks(tmp_path: Path) -> None:
    """An ACK of 54 bytes has 60; padding of the sender's stays as it is."""
    ack = ip_frame(PLAIN4, CPE4, TCP, tcp(1, 2, b""))
    assert len(ack) == 54
    frames = [ack, ack + b"\x5a" * 6, ack + b"\x5a" * 2, ack + b"\x5a" * 40]
    expected = replayed(tmp_path, ["family: llc, action: deny, ethertype: 0x88cc"], frames)
    assert sorted(len(frame) for frames in expected.flows.values() for frame in frames) == [
        *(60, 60, 60),
        94,
    ]


def test_ethertype_is_a_criterion_of_ip_too(tmp_path: Path) -> None:
    frames = [ip_frame(PLAIN4, CPE4, UDP, udp(1, 2, b"x")), chained(udp(1, 2, b"x"))]
    for ethertype in (0x0800, 0x86DD):
        rules = [f"family: llc, action: deny, ethertype: {ethertype:#06x}"]
        expected = replayed(tmp_path / str(ethertype), rules, frames)
        assert expected.drops == {"filter_deny": 1}
