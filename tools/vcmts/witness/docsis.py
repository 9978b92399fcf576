# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes DOCSIS MAC frames, request frames and segment headers (MULPI).

      0        1         2..3    4..4+ELEN-1   2       LEN-ELEN
    | FC     | MAC_PARM | LEN  | EHDR        | HCS  | PDU ...... |
    | 01     | 0b       | 0067 | 44.. 85..   | bdd3 |            |

LEN counts the EHDR and the bytes after the HCS, so a frame has 6 + LEN bytes.
"""

from dataclasses import dataclass

from vcmts.witness.crc import header_check_sequence
from vcmts.witness.ehdr import (
    DocsisError,
    Element,
    check_reserved,
    checked_field,
    decode_ehdr,
    encode_ehdr,
)

FIXED_HEADER = 6  # FC, MAC_PARM, LEN, HCS
FC_TYPE_PACKET = 0
FC_TYPE_ISOLATION = 2
FC_TYPE_MAC = 3
FC_PARM_MANAGEMENT = 1
FC_PARM_REQUEST = 2
FC_PARM_FRAGMENT = 3
FC_PARM_QUEUE_DEPTH = 4
FC_PARM_CONCATENATION = 0x1C
SEGMENT_HEADER = 8
SEGMENT_SEQUENCES = 1 << 13


@dataclass(frozen=True)
class Frame:
    """A MAC frame with a LEN field: any but a request frame.

    `pdu`: the bytes after the HCS. `mac_parm`: the frame count of a concatenation, else 0. With
    elements, MAC_PARM contains ELEN.
    """

    pdu: bytes
    elements: tuple[Element, ...] = ()
    fc_type: int = FC_TYPE_PACKET
    fc_parm: int = 0
    mac_parm: int = 0

    @property
    def header_length(self) -> int:
        return FIXED_HEADER + len(encode_ehdr(self.elements))


def encode_frame(frame: Frame) -> bytes:
    ehdr = encode_ehdr(frame.elements)
    if ehdr and frame.mac_parm:
        raise DocsisError("MAC_PARM cannot have both ELEN and another value")
    fc = (
        checked_field("FC_TYPE", frame.fc_type, 2) << 6
        | checked_field("FC_PARM", frame.fc_parm, 5) << 1
    )
    mac_parm = len(ehdr) if ehdr else checked_field("MAC_PARM", frame.mac_parm, 8)
    length = checked_field("LEN", len(ehdr) + len(frame.pdu), 16)
    header = bytes([fc | bool(ehdr), mac_parm]) + length.to_bytes(2, "big") + ehdr
    return header + header_check_sequence(header) + frame.pdu


def _is_request(fc: int) -> bool:
    return fc in (0xC4, 0xC8)


def frame_size(data: bytes) -> int | None:
    """The size of the frame at the start of `data`; None if more bytes are needed to know it.

    Checks nothing.
    """
    if data[:1] == b"\xc4":
        return FIXED_HEADER
    if data[:1] == b"\xc8":
        return FIXED_HEADER + 1
    return FIXED_HEADER + int.from_bytes(data[2:4], "big") if len(data) >= 4 else None


def _check_hcs(data: bytes, covered: int) -> None:
    found, expected = data[covered : covered + 2], header_check_sequence(data[:covered])
    if found != expected:
        raise DocsisError(f"HCS {found.hex()}, computed {expected.hex()}")


def _check_frame_control(frame: Frame, has_ehdr: bool) -> None:
    if frame.fc_type == 1:
        raise DocsisError("FC_TYPE 1 is reserved")
    if frame.fc_type != FC_TYPE_MAC:
        check_reserved("FC_PARM of a packet PDU", frame.fc_parm)
    elif frame.fc_parm not in (0, FC_PARM_MANAGEMENT, FC_PARM_FRAGMENT, FC_PARM_CONCATENATION):
        raise DocsisError(f"FC_PARM {frame.fc_parm} of a MAC-specific frame is unknown")
    if frame.fc_type == FC_TYPE_MAC and frame.fc_parm == FC_PARM_FRAGMENT and not has_ehdr:
        raise DocsisError("fragment without extended header")
    if frame.mac_parm and (frame.fc_type, frame.fc_parm) != (FC_TYPE_MAC, FC_PARM_CONCATENATION):
        raise DocsisError(f"MAC_PARM {frame.mac_parm} without extended header")


def decode_frame(data: bytes) -> Frame:
    """Decodes exactly one frame. Checks the HCS before any other field."""
    if len(data) < FIXED_HEADER:
        raise DocsisError(f"{len(data)} bytes are less than a MAC header")
    if _is_request(data[0]):
        raise DocsisError(f"FC {data[0]:#04x} is a request, not a frame with a length")
    has_ehdr = bool(data[0] & 1)
    elen = data[1] if has_ehdr else 0
    if len(data) < FIXED_HEADER + elen:
        raise DocsisError(f"{len(data)} bytes are less than a header with ELEN {elen}")
    _check_hcs(data, 4 + elen)
    length = int.from_bytes(data[2:4], "big")
    if len(data) != FIXED_HEADER + length:
        raise DocsisError(f"{len(data)} bytes, but LEN {length} tells {FIXED_HEADER + length}")
    if has_ehdr and not elen:
        raise DocsisError("EHDR_ON with an extended header of 0 bytes")
    frame = Frame(
        pdu=data[FIXED_HEADER + elen :],
        elements=decode_ehdr(data[4 : 4 + elen]),
        fc_type=data[0] >> 6,
        fc_parm=data[0] >> 1 & 0x1F,
        mac_parm=0 if has_ehdr else data[1],
    )
    _check_frame_control(frame, has_ehdr)
    return frame


@dataclass(frozen=True)
class Request:
    """A request frame. `amount`: minislots, or N-byte units in a queue-depth request."""

    sid: int
    amount: int
    queue_depth: bool = False


def encode_request(request: Request) -> bytes:
    sid = checked_field("SID", request.sid, 14).to_bytes(2, "big")
    size = 2 if request.queue_depth else 1
    amount = checked_field("request", request.amount, 8 * size).to_bytes(size, "big")
    header = bytes([0xC8 if request.queue_depth else 0xC4]) + amount + sid
    return header + header_check_sequence(header)


def decode_request(data: bytes) -> Request:
    if not data or not _is_request(data[0]):
        raise DocsisError("no request frame")
    queue_depth = data[0] == 0xC8
    size = FIXED_HEADER + queue_depth
    if len(data) != size:
        raise DocsisError(f"request of {len(data)} bytes, must be {size}")
    _check_hcs(data, size - 2)
    sid = int.from_bytes(data[size - 4 : size - 2], "big")
    check_reserved("request", sid >> 14)
    return Request(sid, int.from_bytes(data[1 : size - 4], "big"), queue_depth)


@dataclass(frozen=True)
class SegmentHeader:
    """Upstream segment header of continuous concatenation and fragmentation (MULPI).

    `pointer`: the offset, from the end of this header, of the first MAC header in the segment; None
    if there is none. `request`: N-byte units; 0 for no request.
    """

    sequence: int
    sid_cluster: int = 0
    request: int = 0
    pointer: int | None = None


def encode_segment_header(header: SegmentHeader) -> bytes:
    first = 0
    if header.pointer is not None:
        first = 0x8000 | checked_field("segment pointer", header.pointer, 14)
    second = checked_field("segment sequence number", header.sequence, 13) << 3
    second |= checked_field("SID cluster", header.sid_cluster, 3)
    request = checked_field("request", header.request, 16)
    covered = b"".join(word.to_bytes(2, "big") for word in (first, second, request))
    return covered + header_check_sequence(covered)


def decode_segment_header(data: bytes) -> SegmentHeader:
    """Decodes the header at the start of a segment. Ignores the payload."""
    if len(data) < SEGMENT_HEADER:
        raise DocsisError(f"{len(data)} bytes are less than a segment header")
    _check_hcs(data, 6)
    first, second, request = (int.from_bytes(data[at : at + 2], "big") for at in (0, 2, 4))
    check_reserved("segment header", first & 0x4000)
    pointer = first & 0x3FFF if first & 0x8000 else None
    return SegmentHeader(second >> 3, second & 7, request, pointer)
