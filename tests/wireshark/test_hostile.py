# SPDX-License-Identifier: BSD-3-Clause
"""The PSP dissector on packets that are cut, broken, or made to hurt."""

import random
from pathlib import Path

import pytest

from wireshark.psp_packets import (
    CORE,
    CORE6,
    RPD,
    RPD6,
    SESSION,
    Segment,
    call,
    counter,
    cut,
    data_frame,
    depi,
    depi_udp,
    ip,
    map_frame,
    psp,
    set_up,
    udp,
    write_pcap,
)
from wireshark.stage import Stage

FRAME = data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status


def test_frame_longer_than_any(stage: Stage, pcap: Path) -> None:
    """A sender that never ends a frame is cut off; the next frame is fine again."""
    head = Segment(FRAME[:1000], first=True, last=False)
    more = Segment(bytes(9000), first=False, last=False)
    packets = [psp(1, head), *(psp(n, more) for n in range(2, 10)), psp(10, data_frame(100))]
    write_pcap(pcap, [depi(p) for p in packets])
    assert stage.experts(pcap) == [[]] * 8 + [["too_long"], []]
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_table_and_segments_beyond_the_packet(stage: Stage, pcap: Path) -> None:
    whole = psp(1, data_frame(100))
    packets = [
        whole,
        b"\x40\xff\x00\x02" + whole[4:],  # 255 entries
        b"\x40\x01\x00\x03\xff\xff" + whole[6:],  # 16383 bytes
        psp(4, data_frame(100)) + bytes(5),
        psp(5, Segment(b"", first=False, last=False), data_frame(100)),
        psp(6),
    ]
    write_pcap(pcap, [depi(p) for p in packets])
    assert stage.experts(pcap) == [[], ["table_beyond"], ["beyond"], ["trailing"], ["empty"], []]


@pytest.mark.parametrize("extra", [0, 2])
def test_every_truncation(stage: Stage, pcap: Path, extra: int) -> None:
    """A packet that ends at any byte: no Lua error, and all but the whole one are complained of.
    Each is of a session of its own, which says nothing of the others."""
    fragment = Segment(FRAME[:40], last=False)
    whole = psp(1, map_frame(), map_frame(), fragment, extra=counter(1)[:extra])
    sizes = range(len(whole) + 1)
    packets = [depi(whole[:size], 1000 + size) for size in sizes]
    write_pcap(pcap, [*packets, *(depi_udp(whole[:size], 2000 + size) for size in sizes)])
    for options in (("-o", f"psp.sessions:*={extra}"), ("-2", "-o", "psp.sessions:*=auto"), ()):
        stage.tshark(pcap, "-V", *options)
    found = stage.experts(pcap, "-o", f"psp.sessions:*={extra}")
    severe = {"short", "table_beyond", "beyond"}
    complained = [bool(severe.intersection(names)) for names in found]
    assert complained == ([True] * len(whole) + [False]) * 2


def test_every_snap_length(stage: Stage, pcap: Path) -> None:
    """A packet that the capture cut short is not malformed, only not shown in full."""
    body = psp(1, map_frame(), map_frame(), extra=counter(1))
    packets, snaps = [], []
    for carry, first in ((depi, 1000), (depi_udp, 2000)):
        whole = [carry(body, first + size) for size in range(4, len(body))]
        start = len(whole[0]) - len(body)
        packets += whole
        snaps += [start + size for size in range(4, len(body))]
    write_pcap(pcap, packets, snaps)
    found = stage.experts(pcap, "-o", "psp.sessions:*=2")
    assert len(found) == len(packets)
    assert {tuple(sorted(set(names))) for names in found} == {("cut",)}


def test_hostile_bytes(stage: Stage, pcap: Path) -> None:
    """Bytes changed at random, data and control: no Lua error, and sound packets decode."""
    chance = random.Random(20240229)
    first, middle, last = cut(FRAME, 500, 400)
    sound = [
        depi(psp(1, data_frame(104, 0), first, extra=counter(1))),
        depi_udp(psp(2, middle, map_frame(), extra=counter(2))),
        depi(psp(3, last, extra=counter(3)), source=CORE6, destination=RPD6),
        *set_up(SESSION, 4),
        udp(CORE, RPD, call(10, 1, 0, 4)),
    ]
    packets = []
    for _ in range(2500):
        packet = bytearray(chance.choice(sound))
        start = 54 if packet[12:14] == b"\x86\xdd" else 34
        for _ in range(chance.randint(1, 6)):
            packet[chance.randrange(start, min(len(packet), start + 60))] = chance.randrange(256)
        packets.append(bytes(packet))
    write_pcap(pcap, [*packets, depi(psp(1, map_frame()), 0x777)])
    for options in ((), ("-2", "-o", "psp.sessions:*=auto")):
        stage.tshark(pcap, "-V", *options)
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_packet_quoted_by_icmp_is_not_of_the_stream(stage: Stage, pcap: Path) -> None:
    """An unreachable message quotes packet 1: no packet for sequence and reassembly."""
    first, last = cut(FRAME, 700)
    quoted = depi(psp(1, first))[14:]
    icmp = ip(RPD, CORE, 1, bytes.fromhex("0303fcfc00000000") + quoted)
    write_pcap(pcap, [depi(psp(1, first)), icmp, depi(psp(2, last))])
    assert stage.experts(pcap) == [[], [], []]
    assert stage.fields(pcap, "psp.fragment")[2] == {"psp.fragment": ["1", "3"]}


def test_bad_hcs_is_shown(stage: Stage, pcap: Path) -> None:
    """A frame with a wrong HCS in a known session: Wireshark says so."""
    broken = bytearray(map_frame())
    broken[4] ^= 1
    write_pcap(pcap, [depi(psp(1, map_frame())), depi(psp(2, bytes(broken)))])
    rows = stage.fields(pcap, "docsis.hcs.status", "psp.seq")
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD], ["0"]]
