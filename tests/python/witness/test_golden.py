# SPDX-License-Identifier: BSD-3-Clause
"""The bytes that vcmts-traffic holds its formats against at its start are those of the independent
encoder, for the values that its writers have (traffic/proof/golden.c)."""

import re
from dataclasses import replace
from ipaddress import ip_address

import pytest

from vcmts.paths import CHECKOUT
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.docsis import (
    FC_PARM_CONCATENATION,
    FC_PARM_FRAGMENT,
    FC_TYPE_MAC,
    Frame,
    Request,
    SegmentHeader,
    encode_frame,
    encode_request,
    encode_segment_header,
)
from vcmts.witness.ehdr import BpDown, BpUp, BpUp2, DsService, RequestElement
from vcmts.witness.l2tp import Carrier, encode_datagram
from vcmts.witness.uepi import (
    OfdmaHeader,
    OfdmaTrailer,
    RequestRecord,
    ScQamHeader,
    ScQamTrailer,
    TrailerFlag,
    encode_header,
    encode_request_record,
    encode_trailer,
)

TABLE = re.compile(r'^GOLDEN\((\w+), "[^"]+",\s+"([0-9a-f" \n\t]+)"\)$', re.MULTILINE)
CARRIER = Carrier(
    bytes.fromhex("020102030405"),
    bytes.fromhex("020a0b0c0d0e"),
    ip_address("192.0.2.1"),
    ip_address("198.51.100.2"),
    dscp=46,
    ttl=63,
)
IPV6 = replace(CARRIER, source=ip_address("2001:db8::1"), destination=ip_address("2001:db8::2"))
FLAGS = TrailerFlag.FEC_VALID | TrailerFlag.SNR_VALID
REQUEST = RequestRecord(4, 0x1234, 0x0ABC, 0x0DEF, 0x12345678, 0x9ABCDEF0, 5, n_bytes=True)


def header(frame: Frame) -> bytes:
    return encode_frame(frame)[: frame.header_length]


def psp() -> bytes:
    segments = (Segment(bytes(1000), True, False), Segment(bytes(300), False, True))
    return encode_psp(Psp(0xBEEF, segments, flow=3))[:8]


EXPECTED = {
    "crc": b"123456789" + frame_check_sequence(b"123456789"),
    "ipv4": encode_datagram(CARRIER, 0x12345678, bytes(1000))[:38],
    "ipv6": encode_datagram(IPV6, 0x12345678, bytes(1000))[:58],
    "psp": psp(),
    "downstream_header": header(
        Frame(bytes(1000), (BpDown(5, True, 1, 0x1234), DsService(5, 0xABCDE, 0xFEDC, 1)))
    ),
    "upstream_header": header(
        Frame(bytes(1000), (BpUp(5, True, 1, 0x1234, minislots=7), RequestElement(9, 0x1234)))
    ),
    "upstream_header_2": header(Frame(bytes(1000), (BpUp2(4, True, 0, 0x0456),))),
    "fragment_header": header(
        Frame(
            bytes(98),
            (BpUp(1, True, 1, 0x0001, minislots=7, fragment=0x29),),
            FC_TYPE_MAC,
            FC_PARM_FRAGMENT,
        )
    ),
    "request": encode_request(Request(0x0123, 4)),
    "queue_request": encode_request(Request(0x0345, 0x0102, queue_depth=True)),
    "concatenation": header(Frame(bytes(92), (), FC_TYPE_MAC, FC_PARM_CONCATENATION, mac_parm=2)),
    "segment_header": encode_segment_header(SegmentHeader(0x1ABC, 5, 77, 0x0123)),
    "sc_qam_header": encode_header(ScQamHeader(9, 0x0123, 0x01020304)),
    "ofdma_header": encode_header(
        OfdmaHeader(10, 0x0123, 0x01020304, 0xA1A2A3A4, 2048, segment_header=True)
    ),
    "sc_qam_trailer": encode_trailer(ScQamTrailer(300, 2, 1, 0x0155, FLAGS)),
    "ofdma_trailer": encode_trailer(
        OfdmaTrailer(0xA1A2A3A4, 300, 2, 1, mer=0x0155, power=-3, timing=-9, flags=FLAGS)
    ),
    "sc_qam_request": encode_request_record(REQUEST),
    "ofdma_request": encode_request_record(replace(REQUEST, version=1, piggyback=True)),
}


def golden() -> dict[str, bytes]:
    text = (CHECKOUT / "traffic/proof/golden.def").read_text()
    return {
        name: bytes.fromhex(re.sub(r"[^0-9a-f]", "", hexes)) for name, hexes in TABLE.findall(text)
    }


def test_the_table_is_whole() -> None:
    assert list(golden()) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_bytes_are_those_of_the_independent_encoder(name: str) -> None:
    assert golden()[name].hex() == EXPECTED[name].hex()
