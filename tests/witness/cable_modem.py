# SPDX-License-Identifier: BSD-3-Clause
"""Encodes what a cable modem sends: MAC frames, segments and fragments.

The caller chooses headers and sizes freely; nothing is checked for plausibility.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.docsis import (
    FC_PARM_CONCATENATION,
    FC_PARM_FRAGMENT,
    FC_PARM_MANAGEMENT,
    FC_TYPE_ISOLATION,
    FC_TYPE_MAC,
    FC_TYPE_PACKET,
    SEGMENT_SEQUENCES,
    Frame,
    SegmentHeader,
    encode_frame,
    encode_segment_header,
)
from vcmts.witness.ehdr import BpUp, BpUp2, DocsisError, Element, RequestElement
from vcmts.witness.model import Security

FIRST, LAST = 0x20, 0x10  # bits of the fragmentation control byte
RNG_REQ, REG_REQ_MP = 4, 44
ALL_CMTS = bytes.fromhex("01E02F000002")


@dataclass(frozen=True)
class FrameOptions:
    """Options of a frame. `element`: the privacy element; None: the frame is not encrypted."""

    element: str | None = "bp_up2"  # bp_up2, bp_up, None
    next_key: bool = False
    piggyback: int = 0  # minislots, in BP_UP
    request: int | None = None  # minislots, in a REQUEST element
    isolation: bool = False


def _key(security: Security, next_key: bool) -> tuple[int, bytes | None, bytes]:
    if next_key:
        return (security.key_sequence + 1) % 16, security.next_key, security.next_iv
    return security.key_sequence, security.key, security.iv


def _privacy(
    security: Security, sid: int, options: FrameOptions, fragment: int | None = None
) -> Element:
    sequence, key, _ = _key(security, options.next_key)
    common = (sequence, key is not None, sequence & 1, sid)
    if options.element == "bp_up":
        return BpUp(*common, minislots=options.piggyback, fragment=fragment)
    return BpUp2(*common)


def packet_frame(
    security: Security, sid: int, ethernet: bytes, options: FrameOptions | None = None
) -> bytes:
    """Encodes the MAC frame of an Ethernet frame without CRC. Encrypts it if the modem has a
    key."""
    options = options or FrameOptions()
    pdu = ethernet + frame_check_sequence(ethernet)
    elements: list[Element] = []
    if options.element is not None:
        _, key, iv = _key(security, options.next_key)
        elements.append(_privacy(security, sid, options))
        pdu = pdu if key is None else bpi.encrypt_pdu(pdu, key, iv)
    if options.request is not None:
        elements.append(RequestElement(options.request, sid))
    fc_type = FC_TYPE_ISOLATION if options.isolation else FC_TYPE_PACKET
    return encode_frame(Frame(pdu, tuple(elements), fc_type))


def management_message(source: bytes, number: int, body: bytes, version: int = 1) -> bytes:
    """The Ethernet frame of a MAC management message, without CRC."""
    rest = bytes([0, 0, 3, version, number, 0]) + body
    return ALL_CMTS + source + len(rest).to_bytes(2, "big") + rest


def management_frame(message: bytes) -> bytes:
    pdu = message + frame_check_sequence(message)
    return encode_frame(Frame(pdu, (), FC_TYPE_MAC, FC_PARM_MANAGEMENT))


def concatenate(frames: Sequence[bytes]) -> list[bytes]:
    """Returns a concatenation header and the frames."""
    whole = Frame(b"".join(frames), (), FC_TYPE_MAC, FC_PARM_CONCATENATION, len(frames))
    return [encode_frame(whole)[:6], *frames]


def fragment(
    security: Security,
    sid: int,
    data: bytes,
    offsets: Sequence[int],
    sequence: int = 0,
    options: FrameOptions | None = None,
) -> list[bytes]:
    """Splits clear frames into fragments (pre-3.0), each with encrypted payload and CRC."""
    options = options or FrameOptions("bp_up")
    _, key, iv = _key(security, options.next_key)
    pieces = [data[a:b] for a, b in pairwise(_edges(offsets, len(data)))]
    frames = []
    for index, piece in enumerate(pieces):
        control = FIRST * (index == 0) | LAST * (index == len(pieces) - 1)
        control |= (sequence + index) & 0x0F
        pdu = piece + frame_check_sequence(piece)
        pdu = pdu if key is None else bpi.encrypt(pdu, key, iv)
        element = _privacy(security, sid, options, control)
        frames.append(encode_frame(Frame(pdu, (element,), FC_TYPE_MAC, FC_PARM_FRAGMENT)))
    return frames


def _edges(offsets: Sequence[int], size: int) -> list[int]:
    edges = sorted({0, size, *offsets})
    if edges[0] < 0 or edges[-1] > size:
        raise DocsisError(f"offsets {list(offsets)} are not within {size} bytes")
    return edges


def split_segments(
    frames: Sequence[bytes],
    offsets: Sequence[int],
    sequence: int = 0,
    cluster: int = 0,
    requests: Sequence[int] = (),
) -> list[bytes]:
    """Splits the bytes of the frames into segments at `offsets`. `requests`: the request fields of
    the first segments."""
    stream = b"".join(frames)
    starts = [0, *accumulate(len(frame) for frame in frames)][:-1]
    segments = []
    for index, (begin, end) in enumerate(pairwise(_edges(offsets, len(stream)))):
        pointer = next((start - begin for start in starts if begin <= start < end), None)
        number = (sequence + index) % SEGMENT_SEQUENCES
        request = requests[index] if index < len(requests) else 0
        header = SegmentHeader(number, cluster, request, pointer)
        segments.append(encode_segment_header(header) + stream[begin:end])
    return segments
