# SPDX-License-Identifier: BSD-3-Clause
"""Tests the PSP dissector: header fields, frames, sequence check and reassembly."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from wireshark.psp_packets import (
    CORE,
    CORE6,
    RPD,
    RPD6,
    counter,
    data_frame,
    depi,
    depi_udp,
    ethernet_pdu,
    mac_frame,
    map_frame,
    privacy,
    psp,
    split_frame,
    write_pcap,
)
from wireshark.tshark import Tshark

FRAME = data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status
Encapsulate = Callable[..., bytes]
HEADER_FIELDS = [
    "psp.seq", "psp.count", "psp.segment.begin", "psp.segment.end", "psp.segment.len",
    "psp.extra.counter", "psp.extra.profile", "psp.reassembled_in", "psp.fragment",
    "psp.reassembled.length", "psp.gap",
]  # fmt: skip
FRAME_FIELDS = [
    "docsis.hcs.status", "docsis.ehdr.ds_pkt_seq_num", "docsis.len", "l2tp.sid", "_ws.expert"
]  # fmt: skip


ENCAPSULATIONS = [
    pytest.param(depi, {}, id="ipv4"),
    pytest.param(depi, {"source": CORE6, "destination": RPD6}, id="ipv6"),
    pytest.param(depi_udp, {}, id="udp"),
    pytest.param(depi_udp, {"source": CORE6, "destination": RPD6}, id="udp-ipv6"),
]


def booleans(values: list[str]) -> list[int]:
    """Booleans, which tshark prints as 1 and 0, newer versions as True and False."""
    return [int(v in ("1", "True")) for v in values]


@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize(("encapsulate", "addresses"), ENCAPSULATIONS)
def test_frame_in_three_packets_is_reassembled(
    tshark: Tshark, pcap: Path, encapsulate: Encapsulate, addresses: dict[str, str], extra: int
) -> None:
    """Whole frames and a frame in three fragments: all fields, all frames, no expert infos."""
    first, middle, last = split_frame(FRAME, 500, 400)
    bodies = [
        psp(0xFFFE, data_frame(104, 0), data_frame(120, 1), first, extra=counter(14)[:extra]),
        psp(0xFFFF, middle, extra=counter(15)[:extra]),
        psp(0x0000, last, data_frame(200, 4), extra=counter(0, 5)[:extra]),
    ]
    write_pcap(pcap, [encapsulate(body, **addresses) for body in bodies])
    rows = tshark.fields(pcap, *HEADER_FIELDS, *FRAME_FIELDS, options=("-2",))
    empty: list[list[str]] = [[], [], []]
    counters = [["14"], ["15"], ["0"]] if extra else empty
    profiles = [["0"], ["0"], ["5"]] if extra else empty
    expected: dict[str, list[list[str]]] = {
        "psp.seq": [["65534"], ["65535"], ["0"]],
        "psp.count": [["3"], ["1"], ["2"]],
        "psp.segment.len": [["104", "120", "500"], ["400"], ["300", "200"]],
        "psp.extra.counter": counters,
        "psp.extra.profile": profiles,
        "psp.reassembled_in": [["3"], ["3"], []],
        "psp.fragment": [[], [], ["1", "2", "3"]],
        "psp.reassembled.length": [[], [], ["1200"]],
        "docsis.hcs.status": [[GOOD, GOOD], [], [GOOD, GOOD]],
        "docsis.ehdr.ds_pkt_seq_num": [["0", "1"], [], ["3", "4"]],
        "docsis.len": [["98", "114"], [], ["1194", "194"]],
        "l2tp.sid": [["0x00010001"]] * 3,
        "_ws.expert": empty,
        "psp.gap": empty,
    }
    for field, values in expected.items():
        assert [row[field] for row in rows] == values, field
    assert [booleans(r["psp.segment.begin"]) for r in rows] == [[1, 1, 1], [0], [0, 1]]
    assert [booleans(r["psp.segment.end"]) for r in rows] == [[1, 1, 0], [0], [1, 1]]


def layers(tshark: Tshark, pcap: Path, *options: str) -> list[dict[str, object]]:
    packets = json.loads(tshark.read(pcap, "-T", "json", "--no-duplicate-keys", *options))
    return [packet["_source"]["layers"] for packet in packets]


def test_reassembled_frame_has_its_payload(tshark: Tshark, pcap: Path) -> None:
    """The UDP dissector gets the payload of the frame, in one pass and in two."""
    first, last = split_frame(FRAME, 700)
    write_pcap(pcap, [depi(psp(7, first)), depi(psp(8, last))])
    for passes in ((), ("-2",)):
        rows = tshark.fields(pcap, "udp.payload", "docsis.hcs.status", options=passes)
        sent = FRAME[17 + 14 + 28 : -4].hex()
        assert rows == [
            {"udp.payload": [], "docsis.hcs.status": []},
            {"udp.payload": [sent], "docsis.hcs.status": [GOOD]},
        ]
    assert "DOCSIS Packet PDU" not in tshark.read(pcap, "-V", "-Y", "frame.number == 1")


def test_json_tree(tshark: Tshark, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(9, map_frame(), extra=counter(3)))])
    (packet,) = layers(tshark, pcap)
    head = packet["psp"]
    assert isinstance(head, dict)
    assert head["psp.seq"] == "9"
    assert head["psp.count"] == "1"
    assert head["psp.flow"] == "0"
    assert "docsis" in packet and "l2tp" in packet


def test_sequence_gap_is_reported(tshark: Tshark, pcap: Path) -> None:
    frames = [psp(n, data_frame(100, n)) for n in (10, 11, 15, 16)]
    write_pcap(pcap, [depi(f) for f in frames])
    rows = tshark.fields(pcap, "psp.gap", "docsis.hcs.status")
    assert [r["psp.gap"] for r in rows] == [[], [], ["3"], []]
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD]] * 4
    assert tshark.experts(pcap) == [[], [], ["gap"], []]


def test_sessions_and_flows_have_separate_sequences(tshark: Tshark, pcap: Path) -> None:
    """Interleaved fragments of two sessions, directions and flows are reassembled without gap."""
    first, last = split_frame(FRAME, 700)
    other_first, other_last = split_frame(data_frame(900, 9), 300)
    packets = [
        depi(psp(1, first)),
        depi(psp(500, other_first), 5),
        depi(psp(900, other_first, flow=3)),
        depi(psp(70, other_first), source=RPD, destination=CORE),
        depi(psp(2, last)),
        depi(psp(501, other_last), 5),
        depi(psp(901, other_last, flow=3)),
        depi(psp(71, other_last), source=RPD, destination=CORE),
    ]
    write_pcap(pcap, packets)
    names = ("psp.fragment", "docsis.hcs.status", "psp.flow", "_ws.expert")
    rows = tshark.fields(pcap, *names, options=("-2",))
    assert [r["psp.fragment"] for r in rows[4:]] == [["1", "5"], ["2", "6"], ["3", "7"], ["4", "8"]]
    assert all(r["docsis.hcs.status"] == [GOOD] for r in rows[4:])
    assert [r["psp.flow"] for r in rows] == [[f] for f in "00300030"]
    assert all(r["_ws.expert"] == [] for r in rows)
    experts = tshark.experts(pcap, "-o", "psp.flow_sequence:FALSE")
    assert [names for names in experts if "gap" in names or "late" in names]


def test_lost_fragments_are_reported(tshark: Tshark, pcap: Path) -> None:
    first, _, last = split_frame(FRAME, 500, 400)
    packets = [
        psp(1, first),
        psp(3, last),  # the middle was in 2
        psp(4, first),
        psp(6, data_frame(100)),  # the end was in 5
        psp(7, first),
        psp(8, data_frame(100)),  # nothing lost: the sender never ended the frame
        psp(9, last),  # nor began this one
        psp(10, data_frame(100)),
    ]
    write_pcap(pcap, [depi(p) for p in packets])
    expected = [[], ["gap", "lost_middle"], [], ["gap", "no_end"], [], ["no_end"], ["no_begin"], []]
    assert tshark.experts(pcap) == expected
    assert tshark.experts(pcap, "-2") == expected
    rows = tshark.fields(pcap, "psp.reassembled_in", "docsis.hcs.status", options=("-2",))
    assert all(r["psp.reassembled_in"] == [] for r in rows)
    whole = [i + 1 for i, r in enumerate(rows) if r["docsis.hcs.status"] == [GOOD]]
    assert whole == [4, 6, 8]
    text = tshark.read(pcap, "-2", "-V")
    assert "never completed: lost" in text and "never completed: no end" in text
    assert "The middle of this frame, begun in packet 1, was lost" in text


def test_capture_starting_within_a_frame_is_noted(tshark: Tshark, pcap: Path) -> None:
    """A note, not a warning. Without a frame the session is PSP only by preference."""
    _, middle, last = split_frame(FRAME, 500, 400)
    write_pcap(pcap, [depi(psp(1, middle)), depi(psp(2, last)), depi(psp(3, data_frame(100)))])
    note = ["before_capture"]
    assert tshark.experts(pcap, "-o", "psp.sessions:*=0") == [note, note, []]
    assert [r["psp.seq"] for r in tshark.fields(pcap, "psp.seq")] == [[], [], ["3"]]


def test_late_packets_and_restart_are_noted(tshark: Tshark, pcap: Path) -> None:
    first, last = split_frame(FRAME, 700)
    packets = [psp(100, first), psp(100, first), psp(101, last), psp(99, data_frame(100))]
    packets += [psp(n, data_frame(100)) for n in range(40, 50)]
    write_pcap(pcap, [depi(p) for p in packets])
    experts = tshark.experts(pcap)
    assert experts[:4] == [[], ["late"], [], ["late"]]
    assert experts[4:] == [["late"]] * 7 + [["restart"], [], []]
    rows = tshark.fields(pcap, "psp.fragment", "docsis.hcs.status")
    assert rows[2] == {"psp.fragment": ["1", "3"], "docsis.hcs.status": [GOOD]}


def test_decrypted_payload_is_dissected(tshark: Tshark, pcap: Path) -> None:
    """An option of Wireshark shows the payload of a frame that is marked as encrypted."""
    frame = mac_frame(ethernet_pdu(100), privacy(1, enabled=True))
    write_pcap(pcap, [depi(psp(1, frame))])
    names = ("docsis.bpi_en", "docsis.encrypted_payload", "udp.dstport")
    (encrypted,) = tshark.fields(pcap, *names)
    (decrypted,) = tshark.fields(
        pcap, *names, options=("-o", "docsis.dissect_encrypted_frames:TRUE")
    )
    assert encrypted["udp.dstport"] == []
    assert len(bytes.fromhex(encrypted["docsis.encrypted_payload"][0])) == 100 - 12
    assert decrypted["udp.dstport"] == ["40000"] and decrypted["docsis.encrypted_payload"] == []
