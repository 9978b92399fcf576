# SPDX-License-Identifier: BSD-3-Clause
"""Tests how the dissector gets parameters of upstream sessions: packets, control, preferences."""

from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness.depi import Segment
from vcmts.witness.uepi import RequestRecord, encode_request_record
from wireshark.psp_packets import CORE, RPD, data_frame, depi, map_frame, psp, write_pcap
from wireshark.tshark import Tshark
from wireshark.uepi_packets import DATA, SID, frame, ofdma, sc_qam, segment_frames, setup, upstream
from wireshark.uepi_units import H6, H7, RECORD, T6, T7, unit

FRAME = frame(200, 5001)


def test_sessions_are_detected_from_packets(tshark: Tshark, pcap: Path) -> None:
    """Bursts are detected by header and payload, records by the session that they name."""
    (segment,) = segment_frames([FRAME], [])
    record = RequestRecord(1, 1, 1, 0x77, 1, 6)
    packets = [
        upstream(1, Segment(encode_request_record(record)), session=20),
        upstream(1, sc_qam(segment), session=6),
        upstream(1, sc_qam(FRAME), session=16),
        upstream(1, ofdma(segment, segment_header=True), session=7),
        upstream(1, ofdma(b""), session=17),
        upstream(2, Segment(encode_request_record(record)), session=20),
        upstream(
            1, Segment(encode_request_record(replace(record, session=7, version=1))), session=21
        ),
    ]
    write_pcap(pcap, packets)
    names = ("psp.seq", "docsis_uepi.header.burst_id", "docsis_uepi.request.sid", "udp.srcport")
    assert [list(row.values()) for row in tshark.fields(pcap, *names)] == [
        [[], [], [], []],  # session 6 is unknown yet
        [["1"], [], [], ["5001"]],
        [["1"], [], [], ["5001"]],
        [["1"], ["7"], [], ["5001"]],
        [["1"], ["7"], [], []],
        [["2"], [], ["0x0077"], []],
        [["1"], [], ["0x0077"], []],
    ]


def test_other_packets_are_not_detected_as_bursts(tshark: Tshark, pcap: Path) -> None:
    """Neither are later packets of a downstream session, even if they look like bursts."""
    burst = unit(H6, FRAME, T6)
    packets = [
        upstream(1, unit(H6, bytes(100), T6), session=1),  # no correct HCS
        upstream(1, unit(H7, T7[:7] + b"\x09" + T7[8:]), session=2),
        upstream(1, unit(b"\x1f" + H6[1:], FRAME, T6), session=3),  # reserved bits
        upstream(1, Segment(RECORD), session=4),
        depi(psp(1, map_frame()), 5, RPD, CORE),
        depi(psp(2, data_frame(100)), 5, RPD, CORE),
        upstream(3, burst, session=5),
    ]
    write_pcap(pcap, packets)
    rows = tshark.fields(pcap, "psp.seq", "docsis_uepi")
    assert [r["docsis_uepi"] for r in rows] == [[]] * 7
    assert [r["psp.seq"] for r in rows[:4]] == [[]] * 4


@pytest.mark.parametrize("setting", ["0:uepi-sc-qam", "auto:uepi-sc-qam", "0:6", "auto:11"])
def test_preference_sets_upstream_session(tshark: Tshark, pcap: Path, setting: str) -> None:
    """By kind or by subtype. It shows bursts that are not detected."""
    write_pcap(pcap, [upstream(1, unit(H6, T6))])
    names = ("docsis_uepi.header.sid", "psp.subtype")
    assert tshark.fields(pcap, *names) == [{name: [] for name in names}]
    options = ("-o", f"psp.sessions:0x{DATA:08x}={setting}", "-o", "psp.extra:2 bytes")
    (row,) = tshark.fields(pcap, *names, options=options)
    assert row["docsis_uepi.header.sid"] == [f"0x{SID:04x}"]
    subtypes = {"6": ["UEPI SC-QAM data"], "11": ["RNG-REQ SC-QAM"]}
    assert row["psp.subtype"] == subtypes.get(setting.partition(":")[2], [])


def test_preference_sets_request_sessions(tshark: Tshark, pcap: Path) -> None:
    packets = [upstream(1, Segment(RECORD), session=n) for n in (8, 9, 10)]
    write_pcap(pcap, packets)
    options = ("-o", "psp.sessions:8=0:req-sc-qam,9=0:req-ofdma,10=0:9")
    rows = tshark.fields(pcap, "docsis_uepi.request.sid", options=options)
    assert rows == [{"docsis_uepi.request.sid": ["0x0001"]}] * 3
    assert tshark.uepi_experts(pcap, *options) == [[], ["version"], ["version"]]


def test_invalid_subtype_is_reported(tshark: Tshark, pcap: Path) -> None:
    write_pcap(pcap, [upstream(1, unit(H6, T6))])
    script = tshark.folder / "wireshark" / "docsis-psp.lua"
    settings = "1=0:17,2=0:1,3=0:uepi,4=0:6"
    text = tshark.run(
        ["sh", "-c", f"tshark -X lua_script:{script} -r {pcap} -o psp.sessions:{settings} 2>&1"]
    )
    assert "psp.sessions: not understood: 1=0:17, 2=0:1, 3=0:uepi" in text and "4=0:6" not in text


@pytest.mark.parametrize("control", [[], setup(DATA, 6)])
def test_extra_preference_does_not_apply_upstream(
    tshark: Tshark, pcap: Path, control: list[bytes]
) -> None:
    """`psp.extra` is for downstream sessions of the same capture."""
    write_pcap(pcap, [*control, upstream(1, sc_qam(FRAME)), upstream(2, sc_qam(FRAME))])
    rows = tshark.fields(pcap, "udp.srcport", options=("-o", "psp.extra:2 bytes"))
    assert rows[len(control) :] == [{"udp.srcport": ["5001"]}] * 2
