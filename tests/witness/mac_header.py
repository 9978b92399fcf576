# SPDX-License-Identifier: BSD-3-Clause
"""Model: parses MAC headers of a stream that may be damaged (docs/upstream.md, "Frames").

Unlike vcmts.witness.docsis, which decodes whole correct frames, it accepts any bytes, and returns
the drop reason and the size of the frame. Reserved bits are ignored.
"""

from dataclasses import dataclass, field

from vcmts.witness.crc import header_check_sequence

PACKET, MANAGEMENT, REQUEST, QUEUE_REQUEST, FRAGMENT, CONCATENATION, RESERVED = (
    "packet",
    "management",
    "request",
    "queue_request",
    "fragment",
    "concatenation",
    "reserved",
)
# FC without EHDR_ON. Packet and isolation PDUs have two codes each. Modems send no SYNC.
KINDS = {
    0x00: PACKET,
    0x02: PACKET,
    0x80: PACKET,
    0x82: PACKET,
    0xC2: MANAGEMENT,
    0xC4: REQUEST,
    0xC6: FRAGMENT,
    0xC8: QUEUE_REQUEST,
    0xF8: CONCATENATION,
}
TIMING = 0xC0
MAX_EHDR = 240
FIXED = 6


@dataclass
class Privacy:
    key_sequence: int
    enabled: bool
    toggle: int
    identifier: int  # SID; SAID in BP_DOWN
    upstream: bool
    piggyback: int = 0
    fragment: int | None = None


@dataclass
class MacHeader:
    """A parsed header. `size`: bytes of the whole frame; None if unknown. `fault`: a drop
    reason."""

    kind: str
    header_size: int
    size: int | None
    fault: str | None = None
    privacy: Privacy | None = None
    request: tuple[int, int] | None = None  # amount, SID
    phsi: int = 0  # payload header suppression index; 0: nothing is suppressed
    _seen: set[str] = field(default_factory=set)


def _good_hcs(data: bytes, size: int) -> bool:
    return data[size - 2 : size] == header_check_sequence(data[: size - 2])


def _read_request(data: bytes, kind: str) -> MacHeader | None:
    size = FIXED + (kind == QUEUE_REQUEST)
    if len(data) < size:
        return None
    if not _good_hcs(data, size):
        return MacHeader(kind, size, None, "frame_hcs")
    if data[0] & 1:
        return MacHeader(kind, size, size, "frame_ehdr")
    amount = int.from_bytes(data[1 : size - 4], "big")
    sid = int.from_bytes(data[size - 4 : size - 2], "big") & 0x3FFF
    return MacHeader(kind, size, size, request=(amount, sid))


def _read_element(header: MacHeader, eh_type: int, value: bytes) -> bool:
    """Reads an element into the header. Returns False if it is malformed or not allowed."""
    if eh_type == 0:
        return not value
    if eh_type == 1:
        if len(value) != 3 or header.request:
            return False
        header.request = (value[0], int.from_bytes(value[1:], "big") & 0x3FFF)
    elif eh_type in (3, 4, 7):
        fragment = eh_type == 3 and header.kind == FRAGMENT
        if header.privacy or len(value) != {3: 4, 4: 4, 7: 3}[eh_type] + fragment:
            return False
        word = int.from_bytes(value[1:3], "big")
        header.privacy = Privacy(
            key_sequence=value[0] >> 4,
            enabled=bool(word & 0x8000),
            toggle=word >> 14 & 1,
            identifier=word & 0x3FFF,
            upstream=eh_type != 4,
            piggyback=value[3] if eh_type == 3 else 0,
            fragment=value[4] if fragment else None,
        )
    elif eh_type == 6:
        header.phsi |= int.from_bytes(value[:1], "big")
    elif eh_type == 8:
        if len(value) not in (1, 3, 5) or "ds" in header._seen:
            return False
        header._seen.add("ds")
    return True


def _read_elements(header: MacHeader, ehdr: bytes) -> bool:
    offset = 0
    while offset < len(ehdr):
        eh_type, length = ehdr[offset] >> 4, ehdr[offset] & 0x0F
        value = ehdr[offset + 1 : offset + 1 + length]
        if len(value) != length or not _read_element(header, eh_type, value):
            return False
        offset += 1 + length
    if header.kind != FRAGMENT:
        return True
    return header.privacy is not None and header.privacy.fragment is not None


def _fault(header: MacHeader, fc: int, ehdr: bytes) -> str | None:
    """Reads the elements of a header with valid HCS. Returns a drop reason or None."""
    has_ehdr, timing = bool(fc & 1), fc & 0xFE == TIMING
    if header.kind == RESERVED and not timing:
        return "frame_reserved"
    if has_ehdr and (header.kind == CONCATENATION or timing):
        return "frame_ehdr"
    if header.kind == FRAGMENT and not has_ehdr:
        return "frame_ehdr"
    if len(ehdr) > MAX_EHDR or not _read_elements(header, ehdr):
        return "frame_ehdr"
    return "frame_reserved" if timing else None


def read_mac_header(data: bytes) -> MacHeader | None:
    """Parses the header at the start of `data`; None if more bytes are needed."""
    if len(data) < FIXED:
        return None
    kind = KINDS.get(data[0] & 0xFE, RESERVED)
    if kind in (REQUEST, QUEUE_REQUEST):
        return _read_request(data, kind)
    has_ehdr = bool(data[0] & 1)
    elen = data[1] if has_ehdr and kind != CONCATENATION else 0
    if len(data) < FIXED + elen:
        return None
    if not _good_hcs(data, FIXED + elen):
        return MacHeader(kind, FIXED + elen, None, "frame_hcs")
    length = int.from_bytes(data[2:4], "big")
    if length < elen:
        return MacHeader(kind, FIXED + elen, None, "frame_length")
    header = MacHeader(kind, FIXED + elen, FIXED + length)
    header.fault = _fault(header, data[0], data[4 : 4 + elen])
    if header.fault is None and kind == CONCATENATION:
        header.size = FIXED  # its frames count as frames of the stream
    return header
