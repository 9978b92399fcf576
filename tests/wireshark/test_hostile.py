# SPDX-License-Identifier: BSD-3-Clause
"""The PSP dissector on packets that are cut, broken, or made to hurt."""

import random
from pathlib import Path

import pytest

from wireshark import psp_packets as make
from wireshark.stage import Stage

FRAME = make.data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status


def test_frame_longer_than_any(stage: Stage, pcap: Path) -> None:
    """A sender that never ends a frame is cut off; the next frame is fine again."""
    head = make.Segment(FRAME[:1000], first=True, last=False)
    more = make.Segment(bytes(9000), first=False, last=False)
    packets = [
        make.psp(1, head),
        *(make.psp(n, more) for n in range(2, 10)),
        make.psp(10, make.data_frame(100)),
    ]
    make.write_pcap(pcap, [make.depi(p) for p in packets])
    assert stage.experts(pcap) == [[]] * 8 + [["too_long"], []]
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_table_and_segments_beyond_the_packet(stage: Stage, pcap: Path) -> None:
    whole = make.psp(1, make.data_frame(100))
    packets = [
        whole,
        b"\x40\xff\x00\x02" + whole[4:],  # 255 entries
        b"\x40\x01\x00\x03\xff\xff" + whole[6:],  # 16383 bytes
        make.psp(4, make.data_frame(100)) + bytes(5),
        make.psp(5, make.Segment(b"", first=False, last=False), make.data_frame(100)),
        make.psp(6),
    ]
    make.write_pcap(pcap, [make.depi(p) for p in packets])
    assert stage.experts(pcap) == [[], ["table_beyond"], ["beyond"], ["trailing"], ["empty"], []]


@pytest.mark.parametrize("extra", [0, 2])
def test_every_truncation(stage: Stage, pcap: Path, extra: int) -> None:
    """A packet that ends at any byte: no Lua error, and all but the whole one are complained of.
    Each is of a session of its own, which says nothing of the others."""
    fragment = make.Segment(FRAME[:40], last=False)
    whole = make.psp(1, make.map_frame(), make.map_frame(), fragment, extra=make.counter(1)[:extra])
    sizes = range(len(whole) + 1)
    packets = [make.depi(whole[:size], 1000 + size) for size in sizes]
    make.write_pcap(pcap, [*packets, *(make.depi_udp(whole[:size], 2000 + size) for size in sizes)])
    for options in (("-o", f"psp.sessions:*={extra}"), ("-2", "-o", "psp.sessions:*=auto"), ()):
        stage.tshark(pcap, "-V", *options)
    found = stage.experts(pcap, "-o", f"psp.sessions:*={extra}")
    severe = {"short", "table_beyond", "beyond"}
    complained = [bool(severe.intersection(names)) for names in found]
    assert complained == ([True] * len(whole) + [False]) * 2


def test_every_snap_length(stage: Stage, pcap: Path) -> None:
    """A packet that the capture cut short is not malformed, only not shown in full."""
    body = make.psp(1, make.map_frame(), make.map_frame(), extra=make.counter(1))
    packets, snaps = [], []
    for carry, first in ((make.depi, 1000), (make.depi_udp, 2000)):
        whole = [carry(body, first + size) for size in range(4, len(body))]
        start = len(whole[0]) - len(body)
        packets += whole
        snaps += [start + size for size in range(4, len(body))]
    make.write_pcap(pcap, packets, snaps)
    found = stage.experts(pcap, "-o", "psp.sessions:*=2")
    assert len(found) == len(packets)
    assert {tuple(sorted(set(names))) for names in found} == {("cut",)}


def test_hostile_bytes(stage: Stage, pcap: Path) -> None:
    """Bytes changed at random, data and control: no Lua error, and sound packets decode."""
    chance = random.Random(20240229)
    first, middle, last = make.cut(FRAME, 500, 400)
    sound = [
        make.depi(make.psp(1, make.data_frame(104, 0), first, extra=make.counter(1))),
        make.depi_udp(make.psp(2, middle, make.map_frame(), extra=make.counter(2))),
        make.depi(
            make.psp(3, last, extra=make.counter(3)), source=make.CORE6, destination=make.RPD6
        ),
        *make.set_up(make.SESSION, 4),
        make.udp(make.CORE, make.RPD, make.call(10, 1, 0, 4)),
    ]
    packets = []
    for _ in range(2500):
        packet = bytearray(chance.choice(sound))
        start = 54 if packet[12:14] == b"\x86\xdd" else 34
        for _ in range(chance.randint(1, 6)):
            packet[chance.randrange(start, min(len(packet), start + 60))] = chance.randrange(256)
        packets.append(bytes(packet))
    make.write_pcap(pcap, [*packets, make.depi(make.psp(1, make.map_frame()), 0x777)])
    for options in ((), ("-2", "-o", "psp.sessions:*=auto")):
        stage.tshark(pcap, "-V", *options)
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_packet_quoted_by_icmp_is_not_of_the_stream(stage: Stage, pcap: Path) -> None:
    """An unreachable message quotes packet 1: no packet for sequence and reassembly."""
    first, last = make.cut(FRAME, 700)
    quoted = make.depi(make.psp(1, first))[14:]
    icmp = make.ip(make.RPD, make.CORE, 1, bytes.fromhex("0303fcfc00000000") + quoted)
    make.write_pcap(pcap, [make.depi(make.psp(1, first)), icmp, make.depi(make.psp(2, last))])
    assert stage.experts(pcap) == [[], [], []]
    assert stage.fields(pcap, "psp.fragment")[2] == {"psp.fragment": ["1", "3"]}


def test_bad_hcs_is_shown(stage: Stage, pcap: Path) -> None:
    """A frame with a wrong HCS in a known session: Wireshark says so."""
    broken = bytearray(make.map_frame())
    broken[4] ^= 1
    make.write_pcap(
        pcap, [make.depi(make.psp(1, make.map_frame())), make.depi(make.psp(2, bytes(broken)))]
    )
    rows = stage.fields(pcap, "docsis.hcs.status", "psp.seq")
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD], ["0"]]
