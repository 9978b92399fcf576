# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes MAPs, versions 1 and 5 (MULPI, bandwidth allocation map).

The body of the management message:

      0         1       2..3           4..7          8..11      12..15           16..
    | channel | count | elements ... | alloc start | ack time | 4 back-offs    | 4 bytes each
    | 01      | 00    | 04 00        | 01556601    | 01556471 | 00 04 00 0A    | FFFCC000 ..

An element is SID(14) IUC(4) offset(14). read() checks the rules that concern a single MAP.
"""

from dataclasses import dataclass
from itertools import pairwise

from vcmts.witness.ehdr import checked_field

BROADCAST = 0x3FFF
REQUEST, REQUEST_DATA, INITIAL, STATION = 1, 2, 3, 4
NULL, ACK = 7, 8
DATA = frozenset({5, 6, 9, 10, 11, 12, 13})
WITH_MINISLOTS = DATA | {REQUEST, REQUEST_DATA, INITIAL, STATION}
MAX_ELEMENTS = {1: 240, 5: 490}
MAX_MINISLOTS = {1: 4096, 5: 16383}
HEADER = 16


class MapError(ValueError):
    """Malformed MAP, or one that violates a rule."""


@dataclass(frozen=True)
class Element:
    """An allocation. `offset`: from the alloc start; `minislots`: 0 for acknowledgements and
    pending grants."""

    sid: int
    iuc: int
    offset: int
    minislots: int = 0


@dataclass(frozen=True)
class Map:
    """A MAP. `elements`: before the null element; `pending`, `acks`: after it."""

    version: int
    channel: int
    ucd_count: int
    alloc_start: int
    ack_time: int
    ranging: tuple[int, int]
    data: tuple[int, int]
    elements: tuple[Element, ...]
    minislots: int
    pending: tuple[Element, ...] = ()
    acks: tuple[Element, ...] = ()


def _count(body: bytes, version: int) -> int:
    if version == 1:
        if body[3]:
            raise MapError(f"reserved byte {body[3]:#04x}")
        return body[2]
    word = int.from_bytes(body[2:4], "big")
    if word & 0x70:
        raise MapError(f"reserved bits {word & 0x70:#04x}")
    if word & 0xF:
        raise MapError(f"category {word & 0xF}" + " (probes)" * (word & 0xF == 1))
    return word >> 7


def _elements(body: bytes) -> list[Element]:
    words = [int.from_bytes(body[at : at + 4], "big") for at in range(HEADER, len(body), 4)]
    return [Element(word >> 18, word >> 14 & 0xF, word & 0x3FFF) for word in words]


def _measure(found: list[Element], most: int) -> tuple[tuple[Element, ...], int]:
    """Returns the elements before the null element, with their minislots, and the total."""
    if not found:
        raise MapError("no null element")
    if found[0].offset:
        raise MapError(f"the first element begins at {found[0].offset}")
    described = []
    for element, following in pairwise(found):
        if element.iuc == NULL:
            break
        if element.iuc not in WITH_MINISLOTS:
            raise MapError(f"IUC {element.iuc} has no minislots")
        if following.offset <= element.offset:
            raise MapError(f"offset {following.offset} behind {element.offset}")
        minislots = following.offset - element.offset
        described.append(Element(element.sid, element.iuc, element.offset, minislots))
    end = found[len(described)]
    if end.iuc != NULL:
        raise MapError("no null element")
    if end.sid:
        raise MapError(f"null element of SID {end.sid}")
    if end.offset > most:
        raise MapError(f"{end.offset} minislots, allowed {most}")
    return tuple(described), end.offset


def read(body: bytes, version: int) -> Map:
    """Decodes the body of a message of `version` 1 or 5. Raises MapError if it violates a rule."""
    if version not in MAX_ELEMENTS:
        raise MapError(f"version {version}")
    if len(body) < HEADER:
        raise MapError(f"{len(body)} bytes")
    count = _count(body, version)
    if count > MAX_ELEMENTS[version]:
        raise MapError(f"{count} elements")
    if len(body) != HEADER + 4 * count:
        raise MapError(f"{count} elements in {len(body)} bytes")
    if max(body[12:16]) > 15 or body[12] > body[13] or body[14] > body[15]:
        raise MapError(f"back-off windows {body[12:16].hex()}")
    found = _elements(body)
    elements, minislots = _measure(found, MAX_MINISLOTS[version])
    after = found[len(elements) + 1 :]
    for element in after:
        if element.offset != minislots or element.iuc not in DATA | {ACK}:
            raise MapError(f"behind the null element: {element}")
    return Map(
        version=version,
        channel=body[0],
        ucd_count=body[1],
        alloc_start=int.from_bytes(body[4:8], "big"),
        ack_time=int.from_bytes(body[8:12], "big"),
        ranging=(body[12], body[13]),
        data=(body[14], body[15]),
        elements=elements,
        minislots=minislots,
        pending=tuple(element for element in after if element.iuc != ACK),
        acks=tuple(element for element in after if element.iuc == ACK),
    )


def write(map_: Map) -> bytes:
    """Encodes the body. After the null element: pending grants, then acknowledgements."""
    end = Element(0, NULL, map_.minislots)
    found = [*map_.elements, end, *map_.pending, *map_.acks]
    if map_.version == 1:
        count = checked_field("elements", len(found), 8) << 8
    else:
        count = checked_field("elements", len(found), 9) << 7
    body = bytes([map_.channel, map_.ucd_count]) + count.to_bytes(2, "big")
    body += map_.alloc_start.to_bytes(4, "big") + map_.ack_time.to_bytes(4, "big")
    body += bytes([*map_.ranging, *map_.data])
    for element in found:
        word = checked_field("SID", element.sid, 14) << 18
        word |= checked_field("IUC", element.iuc, 4) << 14
        word |= checked_field("offset", element.offset, 14)
        body += word.to_bytes(4, "big")
    return body
