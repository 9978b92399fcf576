# SPDX-License-Identifier: BSD-3-Clause
"""Tests the dissection of UEPI units: headers, trailers, request records."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness import uepi
from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Segment
from wireshark import uepi_packets as up
from wireshark.psp_packets import write_pcap
from wireshark.tshark import Tshark
from wireshark.uepi_units import H6, H7, RECORD, T6, T7, unit

FRAME = up.frame(200, 5001)
GOOD = "1"  # HCS status
ALL_COMMON = uepi.TrailerFlag(0x1F0C)
Values = dict[str, list[str]]


def values(row: Values, group: str) -> dict[str, list[int]]:
    """The numbers and booleans of a packet, by their field names in the group."""
    start = f"docsis_uepi.{group}."
    booleans = {"True": "1", "False": "0"}
    return {
        name.removeprefix(start): [int(booleans.get(v, v), 0) for v in cells]
        for name, cells in row.items()
        if name.startswith(start)
    }


def query(tshark: Tshark, pcap: Path, group: str, *names: str) -> list[dict[str, list[int]]]:
    rows = tshark.fields(pcap, *(f"docsis_uepi.{group}.{name}" for name in names))
    return [values(row, group) for row in rows]


@pytest.mark.parametrize("no_burst", [False, True])
def test_sc_qam_header_fields(tshark: Tshark, pcap: Path, no_burst: bool) -> None:
    header = uepi.ScQamHeader(9, 0x3FFF, 0x01556601, no_burst=no_burst, version=2)
    unit = encode_burst(Burst(header, b"" if no_burst else FRAME, up.PLAIN))
    write_pcap(pcap, [*up.setup(up.DATA, 6), up.upstream(1, unit)])
    names = ("version", "no_burst", "iuc", "sid", "start_minislot", "burst_id", "segment_header")
    assert query(tshark, pcap, "header", *names)[2] == {
        "version": [2], "no_burst": [no_burst], "iuc": [9], "sid": [0x3FFF],
        "start_minislot": [0x01556601], "burst_id": [], "segment_header": [],
    }  # fmt: skip


def test_ofdma_header_and_trailer_fields(tshark: Tshark, pcap: Path) -> None:
    """The examples of docs/uepi-formats.md."""
    header = bytes.fromhex("50050123 01556601 00000007 00000800")
    trailer = bytes.fromhex("403C0092 00000007 00050001 0000FFF4 00000003")
    (payload,) = up.segment_frames([FRAME], [])
    unit = [Segment(header, True, False), Segment(payload, False, False)]
    unit.append(Segment(trailer, False, True))
    write_pcap(pcap, [*up.setup(up.DATA, 7), up.upstream(1, unit)])
    names = ("version", "no_burst", "segment_header", "iuc", "sid", "start_minislot", "burst_id")
    assert query(tshark, pcap, "header", *names, "grant_size")[2] == {
        "version": [1], "no_burst": [0], "segment_header": [1], "iuc": [5], "sid": [0x123],
        "start_minislot": [0x01556601], "burst_id": [7], "grant_size": [2048],
    }  # fmt: skip
    first = ("power_valid", "timing_valid", "fec_valid", "snr_valid", "mer", "burst_id", "good")
    second = ("corrected", "uncorrectable", "power", "timing", "version", "ranging_required", "snr")
    assert query(tshark, pcap, "trailer", *first, *second)[2] == {
        "power_valid": [1], "timing_valid": [1], "fec_valid": [1], "snr_valid": [1],
        "mer": [0x92], "burst_id": [7], "good": [5], "corrected": [1], "uncorrectable": [0],
        "power": [-12], "timing": [3], "version": [1], "ranging_required": [0], "snr": [],
    }  # fmt: skip
    assert "MER 36.50 dB, -1.2 dB from the target, 14.6 ns late" in tshark.read(pcap, "-V")
    assert tshark.uepi_experts(pcap)[2] == []


def test_each_trailer_flag(tshark: Tshark, pcap: Path) -> None:
    """Each flag of the witness sets one field."""
    names = {
        "ranging_required": uepi.TrailerFlag.RANGING_REQUIRED, "snr_low": uepi.TrailerFlag.SNR_LOW,
        "phy_error": uepi.TrailerFlag.PHY_ERROR, "high_energy": uepi.TrailerFlag.HIGH_ENERGY,
        "low_energy": uepi.TrailerFlag.LOW_ENERGY, "fec_valid": uepi.TrailerFlag.FEC_VALID,
        "snr_valid": uepi.TrailerFlag.SNR_VALID, "equaliser_valid": uepi.TrailerFlag.EQUALIZER,
    }  # fmt: skip
    header = uepi.ScQamHeader(5, up.SID, 0)
    units = [
        encode_burst(Burst(header, FRAME, replace(up.PLAIN, flags=flag))) for flag in names.values()
    ]
    write_pcap(
        pcap, [*up.setup(up.DATA, 6), *(up.upstream(n, unit) for n, unit in enumerate(units))]
    )
    for name, row in zip(names, query(tshark, pcap, "trailer", *names)[2:], strict=True):
        assert row == {field: [int(field == name)] for field in names}


BLOCK = uepi.Equalizer(0xFFF0, 3, 0x80000001, bytes(range(96)))
VENDOR = uepi.Vendor(0x00ABCD, b"\x01\x02\x03")
TRAILERS = {
    "plain": up.PLAIN,
    "block": replace(up.PLAIN, equalizer=BLOCK, flags=uepi.TrailerFlag.EQUALIZER),
    "block, not valid": replace(up.PLAIN, equalizer=BLOCK),
    "vendor": replace(up.PLAIN, vendor=VENDOR),
    "empty vendor": replace(up.PLAIN, vendor=uepi.Vendor(1, b"")),
    "both": replace(up.PLAIN, equalizer=BLOCK, vendor=VENDOR, flags=ALL_COMMON),
    "either, Q set": replace(
        up.PLAIN,
        # the frequency error has the position and value of a vendor field's length
        equalizer=uepi.Equalizer(0, 104, 0, bytes(96)),
        vendor=uepi.Vendor(1, b""),
        flags=uepi.TrailerFlag.EQUALIZER,
    ),
    "either, Q clear": replace(up.PLAIN, vendor=uepi.Vendor(1, bytes(104))),
}


def trailer_values(trailer: uepi.ScQamTrailer) -> dict[str, list[int]]:
    """What the dissector must show of a trailer, by field name."""
    block, vendor = trailer.equalizer, trailer.vendor
    coefficients = struct.unpack("!24I", block.coefficients) if block else ()
    return {
        "good": [5], "corrected": [1], "uncorrectable": [0], "snr": [0x92],
        "vendor.id": [vendor.vendor_id] if vendor else [],
        "vendor.length": [len(vendor.data)] if vendor else [],
        "equaliser.power": [block.power] if block else [],
        "equaliser.frequency_error": [block.frequency_error] if block else [],
        "equaliser.timing_error": [block.timing_error] if block else [],
        "equaliser.coefficient": list(coefficients),
    }  # fmt: skip


def test_optional_parts_of_sc_qam_trailers(tshark: Tshark, pcap: Path) -> None:
    """Equaliser blocks and vendor fields in all combinations."""
    header = uepi.ScQamHeader(5, up.SID, 0)
    units = [encode_burst(Burst(header, FRAME, trailer)) for trailer in TRAILERS.values()]
    write_pcap(
        pcap, [*up.setup(up.DATA, 6), *(up.upstream(n, unit) for n, unit in enumerate(units))]
    )
    results = query(tshark, pcap, "trailer", *trailer_values(up.PLAIN))[2:]
    for (name, trailer), row in zip(TRAILERS.items(), results, strict=True):
        assert row == trailer_values(trailer), name
    rows = tshark.fields(pcap, "docsis_uepi.trailer.vendor.data")[2:]
    sent = [one.vendor.data.hex() if one.vendor else "" for one in TRAILERS.values()]
    assert [list(row.values()) for row in rows] == [[[data] if data else []] for data in sent]
    assert not any(tshark.uepi_experts(pcap))


@pytest.mark.parametrize("name", ["either, Q set", "either, Q clear"])
def test_trailer_length_fits_two_layouts(name: str) -> None:
    """Two cases of TRAILERS in which only the flag Q (equaliser valid) decides."""
    data = uepi.encode_trailer(TRAILERS[name])
    assert data[11] == len(data) - 12 and data[115] == len(data) - 116


RECORD_NAMES = (
    "version", "iuc", "size", "scheduled_sid", "sid", "start_minislot", "session",
    "sid_cluster_valid", "sid_cluster", "n_bytes", "piggyback",
)  # fmt: skip


@pytest.mark.parametrize(("subtype", "version"), [(8, 0), (9, 1)])
def test_request_records(tshark: Tshark, pcap: Path, subtype: int, version: int) -> None:
    """Two records in a packet, a segment each."""
    records = [
        uepi.RequestRecord(7, 16, 0x123, 0x124, 0x01556601, up.DATA, 2, True, True, version),
        uepi.RequestRecord(1, 0xFFFF, 0x3FFF, 1, 2, up.DATA + 5, version=version),
    ]
    packet = up.upstream(
        1, *(Segment(uepi.encode_request_record(r)) for r in records), session=up.REQUESTS
    )
    write_pcap(pcap, [*up.setup(up.REQUESTS, subtype), packet])
    assert query(tshark, pcap, "request", *RECORD_NAMES)[2] == {
        "version": [version, version], "iuc": [7, 1], "size": [16, 0xFFFF],
        "scheduled_sid": [0x123, 0x3FFF], "sid": [0x124, 1], "start_minislot": [0x01556601, 2],
        "session": [up.DATA, up.DATA + 5], "sid_cluster_valid": [1, 0], "sid_cluster": [2, 0],
        "n_bytes": [1, 0], "piggyback": [1, 0],
    }  # fmt: skip
    assert tshark.uepi_experts(pcap)[2] == []
    text = tshark.read(pcap)
    assert "Request, SID 0x0124: 16 N-byte units" in text
    assert "Request, SID 0x0001: 65535 minislots" in text


def test_ranging_requests_are_dissected(tshark: Tshark, pcap: Path) -> None:
    packets = [
        *up.setup(up.RANGING, 11),
        up.upstream(1, up.sc_qam(up.ranging_request(0x55)), session=up.RANGING),
        *up.setup(up.RANGING + 1, 12),
        up.upstream(1, up.ofdma(up.ranging_request(0x66)), session=up.RANGING + 1),
    ]
    write_pcap(pcap, packets)
    names = ("psp.subtype", "docsis_mgmt.type", "docsis_rngreq.sid", "docsis.hcs.status")
    rows = tshark.fields(pcap, *names)
    assert list(rows[2].values()) == [["RNG-REQ SC-QAM"], ["4"], ["85"], [GOOD]]
    assert list(rows[5].values()) == [["RNG-REQ OFDMA"], ["4"], ["102"], [GOOD]]


@pytest.mark.parametrize(("subtype", "encode"), [(6, up.sc_qam), (7, up.ofdma)])
def test_burst_in_several_packets_is_reassembled(
    tshark: Tshark, pcap: Path, subtype: int, encode: object
) -> None:
    """Only the packet with the trailer shows the burst."""
    assert callable(encode)
    header, *parts, trailer = encode(FRAME, 3, 100)
    packets = [
        up.upstream(1, header),
        up.upstream(2, *parts[:2]),
        up.upstream(3, parts[2]),
        up.upstream(4, trailer),
    ]
    write_pcap(pcap, [*up.setup(up.DATA, subtype), *packets])
    names = ("docsis_uepi.header.sid", "docsis_uepi.trailer.good", "udp.srcport", "psp.fragment")
    for options in ((), ("-2",)):
        rows = tshark.fields(pcap, *names, options=options)[2:]
        sid = [f"0x{up.SID:04x}"]
        assert [r["docsis_uepi.header.sid"] for r in rows] == [sid, [], [], sid]
        assert [r["docsis_uepi.trailer.good"] for r in rows] == [[], [], [], ["5"]]
        assert [r["udp.srcport"] for r in rows] == [[], [], [], ["5001"]]
        assert rows[3]["psp.fragment"] == ["3", "4", "4", "5", "6"]
        assert tshark.uepi_experts(pcap, *options) == [[]] * 6
    rows = tshark.fields(pcap, "psp.reassembled_in", options=("-2",))[2:]
    assert [r["psp.reassembled_in"] for r in rows] == [["6"], ["6", "6"], ["6"], []]


def test_packet_with_several_bursts(tshark: Tshark, pcap: Path) -> None:
    """The end of one, a whole one, the begin of a third. PSP flows are reassembled separately."""
    one, two, three = (up.ofdma(up.frame(100, 5000 + n), burst_id=n, sid=n + 1) for n in range(3))
    packets = [
        up.upstream(1, one[0]),
        up.upstream(77, three[0], flow=3),
        up.upstream(2, one[1:], two, three[0]),
        up.upstream(78, three[1:], flow=3),
    ]
    write_pcap(pcap, [*up.setup(up.DATA, 7), *packets])
    names = ("docsis_uepi.header.burst_id", "udp.srcport", "docsis_uepi.trailer.burst_id")
    rows = tshark.fields(pcap, *names)[2:]
    # burst 2 begins in the third packet, which shows its header with the segment
    assert rows[2] == {
        names[0]: ["2", "0", "1"], "udp.srcport": ["5000", "5001"], names[2]: ["0", "1"]
    }  # fmt: skip
    assert rows[3] == {names[0]: ["2"], "udp.srcport": ["5002"], names[2]: ["2"]}


def test_incomplete_burst_shows_its_parts(tshark: Tshark, pcap: Path) -> None:
    """Header and trailer of an incomplete burst are shown; the next burst is dissected."""
    header, first, second, trailer = up.sc_qam(FRAME, 50)
    packets = [
        up.upstream(1, header, first),
        up.upstream(3, second, trailer),  # 2 is missing
        up.upstream(4, up.sc_qam(up.frame(90, 5002))),
    ]
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    assert tshark.experts(pcap)[3] == ["gap", "lost_middle"]
    rows = tshark.fields(pcap, "docsis_uepi.header.sid", "docsis_uepi.trailer.good", "udp.srcport")
    sid = [f"0x{up.SID:04x}"]
    assert [list(row.values()) for row in rows[2:]] == [
        [sid, [], []], [[], ["5"], []], [sid, ["5"], ["5002"]]
    ]  # fmt: skip


LOST7 = uepi.encode_trailer(uepi.OfdmaTrailer(7, 1, 0, 300, flags=uepi.TrailerFlag.FEC_VALID))
MALFORMED = [
    (6, unit(H6[:7], FRAME, T6), ["header"], False),
    (6, unit(H6 + b"\0", FRAME, T6), ["header"], False),
    (6, unit(H6, FRAME, T6[:7]), ["trailer"], True),
    (6, unit(H6, FRAME, T6 + b"\0"), ["odd_trailer"], True),
    (6, unit(b"\x20" + H6[1:], FRAME, T6), ["no_burst"], True),
    (6, unit(H6, T6), ["no_payload"], False),
    (6, (Segment(H6), ), ["one_segment"], False),
    (7, unit(H7[:15], FRAME, T7), ["header"], False),
    (7, unit(b"\x80" + H7[1:], FRAME, T7), ["version"], False),
    (7, unit(H7, FRAME, b"\x00" + T7[1:]), ["version"], False),
    (7, unit(H7, FRAME, T7[:19]), ["trailer"], False),
    (7, unit(H7, FRAME, T7[:7] + b"\x08" + T7[8:]), ["burst_id"], False),
    (7, unit(H7[:12] + b"\0\0\0\x10", FRAME, T7), ["grant"], True),
    (7, unit(H7, FRAME, LOST7), ["fec"], True),
    (8, (Segment(RECORD[:15]),), ["record"], False),
    (8, unit(RECORD[:8], RECORD[8:]), ["not_one_segment"] * 2, False),
    (9, (Segment(RECORD),), ["version"], False),
]  # fmt: skip


def test_malformed_units(tshark: Tshark, pcap: Path) -> None:
    """Each malformed unit has its expert info, in its own session. `used`: the payload is dissected
    nevertheless, as a receiver would use it."""
    control, packets = [], []
    for session, (subtype, malformed, _, _) in enumerate(MALFORMED, up.DATA):
        control += up.setup(session, subtype)
        packets.append(up.upstream(1, malformed, session=session))
    write_pcap(pcap, [*control, *packets])
    options = ("-o", "docsis_uepi.sid_per_session:TRUE")
    results = tshark.uepi_experts(pcap, *options)[len(control) :]
    rows = tshark.fields(pcap, "udp.srcport", "psp.seq", options=options)[len(control) :]
    for case, names, row in zip(MALFORMED, results, rows, strict=True):
        subtype, _, expected, used = case
        assert names == sorted(set(expected)), (subtype, expected)
        assert row == {"udp.srcport": ["5001"] if used else [], "psp.seq": ["1"]}, expected
