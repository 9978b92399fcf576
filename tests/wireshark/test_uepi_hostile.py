# SPDX-License-Identifier: BSD-3-Clause
"""Tests the dissector on truncated, malformed and random upstream packets: no Lua error."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness import docsis, uepi
from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Segment
from vcmts.witness.ehdr import BpUp
from wireshark import uepi_packets as up
from wireshark.psp_packets import Segment as PspSegment
from wireshark.psp_packets import depi, psp, write_pcap
from wireshark.tshark import Tshark

KINDS = [
    "*=auto", "*=0:uepi-sc-qam", "*=0:uepi-ofdma", "*=0:req-sc-qam", "*=0:req-ofdma", "*=0:docsis"
]  # fmt: skip
OFDMA = 0x00020004
# Builds the tree of every packet as `-V` does, but prints only these protocols. Lua errors are
# always printed.
TREES = ("-O", "psp,docsis_uepi,docsis,udp")
RECORD = uepi.encode_request_record(
    uepi.RequestRecord(1, 16, up.SID, up.SID, 1, up.DATA, 2, True, True, 1)
)
FULL = replace(
    up.PLAIN,
    equalizer=uepi.Equalizer(1, 2, 3, bytes(96)),
    vendor=uepi.Vendor(1, b"xyz"),
    flags=uepi.TrailerFlag.EQUALIZER | uepi.TrailerFlag.FEC_VALID,
)


def fragment(first: bool, last: bool, number: int, payload: bytes) -> bytes:
    """A MAC frame with a fragment (pre-3.0) of a frame."""
    element = BpUp(1, False, 0, up.SID, fragment=first << 5 | last << 4 | number)
    parts = docsis.Frame(
        payload, (element,), fc_type=docsis.FC_TYPE_MAC, fc_parm=docsis.FC_PARM_FRAGMENT
    )
    return docsis.encode_frame(parts)


def valid_packets() -> list[bytes]:
    """Packets of every kind, with consecutive sequence numbers, so that all are reassembled."""
    frames = [up.frame(size, 5000 + size) for size in (80, 300, 90)]
    first, *following = up.segment_frames(frames, [50, 170, 400])
    joined = up.concatenated(up.frame(80, 5001), up.frame(80, 5002))
    fragments = fragment(True, False, 0, joined[:60]), fragment(False, True, 1, joined[60:])
    payloads = [first, *following, joined, frames[0] + bytes(9), *fragments]
    packets = [up.upstream(n, up.sc_qam(one, 5)) for n, one in enumerate(payloads)]
    full = encode_burst(Burst(uepi.ScQamHeader(5, up.SID, 0), frames[1], FULL))
    packets.append(up.upstream(len(payloads), full))
    units = [up.ofdma(one, 9, sid=up.SID + 1, segment_header=True) for one in (first, *following)]
    packets.append(up.upstream(0, *units, session=OFDMA))
    packets.append(up.upstream(0, *[Segment(RECORD)] * 3, session=up.REQUESTS))
    packets.append(up.upstream(0, up.sc_qam(up.ranging_request(7)), session=up.RANGING))
    return packets


def control_packets() -> list[bytes]:
    sessions = ((up.DATA, 6), (OFDMA, 7), (up.REQUESTS, 9), (up.RANGING, 11))
    return [packet for session, subtype in sessions for packet in up.setup(session, subtype)]


def split_packet(packet: bytes) -> tuple[bytes, int]:
    """The PSP packet and the session ID of a data message over IPv4."""
    return packet[38:], int.from_bytes(packet[34:38], "big")


def read_all(tshark: Tshark, pcap: Path, *options: str) -> str:
    """What tshark prints in one pass and in two. Fails on a Lua error."""
    return tshark.read(pcap, *TREES, *options) + tshark.read(pcap, "-2", *TREES, *options)


def test_valid_packets_have_no_expert_infos(tshark: Tshark, pcap: Path) -> None:
    """The other tests of this file depend on it."""
    write_pcap(pcap, [*control_packets(), *valid_packets()])
    assert not any(tshark.uepi_experts(pcap))
    assert not any(tshark.experts(pcap))


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_packets_cause_no_lua_error(tshark: Tshark, pcap: Path, kind: str) -> None:
    """Packets that end at each byte, and packets that the capture truncates there."""
    packets, snap_lengths = [], []
    for packet in valid_packets():
        body, session = split_packet(packet)
        step = 1 if len(body) < 200 else 7
        for size in range(0, len(body), step):
            packets += [depi(body[:size], session), packet]
            snap_lengths += [65535, 38 + size]
    write_pcap(pcap, [*control_packets(), *packets], [*([65535] * 8), *snap_lengths])
    read_all(tshark, pcap, "-o", f"psp.sessions:{kind}")


def units_with_part_size(size: int) -> list[list[tuple[bytes, bool, bool]]]:
    """Bursts of which one part has this size, and records of this size."""
    good = [(one.data, one.begin, one.end) for one in up.sc_qam(up.frame(80, 5000), 4)]
    units = []
    for fill in (bytes(size), b"\xff" * size, up.frame(80, 5000)[:size], RECORD[:size]):
        for index, shape in enumerate([(True, False), (False, False), (False, True), (True, True)]):
            units.append([*good[:index], (fill, *shape), *good[index + 1 :]])
        units.append([(fill, True, True)] * 3)
    return units


@pytest.mark.parametrize("kind", KINDS[1:5])
def test_parts_of_any_size_cause_no_lua_error(tshark: Tshark, pcap: Path, kind: str) -> None:
    """Headers, payloads, trailers and records of 0 to 23 bytes."""
    units = [parts for size in range(24) for parts in units_with_part_size(size)]
    write_pcap(pcap, [psp_packet(n, parts) for n, parts in enumerate(units)])
    read_all(tshark, pcap, "-o", f"psp.sessions:{kind}")


def psp_packet(sequence: int, parts: list[tuple[bytes, bool, bool]]) -> bytes:
    """A packet of segments that may be empty, which the encoder of the witness rejects."""
    return depi(psp(sequence, *(PspSegment(*part) for part in parts)), up.DATA)


@pytest.mark.parametrize("seed", range(2))
def test_random_bytes_cause_no_lua_error(tshark: Tshark, pcap: Path, seed: int) -> None:
    """Random bytes in every kind of packet. The last packet is valid and dissected."""
    rng = random.Random(seed)
    valid = valid_packets()
    packets = []
    for n in range(1500):
        packet = bytearray(valid[n % len(valid)])
        # mostly consecutive sequence numbers, so that bursts are reassembled
        if rng.random() < 0.9:
            packet[40:42] = (n // len(valid)).to_bytes(2, "big")
        for _ in range(rng.choice((0, 1, 1, 2, 6))):
            packet[rng.randrange(38, min(len(packet), 38 + 90))] = rng.randrange(256)
        packets.append(bytes(packet))
    last = up.upstream(1, up.sc_qam(up.frame(80, 6000)), session=0x777)
    write_pcap(pcap, [*control_packets(), *packets, last])
    once = tshark.read(pcap, *TREES)
    twice = ("-2", "-o", "psp.sessions:*=auto", "-o", "psp.flow_sequence:FALSE")
    for text in (once, tshark.read(pcap, *TREES, *twice)):
        assert "Source Port: 6000" in text.rpartition("\nFrame ")[2]


@pytest.mark.parametrize("seed", range(2))
def test_random_segment_headers_cause_no_lua_error(tshark: Tshark, pcap: Path, seed: int) -> None:
    """Valid bursts with random segment headers, whose HCS is correct."""
    rng = random.Random(seed)
    frames = b"".join(up.frame(rng.choice((60, 200, 900)), 5000 + n) for n in range(30))
    packets = []
    for n in range(1200):
        at = rng.randrange(len(frames))
        data = frames[at : at + rng.choice((0, 1, 7, 90, 400))]
        data += rng.choice((b"", bytes(6), b"\xff", b"\xf8\x02\x00\x09"))
        pointer = rng.choice((None, 0, rng.randrange(1 + len(data)), 0x3FFF))
        sequence = rng.choice((n, n, n, n + 1, n - 3, rng.randrange(8192))) % 8192
        header = docsis.encode_segment_header(
            docsis.SegmentHeader(sequence, rng.randrange(2), rng.randrange(3), pointer)
        )
        packets.append(up.upstream(n, up.sc_qam(header + data)))
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    read_all(tshark, pcap, "-o", "docsis_uepi.segment_header:always")
    experts = {name for names in tshark.uepi_experts(pcap, "-2") for name in names}
    assert experts >= {"pointer_beyond", "contradiction", "orphan", "late", "duplicate", "gap"}


def test_burst_longer_than_maximum_is_dropped(tshark: Tshark, pcap: Path) -> None:
    header, _, trailer = up.sc_qam(up.frame(80, 5000))
    more = Segment(bytes(1400), False, False)
    longest = [header, *[more] * 46, Segment(bytes(65535 - 46 * 1400), False, False), trailer]
    endless = [header, *[more] * 60, trailer]
    units: list[up.UnitOrSegment] = [*longest, *endless, up.sc_qam(b"\xff")]
    packets = [up.upstream(n, one) for n, one in enumerate(units)]
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    experts = tshark.experts(pcap)[2:]
    assert experts[:49] == [[]] * 49
    assert experts[49:].count(["too_long"]) >= 1 and experts[-1] == []
    rows = tshark.fields(pcap, "docsis_uepi.header.sid")[2:]
    whole = [n for n, row in enumerate(rows) if row["docsis_uepi.header.sid"]]
    assert whole == [0, 48, 49, len(packets) - 1]
