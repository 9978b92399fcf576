# SPDX-License-Identifier: BSD-3-Clause
"""Tests traffic/proof/golden.def, the bytes that vcmts-traffic compares its encoders with at its
start. The independent encoder must produce the same bytes for the values in golden.c."""

import re
from dataclasses import replace
from ipaddress import ip_address

import pytest

from vcmts.paths import CHECKOUT
from vcmts.witness import docsis, uepi
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.ehdr import BpDown, BpUp, BpUp2, DsService, RequestElement
from vcmts.witness.l2tp import Carrier, encode_datagram

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
FLAGS = uepi.TrailerFlag.FEC_VALID | uepi.TrailerFlag.SNR_VALID
REQUEST = uepi.RequestRecord(4, 0x1234, 0x0ABC, 0x0DEF, 0x12345678, 0x9ABCDEF0, 5, n_bytes=True)


def header(frame: docsis.Frame) -> bytes:
    return docsis.encode_frame(frame)[: frame.header_length]


def psp() -> bytes:
    segments = (Segment(bytes(1000), True, False), Segment(bytes(300), False, True))
    return encode_psp(Psp(0xBEEF, segments, flow=3))[:8]


EXPECTED = {
    "crc": b"123456789" + frame_check_sequence(b"123456789"),
    "ipv4": encode_datagram(CARRIER, 0x12345678, bytes(1000))[:38],
    "ipv6": encode_datagram(IPV6, 0x12345678, bytes(1000))[:58],
    "psp": psp(),
    "downstream_header": header(
        docsis.Frame(bytes(1000), (BpDown(5, True, 1, 0x1234), DsService(5, 0xABCDE, 0xFEDC, 1)))
    ),
    "upstream_header": header(
        docsis.Frame(
            bytes(1000), (BpUp(5, True, 1, 0x1234, minislots=7), RequestElement(9, 0x1234))
        )
    ),
    "upstream_header_2": header(docsis.Frame(bytes(1000), (BpUp2(4, True, 0, 0x0456),))),
    "fragment_header": header(
        docsis.Frame(
            bytes(98),
            (BpUp(1, True, 1, 0x0001, minislots=7, fragment=0x29),),
            docsis.FC_TYPE_MAC,
            docsis.FC_PARM_FRAGMENT,
        )
    ),
    "request": docsis.encode_request(docsis.Request(0x0123, 4)),
    "queue_request": docsis.encode_request(docsis.Request(0x0345, 0x0102, queue_depth=True)),
    "concatenation": header(
        docsis.Frame(bytes(92), (), docsis.FC_TYPE_MAC, docsis.FC_PARM_CONCATENATION, mac_parm=2)
    ),
    "segment_header": docsis.encode_segment_header(docsis.SegmentHeader(0x1ABC, 5, 77, 0x0123)),
    "sc_qam_header": uepi.encode_header(uepi.ScQamHeader(9, 0x0123, 0x01020304)),
    "ofdma_header": uepi.encode_header(
        uepi.OfdmaHeader(10, 0x0123, 0x01020304, 0xA1A2A3A4, 2048, segment_header=True)
    ),
    "sc_qam_trailer": uepi.encode_trailer(uepi.ScQamTrailer(300, 2, 1, 0x0155, FLAGS)),
    "ofdma_trailer": uepi.encode_trailer(
        uepi.OfdmaTrailer(0xA1A2A3A4, 300, 2, 1, mer=0x0155, power=-3, timing=-9, flags=FLAGS)
    ),
    "sc_qam_request": uepi.encode_request_record(REQUEST),
    "ofdma_request": uepi.encode_request_record(replace(REQUEST, version=1, piggyback=True)),
}


def golden() -> dict[str, bytes]:
    text = (CHECKOUT / "traffic/proof/golden.def").read_text()
    return {
        name: bytes.fromhex(re.sub(r"[^0-9a-f]", "", digits))
        for name, digits in TABLE.findall(text)
    }


def test_table_has_all_formats() -> None:
    assert list(golden()) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_bytes_are_those_of_the_independent_encoder(name: str) -> None:
    assert golden()[name].hex() == EXPECTED[name].hex()
