# SPDX-License-Identifier: BSD-3-Clause
"""Tests checksums, pcap files and encryption of the independent decoder."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness import bpi, crc
from vcmts.witness.pcapfile import PcapError, Record, build_pcap, parse_pcap, read_pcap


def hx(text: str) -> bytes:
    return bytes.fromhex(text)


# Checksums


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"123456789", 0x906E),
        (hx("0D0101234567890123450001"), 0x8CDD),
        (hx("033F"), 0xEC5B),
        (b"", 0),
    ],
)
def test_crc16_x25(data: bytes, value: int) -> None:
    assert crc.crc16_x25(data) == value
    assert crc.crc16_x25(data + value.to_bytes(2, "little")) == crc.CRC16_X25_RESIDUE


def test_frame_check_sequence() -> None:
    assert crc.frame_check_sequence(b"123456789") == hx("2639F4CB")


def test_internet_checksum() -> None:
    assert crc.internet_checksum(hx("0001F203F4F5F6F7")) == 0x220D  # RFC 1071, section 3
    assert crc.internet_checksum(hx("0001F203F4F5F6F7220D")) == 0
    assert crc.internet_checksum(b"\x01") == 0xFEFF
    assert crc.internet_checksum(b"") == crc.internet_checksum(bytes(6)) == 0xFFFF


@given(st.lists(st.integers(0, 0xFFFF)))
def test_internet_checksum_is_a_sum(words: list[int]) -> None:
    """A one's complement sum of 16-bit words."""
    total = 0
    for word in words:
        total += word
        total = (total & 0xFFFF) + (total >> 16)
    data = struct.pack(f">{len(words)}H", *words)
    assert crc.internet_checksum(data) == total ^ 0xFFFF


# pcap

records = st.builds(
    lambda time_ns, data, more: Record(time_ns, data, len(data) + more),
    st.integers(0, 2**32 * 10**9 - 1),
    st.binary(max_size=40),
    st.integers(0, 2000),
)


@given(st.lists(records, max_size=5), st.booleans(), st.sampled_from("<>"))
def test_written_pcap_is_read(packets: list[Record], nanoseconds: bool, byte_order: str) -> None:
    if not nanoseconds:
        packets = [replace(packet, time_ns=packet.time_ns // 1000 * 1000) for packet in packets]
    capture = parse_pcap(build_pcap(packets, 143, nanoseconds, byte_order))
    assert list(capture.records) == packets
    assert (capture.linktype, capture.nanoseconds, capture.byte_order) == (
        143,
        nanoseconds,
        byte_order,
    )


def test_truncated_pcap_is_refused() -> None:
    data = build_pcap([Record(1_500_000_000, b"abc", 3), Record(2_000_000_001, b"", 0)])
    whole = {24, 24 + 19, len(data)}
    for length in range(len(data) + 1):
        if length in whole:
            assert len(parse_pcap(data[:length]).records) == sorted(whole).index(length)
        else:
            with pytest.raises(PcapError):
                parse_pcap(data[:length])


@given(st.binary(max_size=80), st.sampled_from(["", "D4C3B2A1", "A1B2C3D4", "4D3CB2A1"]))
def test_random_bytes_are_no_pcap(data: bytes, magic: str) -> None:
    try:
        parse_pcap(hx(magic) + data)
    except PcapError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("offset", "word", "text"),
    [
        (0, 0x0A0D0D0A, "pcapng"),
        (0, 0, "not a pcap file"),
        (4, 0x00040003, "version"),
        (28, 10**9, "fraction"),
        (32, 0x7FFFFFFF, "above"),
        (32, 4, "4 bytes captured of 3"),
    ],
)
def test_invalid_pcap_is_refused(tmp_path: Path, offset: int, word: int, text: str) -> None:
    data = bytearray(build_pcap([Record(0, b"abc", 3)]))
    struct.pack_into("<I", data, offset, word)
    path = tmp_path / "broken.pcap"
    path.write_bytes(data)
    with pytest.raises(PcapError, match=f"broken.pcap: .*{text}"):
        read_pcap(path)


def test_pcap_link_type_ignores_fcs_length() -> None:
    data = bytearray(build_pcap([]))
    struct.pack_into("<I", data, 20, 0x54000001)
    assert parse_pcap(bytes(data)).linktype == 1


# Encryption


@pytest.mark.parametrize(("key", "iv"), [(15, 16), (16, 15), (24, 16), (0, 0)])
def test_invalid_key_and_iv_sizes_are_refused(key: int, iv: int) -> None:
    for function in (bpi.encrypt, bpi.decrypt):
        with pytest.raises(bpi.BpiError):
            function(b"", bytes(key), bytes(iv))
