# SPDX-License-Identifier: BSD-3-Clause
"""Tests MAC frames, extended headers, requests and segment headers of the independent decoder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness import docsis
from vcmts.witness.crc import header_check_sequence
from vcmts.witness.ehdr import (
    BpDown,
    BpUp,
    BpUp2,
    DocsisError,
    DsService,
    Element,
    Pad,
    RawElement,
    RequestElement,
    decode_ehdr,
)


def hx(text: str) -> bytes:
    return bytes.fromhex(text)


privacy = (st.integers(0, 15), st.booleans(), st.integers(0, 1), st.integers(0, 0x3FFF))
elements: st.SearchStrategy[Element] = st.one_of(
    st.just(Pad()),
    st.builds(RequestElement, st.integers(0, 255), st.integers(0, 0x3FFF)),
    st.builds(
        BpUp, *privacy, st.integers(0, 15), st.integers(0, 255), st.none() | st.integers(0, 63)
    ),
    st.builds(BpDown, *privacy, st.integers(0, 15)),
    st.builds(BpUp2, *privacy, st.integers(0, 15)),
    st.builds(DsService, st.integers(0, 7)),
    st.builds(DsService, st.integers(0, 7), st.integers(0, 0xFFFFF)),
    st.builds(
        DsService,
        st.integers(0, 7),
        st.integers(0, 0xFFFFF),
        st.integers(0, 0xFFFF),
        st.integers(0, 1),
    ),
    st.builds(RawElement, st.sampled_from([2, 5, 6, 9, 12, 15]), st.binary(max_size=15)),
)
frames = st.builds(
    docsis.Frame,
    st.binary(max_size=64),
    st.lists(elements, max_size=6).map(tuple),
    st.sampled_from([0, 2]),
)


@given(frames)
def test_encoded_frame_is_decoded(frame: docsis.Frame) -> None:
    data = docsis.encode_frame(frame)
    assert docsis.decode_frame(data) == frame
    assert docsis.frame_size(data + b"next") == len(data)


@given(frames, st.data())
def test_truncated_or_extended_frame_is_refused(frame: docsis.Frame, data: st.DataObject) -> None:
    wire = docsis.encode_frame(frame)
    with pytest.raises(DocsisError):
        docsis.decode_frame(wire[: data.draw(st.integers(0, len(wire) - 1))])
    with pytest.raises(DocsisError):
        docsis.decode_frame(wire + b"\0")


@given(frames, st.data())
def test_flipped_header_bit_is_refused(frame: docsis.Frame, data: st.DataObject) -> None:
    wire = bytearray(docsis.encode_frame(frame))
    bit = data.draw(st.integers(0, 8 * frame.header_length - 1))
    wire[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DocsisError):
        docsis.decode_frame(bytes(wire))


@given(st.binary(max_size=40), st.integers(0, 40))
def test_random_header_with_valid_hcs(ehdr: bytes, pdu: int) -> None:
    """An accepted header is encoded to the same bytes."""
    header = bytes([1, len(ehdr)]) + (len(ehdr) + pdu).to_bytes(2, "big") + ehdr
    wire = header + header_check_sequence(header) + bytes(pdu)
    try:
        frame = docsis.decode_frame(wire)
    except DocsisError:
        return
    assert docsis.encode_frame(frame) == wire


@given(st.binary(max_size=12))
def test_random_bytes_are_no_frame(data: bytes) -> None:
    for decode in (
        docsis.decode_frame,
        docsis.decode_request,
        docsis.decode_segment_header,
        decode_ehdr,
    ):
        try:
            decode(data)
        except DocsisError as error:
            assert str(error)
    docsis.frame_size(data)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("40000000", "reserved"),
        ("00010000", "MAC_PARM 1"),
        ("02000000", "FC_PARM of a packet PDU"),
        ("CA000000", "FC_PARM 5"),
        ("C6000000", "fragment without"),
        ("01000000", "extended header of 0 bytes"),
        ("0105000544 51C12301", "BP_DOWN: reserved"),
        ("0102000281 A1", "DS EHDR: reserved"),
        ("0104000413 048123", "REQUEST: reserved"),
        ("0102000244 51", "runs past"),
        ("0103000382 2000", "DS EHDR element of 2 bytes"),
        ("C4000000", "is a request"),
    ],
)
def test_invalid_header_is_refused(header: str, text: str) -> None:
    wire = hx(header) + header_check_sequence(hx(header))
    with pytest.raises(DocsisError, match=text):
        docsis.decode_frame(wire)


segment_headers = st.builds(
    docsis.SegmentHeader,
    st.integers(0, 8191),
    st.integers(0, 7),
    st.integers(0, 65535),
    st.none() | st.integers(0, 0x3FFF),
)


@given(segment_headers, st.integers(0, 63))
def test_encoded_segment_header_is_decoded(header: docsis.SegmentHeader, bit: int) -> None:
    wire = bytearray(docsis.encode_segment_header(header))
    assert docsis.decode_segment_header(bytes(wire)) == header
    wire[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DocsisError):
        docsis.decode_segment_header(bytes(wire))


def test_reserved_bits_with_valid_hcs_are_refused() -> None:
    segment, request = hx("C000002A0010"), hx("C4044123")
    with pytest.raises(DocsisError, match="segment header: reserved"):
        docsis.decode_segment_header(segment + header_check_sequence(segment))
    with pytest.raises(DocsisError, match="request: reserved"):
        docsis.decode_request(request + header_check_sequence(request))
