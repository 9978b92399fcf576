# SPDX-License-Identifier: BSD-3-Clause
"""Rules for packets with IPv6 extension headers, fragments, priority tags, and short frames."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from e2e import frames as make
from e2e.expected import Expectation
from e2e.running import SMALL, replay
from e2e.traffic import SOURCE4, SOURCE6, with_times

pytestmark = pytest.mark.replay

MAIL = "destination_ports: 25"
CPE4, CPE6 = IPv4Address("10.0.0.9"), IPv6Address("2001:db8:0:3::1")


def replayed(folder: Path, rules: list[str], frames: list[bytes]) -> Expectation:
    """Replays frames to modem 3 with these rules. Returns the expected result."""
    text = SMALL.read_text().replace(
        'addresses: [10.0.0.9, "2001:db8:0:3::1"]',
        'addresses: [10.0.0.9, "2001:db8:0:3::1"]\n    filter_groups: [4]',
    )
    lines = "".join(f"      - {{{rule}}}\n" for rule in rules)
    text = text.replace("\nmodems:\n", f"\n  - id: 4\n    rules:\n{lines}modems:\n", 1)
    return replay(folder, text, with_times(frames, 7)).check()


def ipv6(payload: bytes, *extensions: tuple[int, int, int], protocol: int = make.TCP) -> bytes:
    return make.ethernet(
        make.ETHERTYPES[6],
        make.ipv6_packet(SOURCE6, CPE6, protocol, payload, extensions=extensions),
    )


def test_tcp_after_any_header_is_denied(tmp_path: Path) -> None:
    frames = [ipv6(make.tcp(1, 25, b"mail"), (kind, 2, 0)) for kind in make.EXTENSIONS]
    frames += [ipv6(make.tcp(1, 25, b""), *((kind, 0, 0) for kind in make.EXTENSIONS))]
    frames += [ipv6(make.tcp(1, 80, b"web"), (kind, 2, 0)) for kind in make.EXTENSIONS]
    expected = replayed(tmp_path, [f"family: ipv6, action: deny, protocol: tcp, {MAIL}"], frames)
    assert expected.drops == {"filter_deny": len(make.EXTENSIONS) + 1}


@pytest.mark.parametrize("kind", make.EXTENSIONS)
def test_protocol_matches_any_header_of_chain(kind: int, tmp_path: Path) -> None:
    """MULPI: a protocol matches any header of the chain. The first matching rule applies."""
    other = next(header for header in make.EXTENSIONS if header not in (kind, make.FRAGMENT))
    rules = [
        f"family: ipv6, action: permit, protocol: {kind}, source: '2001:db8:ff::/48', tos: 0x20",
        f"family: ipv6, action: deny, protocol: {kind}",
        "family: ipv6, action: permit, protocol: udp",
        f"family: ipv6, action: deny, protocol: {other}",
    ]
    frames = [
        ipv6(make.udp(1, 2, b"x"), protocol=make.UDP),
        ipv6(make.udp(1, 2, b"x"), (kind, 0, 0), protocol=make.UDP),
        ipv6(make.udp(1, 2, b"x"), (other, 0, 0), protocol=make.UDP),
        ipv6(make.udp(1, 2, b"x"), (kind, 1, 0), (other, 3, 0), protocol=make.UDP),
        ipv6(make.udp(1, 2, b"x"), (other, 1, 0), (kind, 0, 0), (other, 1, 0), protocol=make.UDP),
        ipv6(make.tcp(1, 2, b"x"), (other, 1, 0)),
        ipv6(make.tcp(1, 2, b"x")),
        ipv6(make.tcp(1, 2, b"x"), (make.FRAGMENT, 0, 8)),
    ]
    expected = replayed(tmp_path, rules, frames)
    assert expected.drops == {"filter_deny": 4 + (kind == make.FRAGMENT)}


def test_packets_without_ports_match_no_port_rule(tmp_path: Path) -> None:
    """Rules with ports match neither fragments without ports nor protocols without ports."""
    rules = [
        f"family: {family}, action: deny, {direction}_ports: 0-1023"
        for family in ("ipv4", "ipv6")
        for direction in ("source", "destination")
    ]

    def fragments4(protocol: int, fragment: int) -> bytes:
        return make.ethernet(
            make.ETHERTYPES[4],
            make.ipv4_packet(SOURCE4, CPE4, protocol, make.udp(7, 9, bytes(24)), fragment=fragment),
        )

    permitted = [
        fragments4(make.UDP, 3),
        fragments4(make.TCP, make.MORE_FRAGMENTS | 3),
        fragments4(make.ICMP, 0),
        ipv6(make.udp(7, 9, bytes(8)), (make.FRAGMENT, 0, 8), protocol=make.UDP),
        ipv6(make.udp(7, 9, bytes(8)), (60, 0, 0), (make.FRAGMENT, 0, 9), protocol=make.UDP),
    ]
    denied = [
        fragments4(make.UDP, 0),
        fragments4(make.UDP, make.MORE_FRAGMENTS),
        ipv6(make.udp(7, 9, bytes(8)), (make.FRAGMENT, 0, 1), protocol=make.UDP),
        ipv6(make.udp(7, 2000, bytes(8)), protocol=make.UDP),
    ]
    expected = replayed(tmp_path, rules, [*permitted, *denied])
    assert expected.drops == {"filter_deny": len(denied)}
    expected_frames = [frame[6:].ljust(54, b"\0") for frame in permitted]
    assert [frame[6:] for frames in expected.flows.values() for frame in frames if frame] != []
    sent = {frame[6:] for frames in expected.flows.values() for frame in frames}
    assert sent == set(expected_frames)


def test_priority_tag_is_ignored(tmp_path: Path) -> None:
    """802.1Q, 6.9: VLAN ID 0 is a priority tag. The longest frame may have one, too."""
    longest = make.udp(1, 2, bytes(2000 - 4 - 14 - 28))
    plain = [
        make.ip_frame(SOURCE4, CPE4, make.UDP, make.udp(1, 2, b"x")),
        make.ip_frame(SOURCE4, CPE4, make.UDP, longest),
        ipv6(make.tcp(1, 2, b"x"), (60, 0, 0)),
        make.arp_frame(CPE4),
        make.ethernet(0x88CC, bytes(50), bytes.fromhex("020100000003")),
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


def test_short_frames_are_padded(tmp_path: Path) -> None:
    """A frame of 54 bytes is padded to 60. Longer padding of the sender is kept."""
    ack = make.ip_frame(SOURCE4, CPE4, make.TCP, make.tcp(1, 2, b""))
    assert len(ack) == 54
    frames = [ack, ack + b"\x5a" * 6, ack + b"\x5a" * 2, ack + b"\x5a" * 40]
    expected = replayed(tmp_path, ["family: llc, action: deny, ethertype: 0x88cc"], frames)
    assert sorted(len(frame) for frames in expected.flows.values() for frame in frames) == [
        *(60, 60, 60),
        94,
    ]


def test_ethertype_criterion_matches_ip(tmp_path: Path) -> None:
    frames = [
        make.ip_frame(SOURCE4, CPE4, make.UDP, make.udp(1, 2, b"x")),
        ipv6(make.udp(1, 2, b"x")),
    ]
    for ethertype in (0x0800, 0x86DD):
        rules = [f"family: llc, action: deny, ethertype: {ethertype:#06x}"]
        expected = replayed(tmp_path / str(ethertype), rules, frames)
        assert expected.drops == {"filter_deny": 1}
