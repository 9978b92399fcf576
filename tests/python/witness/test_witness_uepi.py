# SPDX-License-Identifier: BSD-3-Clause
"""Tests the independent decoder's UEPI: vectors, round trips, random bytes, joined bursts."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vcmts.witness.burst import Burst, decode_bursts, encode_burst
from vcmts.witness.depi import Segment
from vcmts.witness.docsis import SegmentHeader, decode_segment_header, encode_segment_header
from vcmts.witness.uepi import (
    Equalizer,
    OfdmaHeader,
    OfdmaTrailer,
    RequestRecord,
    ScQamHeader,
    ScQamTrailer,
    TrailerFlag,
    UepiError,
    Vendor,
    decode_ofdma_header,
    decode_ofdma_trailer,
    decode_request_record,
    decode_sc_qam_header,
    decode_sc_qam_trailer,
    encode_header,
    encode_request_record,
    encode_trailer,
)

VECTORS = Path(__file__).parents[2] / "vectors"
FEC, SNR = TrailerFlag.FEC_VALID, TrailerFlag.SNR_VALID
MEASURED = FEC | SNR | TrailerFlag.POWER_VALID | TrailerFlag.TIMING_VALID
RANGING = TrailerFlag.RANGING_REQUIRED | TrailerFlag.SNR_LOW | FEC | SNR
UNUSUAL = TrailerFlag.PHY_ERROR | TrailerFlag.HIGH_ENERGY | TrailerFlag.LOW_ENERGY
MAX = 0xFFFFFFFF

Unit = ScQamHeader | OfdmaHeader | ScQamTrailer | OfdmaTrailer | RequestRecord


def vectors(name: str) -> dict[str, bytes]:
    """The vectors of a file, by name."""
    lines = (VECTORS / name).read_text().splitlines()
    pairs = (line.split(":") for line in lines if line and not line.startswith("#"))
    return {name: bytes.fromhex(text) for name, text in pairs}


def equalizer(power: int, frequency_error: int, timing_error: int) -> Equalizer:
    return Equalizer(power & 0xFFFF, frequency_error, timing_error & MAX, bytes(range(96)))


BLOCK = equalizer(-12, 16, -3)
VENDOR = Vendor(0x1095, bytes.fromhex("A1B2C3"))
ALL = UNUSUAL | FEC | SNR | TrailerFlag.EQUALIZER | TrailerFlag.VENDOR

SEGMENTS = {
    "example": SegmentHeader(5, 2, 16, 0),
    "middle": SegmentHeader(6, 2),
    "zero": SegmentHeader(0),
    "highest": SegmentHeader(0x1FFF, 7, 0xFFFF, 0x3FFF),
    "mixed": SegmentHeader(0x1000, 4, 0x8000, 0x2001),
}
UNITS: dict[str, Unit] = {
    "sc_qam_header": ScQamHeader(5, 0x123, 0x01556601),
    "sc_qam_header_no_burst": ScQamHeader(255, 0x3FFF, MAX, True, 3),
    "sc_qam_trailer": ScQamTrailer(5, 1, 0, 0x92, FEC | SNR),
    "sc_qam_trailer_flag": ScQamTrailer(5, 1, 0, 0x92, FEC | SNR | TrailerFlag.EQUALIZER),
    "sc_qam_trailer_block": ScQamTrailer(0, 2, 255, 1, RANGING | TrailerFlag.EQUALIZER, BLOCK),
    "sc_qam_trailer_silent": ScQamTrailer(0, 2, 255, 1, RANGING, BLOCK),
    "sc_qam_trailer_vendor": ScQamTrailer(
        5, 1, 0, 0x92, FEC | SNR | TrailerFlag.VENDOR, None, VENDOR
    ),
    "sc_qam_trailer_both": ScQamTrailer(
        *(0xFFFF, 255, 255, 0xFFFF),
        flags=ALL,
        equalizer=equalizer(0x8000, 0x7FFF, 0x80000000),
        vendor=replace(VENDOR, vendor_id=0xFFFFFF),
        version=3,
    ),
    "sc_qam_trailer_empty": ScQamTrailer(0, 0, 0, 0, TrailerFlag.VENDOR, None, Vendor(0x1095, b"")),
    "sc_qam_request": RequestRecord(
        5, 16, 0x123, 0x123, 0x01556601, 0x00010007, 2, n_bytes=True, piggyback=True
    ),
    "sc_qam_request_frame": RequestRecord(1, 9, 0x3FFF, 0x123, 0x01556601, 0x00010007),
    "sc_qam_request_highest": RequestRecord(
        255, 0xFFFF, 0x3FFF, 0x3FFF, MAX, MAX, 7, True, True, 3
    ),
    "ofdma_header": OfdmaHeader(5, 0x123, 0x01556601, 7, 2048, segment_header=True),
    "ofdma_header_no_burst": OfdmaHeader(255, 0x3FFF, MAX, MAX, MAX, no_burst=True),
    "ofdma_trailer": OfdmaTrailer(7, 5, 1, 0, 146, -12, 3, MEASURED),
    "ofdma_trailer_extreme": OfdmaTrailer(
        MAX, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, -0x8000, -0x80000000, RANGING | UNUSUAL | MEASURED
    ),
    "ofdma_trailer_empty": OfdmaTrailer(8, 0, 0, 0, flags=TrailerFlag.LOW_ENERGY),
    "ofdma_request": RequestRecord(
        5, 16, 0x123, 0x123, 0x01556601, 0x00010007, 2, True, True, version=1
    ),
    "ofdma_request_frame": RequestRecord(1, 9, 0x3FFF, 0x123, 0x01556601, 0x00010007, version=1),
}


def encode(unit: Unit) -> bytes:
    if isinstance(unit, RequestRecord):
        return encode_request_record(unit)
    if isinstance(unit, ScQamHeader | OfdmaHeader):
        return encode_header(unit)
    return encode_trailer(unit)


def decode(name: str, data: bytes) -> Unit:
    if "_request" in name:
        return decode_request_record(data, ofdma=name.startswith("ofdma"))
    if "_header" in name:
        return (decode_ofdma_header if "ofdma" in name else decode_sc_qam_header)(data)
    return (decode_ofdma_trailer if "ofdma" in name else decode_sc_qam_trailer)(data)


def test_units_equal_shared_vectors() -> None:
    """tests/unit/wire/test_uepi.c reads the same values from this file."""
    wires = vectors("uepi.txt")
    assert {name: encode(unit) for name, unit in UNITS.items()} == wires
    assert {name: decode(name, wire) for name, wire in wires.items()} == UNITS


def test_segment_headers_equal_shared_vectors() -> None:
    """tests/unit/wire/test_segment.c reads the same values from this file."""
    wires = vectors("segment.txt")
    assert {name: encode_segment_header(header) for name, header in SEGMENTS.items()} == wires
    assert {name: decode_segment_header(wire) for name, wire in wires.items()} == SEGMENTS


@pytest.mark.parametrize("name", UNITS)
def test_truncated_unit_is_refused(name: str) -> None:
    wire = vectors("uepi.txt")[name]
    for length in range(len(wire)):
        if "sc_qam_trailer_" in name and length == 8 and not wire[1] & 1:
            continue  # a valid trailer without its block
        with pytest.raises(UepiError):
            decode(name, wire[:length])
    with pytest.raises(UepiError):
        decode(name, wire + b"\0")


byte, word, long = st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, MAX)
sid, version = st.integers(0, 0x3FFF), st.integers(0, 3)
sc_qam_headers = st.builds(ScQamHeader, byte, sid, long, st.booleans(), version)
ofdma_headers = st.builds(OfdmaHeader, byte, sid, long, long, long, st.booleans(), st.booleans())
ofdma_trailers = st.builds(
    OfdmaTrailer,
    *(long, word, word, word, word),
    st.integers(-0x8000, 0x7FFF),
    st.integers(-0x80000000, 0x7FFFFFFF),
    st.sets(st.sampled_from(sorted(RANGING | UNUSUAL | MEASURED))).map(
        lambda flags: TrailerFlag(sum(flags))
    ),
)
blocks = st.builds(Equalizer, word, word, long, st.binary(min_size=96, max_size=96))
vendors = st.builds(Vendor, st.integers(0, 0xFFFFFF), st.binary(max_size=255))
requests = st.builds(
    RequestRecord,
    *(byte, word, sid, sid, long, long),
    st.none() | st.integers(0, 7),
    st.booleans(),
    st.booleans(),
    version,
)


@given(st.one_of(sc_qam_headers, ofdma_headers, ofdma_trailers, requests))
def test_encoded_unit_is_decoded(unit: Unit) -> None:
    names = {ScQamHeader: "sc_qam_header", OfdmaHeader: "ofdma_header"}
    names |= {OfdmaTrailer: "ofdma_trailer", RequestRecord: "sc_qam_request"}
    assert decode(names[type(unit)], encode(unit)) == unit


@given(*(word, byte, byte, word), st.none() | blocks, st.none() | vendors, st.booleans(), version)
def test_encoded_sc_qam_trailer_is_decoded(
    good: int,
    corrected: int,
    uncorrectable: int,
    snr: int,
    block: Equalizer | None,
    vendor: Vendor | None,
    flag: bool,
    number: int,
) -> None:
    flags = TrailerFlag(flag * TrailerFlag.EQUALIZER | (vendor is not None) * TrailerFlag.VENDOR)
    counts = (good, corrected, uncorrectable)
    trailer = ScQamTrailer(*counts, snr, flags, block, vendor, number)
    try:
        wire = encode_trailer(trailer)
    except UepiError:
        # a vendor field that would be decoded as the end of a block, or the reverse
        assert vendor and (block is not None) != flag
        return
    assert decode_sc_qam_trailer(wire) == trailer


@given(st.binary(max_size=130), st.sampled_from(list(UNITS)), st.booleans())
def test_random_unit_is_refused_or_encoded_back(data: bytes, name: str, own_version: bool) -> None:
    """An accepted unit is encoded to the same bytes."""
    if own_version and data:
        data = bytes([data[0] & 0x3F | 0x40]) + data[1:]
    try:
        unit = decode(name, data)
    except UepiError as error:
        assert str(error)
        return
    assert encode(unit) == data


@pytest.mark.parametrize(
    ("name", "wire", "text"),
    [
        ("sc_qam_header", "0105012301556601", "reserved"),
        ("sc_qam_header", "0005412301556601", "SID: reserved"),
        ("ofdma_header", "10050123" + "00" * 12, "version 0"),
        ("ofdma_header", "51050123" + "00" * 12, "reserved"),
        ("ofdma_trailer", "403E" + "00" * 18, "reserved"),
        ("ofdma_trailer", "803C" + "00" * 18, "version 2"),
        ("ofdma_request", "17" + "00" * 15, "version 0"),
        ("sc_qam_request", "08" + "00" * 15, "not valid"),
        ("sc_qam_request", "0000 0000 4000" + "00" * 10, "SIDs"),
        ("sc_qam_trailer", "2000" + "00" * 6, "reserved"),
        ("sc_qam_trailer", "0000" + "00" * 7, "9 bytes without vendor"),
        ("sc_qam_trailer", "0001" + "00" * 6, "no vendor field fits"),
        ("sc_qam_trailer", "0001" + "00" * 9 + "02A1", "no vendor field fits"),
    ],
)
def test_invalid_unit_is_refused(name: str, wire: str, text: str) -> None:
    with pytest.raises(UepiError, match=text):
        decode(name, bytes.fromhex(wire))


@pytest.mark.parametrize(
    "invalid",
    [
        ScQamHeader(256, 0, 0),
        ScQamHeader(0, 0x4000, 0),
        ScQamHeader(0, 0, 1 << 32),
        ScQamHeader(0, 0, 0, version=4),
        OfdmaHeader(0, 0, 0, 1 << 32, 0),
        OfdmaTrailer(0, 0, 0, 0, power=0x8000),
        OfdmaTrailer(0, 0, 0, 0, flags=TrailerFlag.EQUALIZER),
        ScQamTrailer(0, 256, 0, 0),
        ScQamTrailer(0, 0, 0, 0, TrailerFlag.POWER_VALID),
        ScQamTrailer(0, 0, 0, 0, TrailerFlag.VENDOR),
        ScQamTrailer(0, 0, 0, 0, vendor=Vendor(0, bytes(256))),
        ScQamTrailer(0, 0, 0, 0, equalizer=Equalizer(0, 0, 0, bytes(95))),
        RequestRecord(0, 0, 0, 0, 0, 0, sid_cluster=8),
    ],
)
def test_encoder_refuses_invalid_values(invalid: Unit) -> None:
    with pytest.raises(UepiError):
        encode(invalid)


@given(
    st.lists(st.tuples(ofdma_headers, st.binary(max_size=40), ofdma_trailers), max_size=4),
    st.lists(st.integers(0, 40), max_size=5),
)
def test_encoded_bursts_are_decoded(
    units: list[tuple[OfdmaHeader, bytes, OfdmaTrailer]], positions: list[int]
) -> None:
    bursts = []
    for header, data, trailer in units:
        payload = b"" if header.no_burst else data
        assume(len(payload) <= header.grant_size)
        bursts.append(Burst(header, payload, replace(trailer, burst_id=header.burst_id)))
    segments = [segment for burst in bursts for segment in encode_burst(burst, sorted(positions))]
    assert decode_bursts(segments, ofdma=True) == bursts


HEADER, TRAILER = encode_header(ScQamHeader(5, 1, 0)), encode_trailer(ScQamTrailer(1, 0, 0, 0))
FIRST, LAST = Segment(HEADER, True, False), Segment(TRAILER, False, True)
MIDDLE = Segment(b"data", False, False)


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        ([FIRST, MIDDLE], "no trailer"),
        ([MIDDLE, LAST], "no unit has begun"),
        ([FIRST, FIRST, LAST], "begins inside"),
        ([Segment(HEADER + TRAILER)], "in one segment"),
        ([replace(FIRST, data=b"\x20" + HEADER[1:]), MIDDLE, LAST], "without burst"),
    ],
)
def test_invalid_segments_are_refused(segments: list[Segment], text: str) -> None:
    with pytest.raises(UepiError, match=text):
        decode_bursts(segments, ofdma=False)


def test_invalid_ofdma_burst_is_refused() -> None:
    header, trailer = OfdmaHeader(5, 1, 0, 7, 4), OfdmaTrailer(7, 1, 0, 0)
    good = Burst(header, b"data", trailer)
    assert decode_bursts(encode_burst(good), ofdma=True) == [good]
    for burst in (replace(good, payload=b"large"), replace(good, trailer=OfdmaTrailer(8, 1, 0, 0))):
        with pytest.raises(UepiError):
            decode_bursts(encode_burst(burst), ofdma=True)
