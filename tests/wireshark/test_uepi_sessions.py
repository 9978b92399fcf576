# SPDX-License-Identifier: BSD-3-Clause
"""How tshark gets to know upstream sessions: by packets, control messages, preference."""

from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness.depi import Segment
from vcmts.witness.uepi import RequestRecord, encode_request_record
from wireshark.psp_packets import CORE, RPD, data_frame, depi, map_frame, psp, write_pcap
from wireshark.stage import Stage
from wireshark.uepi_packets import DATA, SID, frame, ofdma, sc_qam, segments_of, told, upstream
from wireshark.uepi_units import H6, H7, RECORD, T6, T7, unit

FRAME = frame(200, 5001)


def test_sessions_are_known_by_their_packets(stage: Stage, pcap: Path) -> None:
    """Without control messages: bursts by header and payload, records by the session they name."""
    (segment,) = segments_of([FRAME], [])
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
    assert [list(row.values()) for row in stage.fields(pcap, *names)] == [
        [[], [], [], []],  # nothing is known of session 6 yet
        [["1"], [], [], ["5001"]],
        [["1"], [], [], ["5001"]],
        [["1"], ["7"], [], ["5001"]],
        [["1"], ["7"], [], []],
        [["2"], [], ["0x0077"], []],
        [["1"], [], ["0x0077"], []],
    ]


def test_what_is_no_burst_is_not_taken_for_one(stage: Stage, pcap: Path) -> None:
    """Nor is a session of the downstream, whatever its fragments look like later."""
    odd = unit(H6, FRAME, T6)
    packets = [
        upstream(1, unit(H6, bytes(100), T6), session=1),  # no HCS is right
        upstream(1, unit(H7, T7[:7] + b"\x09" + T7[8:]), session=2),
        upstream(1, unit(b"\x1f" + H6[1:], FRAME, T6), session=3),  # reserved bits
        upstream(1, Segment(RECORD), session=4),
        depi(psp(1, map_frame()), 5, RPD, CORE),
        depi(psp(2, data_frame(100)), 5, RPD, CORE),
        upstream(3, odd, session=5),
    ]
    write_pcap(pcap, packets)
    rows = stage.fields(pcap, "psp.seq", "docsis_uepi")
    assert [r["docsis_uepi"] for r in rows] == [[]] * 7
    assert [r["psp.seq"] for r in rows[:4]] == [[]] * 4


@pytest.mark.parametrize("wish", ["0:uepi-sc-qam", "auto:uepi-sc-qam", "0:6", "auto:11"])
def test_preference_names_an_upstream_session(stage: Stage, pcap: Path, wish: str) -> None:
    """By kind or by subtype. Bursts of which no packet proves anything are shown then."""
    write_pcap(pcap, [upstream(1, unit(H6, T6))])
    names = ("docsis_uepi.header.sid", "psp.subtype")
    assert stage.fields(pcap, *names) == [{name: [] for name in names}]
    options = ("-o", f"psp.sessions:0x{DATA:08x}={wish}", "-o", "psp.extra:2 bytes")
    (row,) = stage.fields(pcap, *names, options=options)
    assert row["docsis_uepi.header.sid"] == [f"0x{SID:04x}"]
    subtypes = {"6": ["UEPI SC-QAM data"], "11": ["RNG-REQ SC-QAM"]}
    assert row["psp.subtype"] == subtypes.get(wish.partition(":")[2], [])


def test_preference_names_request_sessions(stage: Stage, pcap: Path) -> None:
    packets = [upstream(1, Segment(RECORD), session=n) for n in (8, 9, 10)]
    write_pcap(pcap, packets)
    options = ("-o", "psp.sessions:8=0:req-sc-qam,9=0:req-ofdma,10=0:9")
    rows = stage.fields(pcap, "docsis_uepi.request.sid", options=options)
    assert rows == [{"docsis_uepi.request.sid": ["0x0001"]}] * 3
    assert stage.uepi_experts(pcap, *options) == [[], ["version"], ["version"]]


def test_wrong_subtype_is_named(stage: Stage, pcap: Path) -> None:
    write_pcap(pcap, [upstream(1, unit(H6, T6))])
    script = stage.folder / "wireshark" / "docsis-psp.lua"
    wishes = "1=0:17,2=0:1,3=0:uepi,4=0:6"
    text = stage.run(
        ["sh", "-c", f"tshark -X lua_script:{script} -r {pcap} -o psp.sessions:{wishes} 2>&1"]
    )
    assert "psp.sessions: not understood: 1=0:17, 2=0:1, 3=0:uepi" in text and "4=0:6" not in text


@pytest.mark.parametrize("control", [[], told(DATA, 6)])
def test_preference_for_extra_bytes_is_the_downstreams(
    stage: Stage, pcap: Path, control: list[bytes]
) -> None:
    """Set for the downstream in the same capture, it does not spoil the upstream."""
    write_pcap(pcap, [*control, upstream(1, sc_qam(FRAME)), upstream(2, sc_qam(FRAME))])
    rows = stage.fields(pcap, "udp.srcport", options=("-o", "psp.extra:2 bytes"))
    assert rows[len(control) :] == [{"udp.srcport": ["5001"]}] * 2
