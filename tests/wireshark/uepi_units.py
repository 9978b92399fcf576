# SPDX-License-Identifier: BSD-3-Clause
"""Units of UEPI whose parts need not be right."""

from vcmts.witness.depi import Segment
from vcmts.witness.uepi import (
    OfdmaHeader,
    OfdmaTrailer,
    RequestRecord,
    ScQamHeader,
    encode_header,
    encode_request_record,
    encode_trailer,
)
from wireshark.uepi_packets import DATA, PLAIN, SID


def unit(*parts: bytes) -> tuple[Segment, ...]:
    """A burst of parts that need not be right."""
    last = len(parts) - 1
    return tuple(Segment(part, i == 0, i == last) for i, part in enumerate(parts))


H6 = encode_header(ScQamHeader(5, SID, 0))
T6 = encode_trailer(PLAIN)
H7 = encode_header(OfdmaHeader(5, SID, 0, 7, 2048))
T7 = encode_trailer(OfdmaTrailer(7, 1, 0, 0))
RECORD = encode_request_record(RequestRecord(1, 1, 1, 1, 1, DATA))
