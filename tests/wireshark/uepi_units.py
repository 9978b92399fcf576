# SPDX-License-Identifier: BSD-3-Clause
"""UEPI units of arbitrary parts, valid or not."""

from vcmts.witness import uepi
from vcmts.witness.depi import Segment
from wireshark.uepi_packets import DATA, PLAIN, SID


def unit(*parts: bytes) -> tuple[Segment, ...]:
    """A segment per part: the first one begins the unit, the last one ends it."""
    last = len(parts) - 1
    return tuple(Segment(part, i == 0, i == last) for i, part in enumerate(parts))


# Encoded header (H) and trailer (T) of pseudowire subtypes 6 (SC-QAM) and 7 (OFDMA).
H6 = uepi.encode_header(uepi.ScQamHeader(5, SID, 0))
T6 = uepi.encode_trailer(PLAIN)
H7 = uepi.encode_header(uepi.OfdmaHeader(5, SID, 0, 7, 2048))
T7 = uepi.encode_trailer(uepi.OfdmaTrailer(7, 1, 0, 0))
RECORD = uepi.encode_request_record(uepi.RequestRecord(1, 1, 1, 1, 1, DATA))
