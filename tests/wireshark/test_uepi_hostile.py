# SPDX-License-Identifier: BSD-3-Clause
"""Upstream packets that are cut, broken, or made to hurt: never a Lua error."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness import docsis, uepi
from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Segment
from vcmts.witness.ehdr import BpUp
from wireshark import uepi_packets as up
from wireshark.psp_packets import Segment as Loose
from wireshark.psp_packets import depi, psp, write_pcap
from wireshark.stage import Stage

KINDS = [
    "*=auto", "*=0:uepi-sc-qam", "*=0:uepi-ofdma", "*=0:req-sc-qam", "*=0:req-ofdma", "*=0:docsis"
]  # fmt: skip
OFDMA = 0x00020004
# Builds the tree of every packet, as `-V` does; prints what is ours, and frames in it. An error in
# a script stands beside the protocols, and is printed whichever they are.
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
    element = BpUp(1, False, 0, up.SID, fragment=first << 5 | last << 4 | number)
    parts = docsis.Frame(
        payload, (element,), fc_type=docsis.FC_TYPE_MAC, fc_parm=docsis.FC_PARM_FRAGMENT
    )
    return docsis.encode_frame(parts)


def sound_packets() -> list[bytes]:
    """One of every kind; sequence numbers follow, so that all of it is put together."""
    frames = [up.frame(size, 5000 + size) for size in (80, 300, 90)]
    first, *others = up.segments_of(frames, [50, 170, 400])
    pieces = up.concatenated(up.frame(80, 5001), up.frame(80, 5002))
    fragments = fragment(True, False, 0, pieces[:60]), fragment(False, True, 1, pieces[60:])
    payloads = [first, *others, pieces, frames[0] + bytes(9), *fragments]
    packets = [up.upstream(n, up.sc_qam(one, 5)) for n, one in enumerate(payloads)]
    full = encode_burst(Burst(uepi.ScQamHeader(5, up.SID, 0), frames[1], FULL))
    packets.append(up.upstream(len(payloads), full))
    units = [up.ofdma(one, 9, sid=up.SID + 1, segment_header=True) for one in (first, *others)]
    packets.append(up.upstream(0, *units, session=OFDMA))
    packets.append(up.upstream(0, *[Segment(RECORD)] * 3, session=up.REQUESTS))
    packets.append(up.upstream(0, up.sc_qam(up.ranging_request(7)), session=up.RANGING))
    return packets


def control_packets() -> list[bytes]:
    sessions = ((up.DATA, 6), (OFDMA, 7), (up.REQUESTS, 9), (up.RANGING, 11))
    return [packet for session, subtype in sessions for packet in up.told(session, subtype)]


def body_of(packet: bytes) -> tuple[bytes, int]:
    """What follows the session ID, and the session ID."""
    return packet[38:], int.from_bytes(packet[34:38], "big")


def readable(stage: Stage, pcap: Path, *options: str) -> str:
    """All of it, in both ways. Trouble raises in the stage."""
    return stage.tshark(pcap, *TREES, *options) + stage.tshark(pcap, "-2", *TREES, *options)


def test_sound_packets_are_sound(stage: Stage, pcap: Path) -> None:
    """Or the rest of this file would prove little."""
    write_pcap(pcap, [*control_packets(), *sound_packets()])
    assert not any(stage.uepi_experts(pcap))
    assert not any(stage.experts(pcap))


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation(stage: Stage, pcap: Path, kind: str) -> None:
    """Packets that end at any byte, and what the capture cut at any byte."""
    packets, snaps = [], []
    for packet in sound_packets():
        body, session = body_of(packet)
        step = 1 if len(body) < 200 else 7
        for size in range(0, len(body), step):
            packets += [depi(body[:size], session), packet]
            snaps += [65535, 38 + size]
    write_pcap(pcap, [*control_packets(), *packets], [*([65535] * 8), *snaps])
    readable(stage, pcap, "-o", f"psp.sessions:{kind}")


def misshapen(size: int) -> list[list[tuple[bytes, bool, bool]]]:
    """Bursts of which one part has this size, and records of it."""
    good = [(one.data, one.begin, one.end) for one in up.sc_qam(up.frame(80, 5000), 4)]
    units = []
    for fill in (bytes(size), b"\xff" * size, up.frame(80, 5000)[:size], RECORD[:size]):
        for place, shape in enumerate([(True, False), (False, False), (False, True), (True, True)]):
            units.append([*good[:place], (fill, *shape), *good[place + 1 :]])
        units.append([(fill, True, True)] * 3)
    return units


@pytest.mark.parametrize("kind", KINDS[1:5])
def test_parts_of_any_size(stage: Stage, pcap: Path, kind: str) -> None:
    """Headers, payloads, trailers and records of every small size."""
    units = [parts for size in range(24) for parts in misshapen(size)]
    write_pcap(pcap, [raw(n, parts) for n, parts in enumerate(units)])
    readable(stage, pcap, "-o", f"psp.sessions:{kind}")


def raw(sequence: int, parts: list[tuple[bytes, bool, bool]]) -> bytes:
    """Unlike the witness, with empty segments too."""
    return depi(psp(sequence, *(Loose(*part) for part in parts)), up.DATA)


@pytest.mark.parametrize("seed", range(2))
def test_hostile_bytes(stage: Stage, pcap: Path, seed: int) -> None:
    """Bytes changed at random in every kind of packet; the last, sound one still decodes."""
    chance = random.Random(seed)
    sound = sound_packets()
    packets = []
    for n in range(1500):
        packet = bytearray(sound[n % len(sound)])
        # sequence numbers in order, most times, so that bursts over packets are put together
        if chance.random() < 0.9:
            packet[40:42] = (n // len(sound)).to_bytes(2, "big")
        for _ in range(chance.choice((0, 1, 1, 2, 6))):
            packet[chance.randrange(38, min(len(packet), 38 + 90))] = chance.randrange(256)
        packets.append(bytes(packet))
    last = up.upstream(1, up.sc_qam(up.frame(80, 6000)), session=0x777)
    write_pcap(pcap, [*control_packets(), *packets, last])
    once = stage.tshark(pcap, *TREES)
    twice = ("-2", "-o", "psp.sessions:*=auto", "-o", "psp.flow_sequence:FALSE")
    for text in (once, stage.tshark(pcap, *TREES, *twice)):
        assert "Source Port: 6000" in text.rpartition("\nFrame ")[2]


@pytest.mark.parametrize("seed", range(2))
def test_hostile_payloads(stage: Stage, pcap: Path, seed: int) -> None:
    """Sound bursts whose segment headers have a right HCS and say anything."""
    chance = random.Random(seed)
    frames = b"".join(up.frame(chance.choice((60, 200, 900)), 5000 + n) for n in range(30))
    packets = []
    for n in range(1200):
        at = chance.randrange(len(frames))
        data = frames[at : at + chance.choice((0, 1, 7, 90, 400))]
        data += chance.choice((b"", bytes(6), b"\xff", b"\xf8\x02\x00\x09"))
        pointer = chance.choice((None, 0, chance.randrange(1 + len(data)), 0x3FFF))
        sequence = chance.choice((n, n, n, n + 1, n - 3, chance.randrange(8192))) % 8192
        header = docsis.encode_segment_header(
            docsis.SegmentHeader(sequence, chance.randrange(2), chance.randrange(3), pointer)
        )
        packets.append(up.upstream(n, up.sc_qam(header + data)))
    write_pcap(pcap, [*up.told(up.DATA, 6), *packets])
    readable(stage, pcap, "-o", "docsis_uepi.segment_header:always")
    found = {name for names in stage.uepi_experts(pcap, "-2") for name in names}
    assert found >= {"pointer_beyond", "contradiction", "orphan", "late", "duplicate", "gap"}


def test_burst_longer_than_any(stage: Stage, pcap: Path) -> None:
    header, _, trailer = up.sc_qam(up.frame(80, 5000))
    more = Segment(bytes(1400), False, False)
    longest = [header, *[more] * 46, Segment(bytes(65535 - 46 * 1400), False, False), trailer]
    endless = [header, *[more] * 60, trailer]
    units: list[up.UnitOrSegment] = [*longest, *endless, up.sc_qam(b"\xff")]
    packets = [up.upstream(n, one) for n, one in enumerate(units)]
    write_pcap(pcap, [*up.told(up.DATA, 6), *packets])
    found = stage.experts(pcap)[2:]
    assert found[:49] == [[]] * 49
    assert found[49:].count(["too_long"]) >= 1 and found[-1] == []
    rows = stage.fields(pcap, "docsis_uepi.header.sid")[2:]
    whole = [n for n, row in enumerate(rows) if row["docsis_uepi.header.sid"]]
    assert whole == [0, 48, 49, len(packets) - 1]
