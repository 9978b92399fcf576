# SPDX-License-Identifier: BSD-3-Clause
"""Tests the PSP dissector on truncated, malformed and random packets."""

import random
from pathlib import Path

import pytest

from wireshark import psp_packets as make
from wireshark.tshark import Tshark

FRAME = make.data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status


def test_frame_longer_than_maximum_is_dropped(tshark: Tshark, pcap: Path) -> None:
    """A frame without end is dropped at the maximum length; the next frame is dissected."""
    head = make.Segment(FRAME[:1000], first=True, last=False)
    more = make.Segment(bytes(9000), first=False, last=False)
    packets = [
        make.psp(1, head),
        *(make.psp(n, more) for n in range(2, 10)),
        make.psp(10, make.data_frame(100)),
    ]
    make.write_pcap(pcap, [make.depi(p) for p in packets])
    assert tshark.experts(pcap) == [[]] * 8 + [["too_long"], []]
    assert tshark.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_lengths_beyond_packet_are_reported(tshark: Tshark, pcap: Path) -> None:
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
    assert tshark.experts(pcap) == [[], ["table_beyond"], ["beyond"], ["trailing"], ["empty"], []]


@pytest.mark.parametrize("extra", [0, 2])
def test_truncated_packets_are_reported(tshark: Tshark, pcap: Path, extra: int) -> None:
    """A packet truncated at each byte, in its own session: no Lua error, and an expert info for all
    but the whole one."""
    fragment = make.Segment(FRAME[:40], last=False)
    whole = make.psp(1, make.map_frame(), make.map_frame(), fragment, extra=make.counter(1)[:extra])
    sizes = range(len(whole) + 1)
    packets = [make.depi(whole[:size], 1000 + size) for size in sizes]
    make.write_pcap(pcap, [*packets, *(make.depi_udp(whole[:size], 2000 + size) for size in sizes)])
    for options in (("-o", f"psp.sessions:*={extra}"), ("-2", "-o", "psp.sessions:*=auto"), ()):
        tshark.read(pcap, "-V", *options)
    experts = tshark.experts(pcap, "-o", f"psp.sessions:*={extra}")
    severe = {"short", "table_beyond", "beyond"}
    reported = [bool(severe.intersection(names)) for names in experts]
    assert reported == ([True] * len(whole) + [False]) * 2


def test_snapped_packets_are_not_malformed(tshark: Tshark, pcap: Path) -> None:
    """A packet truncated by the capture at each byte has only the expert info `cut`."""
    body = make.psp(1, make.map_frame(), make.map_frame(), extra=make.counter(1))
    packets, snap_lengths = [], []
    for encapsulate, first in ((make.depi, 1000), (make.depi_udp, 2000)):
        whole = [encapsulate(body, first + size) for size in range(4, len(body))]
        start = len(whole[0]) - len(body)
        packets += whole
        snap_lengths += [start + size for size in range(4, len(body))]
    make.write_pcap(pcap, packets, snap_lengths)
    experts = tshark.experts(pcap, "-o", "psp.sessions:*=2")
    assert len(experts) == len(packets)
    assert {tuple(sorted(set(names))) for names in experts} == {("cut",)}


def test_random_bytes_cause_no_lua_error(tshark: Tshark, pcap: Path) -> None:
    """Random bytes in data and control messages; the valid packet behind them is dissected."""
    rng = random.Random(20240229)
    first, middle, last = make.split_frame(FRAME, 500, 400)
    valid = [
        make.depi(make.psp(1, make.data_frame(104, 0), first, extra=make.counter(1))),
        make.depi_udp(make.psp(2, middle, make.map_frame(), extra=make.counter(2))),
        make.depi(
            make.psp(3, last, extra=make.counter(3)), source=make.CORE6, destination=make.RPD6
        ),
        *make.session_setup(make.SESSION, 4),
        make.udp(make.CORE, make.RPD, make.call(10, 1, 0, 4)),
    ]
    packets = []
    for _ in range(2500):
        packet = bytearray(rng.choice(valid))
        start = 54 if packet[12:14] == b"\x86\xdd" else 34
        for _ in range(rng.randint(1, 6)):
            packet[rng.randrange(start, min(len(packet), start + 60))] = rng.randrange(256)
        packets.append(bytes(packet))
    make.write_pcap(pcap, [*packets, make.depi(make.psp(1, make.map_frame()), 0x777)])
    for options in ((), ("-2", "-o", "psp.sessions:*=auto")):
        tshark.read(pcap, "-V", *options)
    assert tshark.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_packet_quoted_in_icmp_is_not_reassembled(tshark: Tshark, pcap: Path) -> None:
    """A packet quoted in an ICMP error is ignored by sequence check and reassembly."""
    first, last = make.split_frame(FRAME, 700)
    quoted = make.depi(make.psp(1, first))[14:]
    icmp = make.ip(make.RPD, make.CORE, 1, bytes.fromhex("0303fcfc00000000") + quoted)
    make.write_pcap(pcap, [make.depi(make.psp(1, first)), icmp, make.depi(make.psp(2, last))])
    assert tshark.experts(pcap) == [[], [], []]
    assert tshark.fields(pcap, "psp.fragment")[2] == {"psp.fragment": ["1", "3"]}


def test_wrong_hcs_is_shown(tshark: Tshark, pcap: Path) -> None:
    corrupt = bytearray(make.map_frame())
    corrupt[4] ^= 1
    make.write_pcap(
        pcap, [make.depi(make.psp(1, make.map_frame())), make.depi(make.psp(2, bytes(corrupt)))]
    )
    rows = tshark.fields(pcap, "docsis.hcs.status", "psp.seq")
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD], ["0"]]
