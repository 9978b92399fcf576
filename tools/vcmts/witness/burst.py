# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes upstream bursts as PSP segments (docs/uepi-formats.md).

| header | payload ... | payload ... | trailer |
  B                                    E
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vcmts.witness.depi import Segment
from vcmts.witness.uepi import (
    OfdmaHeader,
    OfdmaTrailer,
    ScQamHeader,
    ScQamTrailer,
    UepiError,
    decode_ofdma_header,
    decode_ofdma_trailer,
    decode_sc_qam_header,
    decode_sc_qam_trailer,
    encode_header,
    encode_trailer,
)


@dataclass(frozen=True)
class Burst:
    """A burst, SC-QAM or OFDMA according to its header."""

    header: ScQamHeader | OfdmaHeader
    payload: bytes
    trailer: ScQamTrailer | OfdmaTrailer


def encode_burst(burst: Burst, offsets: Sequence[int] = ()) -> tuple[Segment, ...]:
    """Returns PSP segments. `offsets`, ascending, split the payload."""
    size = len(burst.payload)
    edges = [0, *(min(offset, size) for offset in offsets), size]
    pieces = [burst.payload[a:b] for a, b in pairwise(edges) if a < b]
    if burst.header.no_burst and pieces:
        raise UepiError("payload in a unit without burst")
    return (
        Segment(encode_header(burst.header), True, False),
        *(Segment(piece, False, False) for piece in pieces),
        Segment(encode_trailer(burst.trailer), False, True),
    )


def _decode_unit(unit: Sequence[Segment], ofdma: bool) -> Burst:
    header = (decode_ofdma_header if ofdma else decode_sc_qam_header)(unit[0].data)
    trailer = (decode_ofdma_trailer if ofdma else decode_sc_qam_trailer)(unit[-1].data)
    payload = b"".join(segment.data for segment in unit[1:-1])
    if header.no_burst and payload:
        raise UepiError("payload in a unit without burst")
    if isinstance(header, OfdmaHeader) and isinstance(trailer, OfdmaTrailer):
        if header.burst_id != trailer.burst_id:
            raise UepiError(f"header of burst {header.burst_id}, trailer of {trailer.burst_id}")
        if len(payload) > header.grant_size:
            raise UepiError(f"{len(payload)} bytes in a grant of {header.grant_size}")
    return Burst(header, payload, trailer)


def decode_bursts(segments: Iterable[Segment], ofdma: bool) -> list[Burst]:
    """Decodes the segments of a session, which must be without loss and end with a whole burst."""
    bursts: list[Burst] = []
    unit: list[Segment] = []
    for segment in segments:
        if segment.begin and segment.end:
            raise UepiError("header and trailer in one segment")
        if segment.begin == bool(unit):
            raise UepiError("a unit begins inside another" if unit else "no unit has begun")
        unit.append(segment)
        if segment.end:
            bursts.append(_decode_unit(unit, ofdma))
            unit = []
    if unit:
        raise UepiError(f"the last unit has no trailer, only {len(unit)} segments")
    return bursts
