# SPDX-License-Identifier: BSD-3-Clause
"""Makes upstream packets as an R-PHY device sends them, with the encoders of the witness."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from vcmts.witness import docsis
from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.ehdr import BpUp2
from vcmts.witness.uepi import NO_FLAGS, OfdmaHeader, OfdmaTrailer, ScQamHeader, ScQamTrailer
from wireshark.psp_packets import CORE, MODEM, RPD, depi, ethernet_pdu, session_setup, with_crc

DATA, REQUESTS, RANGING = 0x00020001, 0x00020002, 0x00020003  # session IDs
SID = 0x123
IUC = 5
PLAIN = ScQamTrailer(good=5, corrected=1, uncorrectable=0, snr=0x92)
UnitOrSegment = Sequence[Segment] | Segment


def upstream(sequence: int, *units: UnitOrSegment, session: int = DATA, flow: int = 0) -> bytes:
    """A packet with these units: the segments of a burst, or a single segment."""
    segments: list[Segment] = []
    for unit in units:
        segments += [unit] if isinstance(unit, Segment) else unit
    body = encode_psp(Psp(sequence & 0xFFFF, tuple(segments), flow=flow))
    return depi(body, session, RPD, CORE)


def setup(session: int, subtype: int) -> list[bytes]:
    """Control messages that set up the upstream session `session` of this subtype."""
    return session_setup(0x7000 + subtype, subtype, local=session)


def sc_qam(payload: bytes, *offsets: int, sid: int = SID, start: int = 0) -> tuple[Segment, ...]:
    """The segments of an SC-QAM burst: header, payload split at the offsets, trailer."""
    return encode_burst(Burst(ScQamHeader(IUC, sid, start), payload, PLAIN), offsets)


def ofdma(
    payload: bytes, *offsets: int, burst_id: int = 7, sid: int = SID, segment_header: bool = False
) -> tuple[Segment, ...]:
    """The segments of an OFDMA burst: header, payload split at the offsets, trailer."""
    header = OfdmaHeader(IUC, sid, 0, burst_id, 2048, segment_header=segment_header)
    trailer = OfdmaTrailer(burst_id, 5, 1, 0, flags=NO_FLAGS)
    return encode_burst(Burst(header, payload, trailer), offsets)


def frame(size: int, port: int, *, sid: int = SID) -> bytes:
    """A MAC frame with `size` bytes after its header. Tests identify it by the UDP source port."""
    return docsis.encode_frame(docsis.Frame(ethernet_pdu(size, port), (BpUp2(1, False, 0, sid),)))


def ranging_request(sid: int) -> bytes:
    """RNG-REQ as a MAC management message: SID, downstream channel 1, nothing pending."""
    body = bytes.fromhex("000003010400") + sid.to_bytes(2, "big") + b"\x01\x00"
    address = bytes.fromhex("01e02f000001")
    pdu = with_crc(address + MODEM + len(body).to_bytes(2, "big") + body)
    return docsis.encode_frame(
        docsis.Frame(pdu, fc_type=docsis.FC_TYPE_MAC, fc_parm=docsis.FC_PARM_MANAGEMENT)
    )


def concatenated(*frames: bytes) -> bytes:
    head = docsis.Frame(
        b"".join(frames),
        fc_type=docsis.FC_TYPE_MAC,
        fc_parm=docsis.FC_PARM_CONCATENATION,
        mac_parm=len(frames),
    )
    return docsis.encode_frame(head)


def segment_frames(
    frames: Sequence[bytes], offsets: Iterable[int], *, first: int = 0, cluster: int = 0
) -> list[bytes]:
    """Splits the stream of these frames at the offsets into segments with correct pointers."""
    stream = b"".join(frames)
    starts = [0, *accumulate(len(frame) for frame in frames)][:-1]
    bounds = [0, *offsets, len(stream)]
    segments = []
    for number, (begin, end) in enumerate(pairwise(bounds)):
        starts_inside = [at - begin for at in starts if begin <= at < end]
        header = docsis.SegmentHeader(
            (first + number) % 8192, cluster, pointer=starts_inside[0] if starts_inside else None
        )
        segments.append(docsis.encode_segment_header(header) + stream[begin:end])
    return segments
