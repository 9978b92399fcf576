# SPDX-License-Identifier: BSD-3-Clause
"""Units of UEPI whose parts need not be right."""

from vcmts.witness import uepi
from vcmts.witness.depi import Segment
from wireshark.uepi_packets import DATA, PLAIN, SID


def unit(*parts: bytes) -> tuple[Segment, ...]:
    """A burst of parts that need not be right."""
    last = len(parts) - 1
    return tuple(Segment(part, i == 0, i == last) for i, part in enumerate(parts))


H6 = uepi.encode_header(uepi.ScQamHeader(5, SID, 0))
T6 = uepi.encode_trailer(PLAIN)
H7 = uepi.encode_header(uepi.OfdmaHeader(5, SID, 0, 7, 2048))
T7 = uepi.encode_trailer(uepi.OfdmaTrailer(7, 1, 0, 0))
RECORD = uepi.encode_request_record(uepi.RequestRecord(1, 1, 1, 1, 1, DATA))
