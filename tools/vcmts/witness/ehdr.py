# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes elements of the DOCSIS extended header (MULPI, SEC).

An element is EH_TYPE(4 bits) EH_LEN(4 bits) and EH_LEN bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

MAX_EHDR = 240


class DocsisError(ValueError):
    """Malformed DOCSIS MAC frame, or values that do not fit its fields."""


def checked_field(name: str, value: int, bits: int) -> int:
    if not 0 <= value < 1 << bits:
        raise DocsisError(f"{name} {value} does not fit {bits} bits")
    return value


def check_reserved(name: str, value: int) -> None:
    if value:
        raise DocsisError(f"{name}: reserved bits are {value:#x}, not 0")


def _only_lengths(name: str, value: bytes, *lengths: int) -> None:
    if len(value) not in lengths:
        raise DocsisError(f"{name} element of {len(value)} bytes, allowed {lengths}")


@dataclass(frozen=True)
class Pad:
    """NULL element: one zero byte."""

    EH_TYPE: ClassVar[int] = 0

    def value(self) -> bytes:
        return b""

    @classmethod
    def decode(cls, value: bytes) -> "Pad":
        _only_lengths("NULL", value, 0)
        return cls()


@dataclass(frozen=True)
class RequestElement:
    """Request for minislots."""

    EH_TYPE: ClassVar[int] = 1
    minislots: int
    sid: int

    def value(self) -> bytes:
        sid = checked_field("SID", self.sid, 14)
        return bytes([checked_field("minislots", self.minislots, 8)]) + sid.to_bytes(2, "big")

    @classmethod
    def decode(cls, value: bytes) -> "RequestElement":
        _only_lengths("REQUEST", value, 3)
        check_reserved("REQUEST", value[1] & 0xC0)
        return cls(value[0], int.from_bytes(value[1:], "big"))


@dataclass(frozen=True)
class Privacy:
    """The common fields of privacy elements: KEY_SEQ(4) VER(4), EN(1) TOG(1) SID or SAID(14)."""

    key_sequence: int
    enabled: bool
    toggle: int
    said: int
    version: int = 1

    def common(self) -> bytes:
        sequence = checked_field("KEY_SEQ", self.key_sequence, 4)
        version = checked_field("privacy version", self.version, 4)
        word = self.enabled << 15 | checked_field("toggle", self.toggle, 1) << 14
        word |= checked_field("SAID", self.said, 14)
        return bytes([sequence << 4 | version]) + word.to_bytes(2, "big")


def _privacy_fields(value: bytes) -> tuple[int, bool, int, int, int]:
    word = int.from_bytes(value[1:3], "big")
    return value[0] >> 4, bool(word & 0x8000), word >> 14 & 1, word & 0x3FFF, value[0] & 0x0F


@dataclass(frozen=True)
class BpUp(Privacy):
    """Upstream privacy of DOCSIS 2.0 and before, with piggyback request (SEC).

    `fragment`: the last byte in a fragmentation header, with First, Last and a 4-bit number.
    """

    EH_TYPE: ClassVar[int] = 3
    minislots: int = 0
    fragment: int | None = None

    def value(self) -> bytes:
        tail = [checked_field("minislots", self.minislots, 8)]
        if self.fragment is not None:
            tail.append(checked_field("fragment control", self.fragment, 6))
        return self.common() + bytes(tail)

    @classmethod
    def decode(cls, value: bytes) -> "BpUp":
        _only_lengths("BP_UP", value, 4, 5)
        if len(value) == 5:
            check_reserved("BP_UP fragment control", value[4] & 0xC0)
        return cls(*_privacy_fields(value), value[3], value[4] if len(value) == 5 else None)


@dataclass(frozen=True)
class BpDown(Privacy):
    """Downstream privacy: the security association and its key (SEC)."""

    EH_TYPE: ClassVar[int] = 4

    def value(self) -> bytes:
        return self.common() + b"\0"

    @classmethod
    def decode(cls, value: bytes) -> "BpDown":
        _only_lengths("BP_DOWN", value, 4)
        check_reserved("BP_DOWN", value[3])
        return cls(*_privacy_fields(value))


@dataclass(frozen=True)
class BpUp2(Privacy):
    """Upstream privacy of DOCSIS 3.0 and later; `said` is the SID."""

    EH_TYPE: ClassVar[int] = 7

    def value(self) -> bytes:
        return self.common()

    @classmethod
    def decode(cls, value: bytes) -> "BpUp2":
        _only_lengths("BP_UP2", value, 3)
        return cls(*_privacy_fields(value))


@dataclass(frozen=True)
class DsService:
    """Downstream service: priority, then DSID, then packet sequence number (DS EHDR, MULPI)."""

    EH_TYPE: ClassVar[int] = 8
    priority: int
    dsid: int | None = None
    sequence: int | None = None
    sequence_change_count: int = 0

    def value(self) -> bytes:
        priority = checked_field("traffic priority", self.priority, 3)
        if self.dsid is None:
            if self.sequence is not None or self.sequence_change_count:
                raise DocsisError("DS EHDR with a sequence number but without DSID")
            return bytes([priority << 5])
        change = checked_field("sequence change count", self.sequence_change_count, 1)
        if self.sequence is None and change:
            raise DocsisError("DS EHDR with a sequence change count but without sequence number")
        word = priority << 21 | change << 20 | checked_field("DSID", self.dsid, 20)
        head = word.to_bytes(3, "big")
        if self.sequence is None:
            return head
        return head + checked_field("packet sequence number", self.sequence, 16).to_bytes(2, "big")

    @classmethod
    def decode(cls, value: bytes) -> "DsService":
        _only_lengths("DS EHDR", value, 1, 3, 5)
        priority = value[0] >> 5
        if len(value) == 1:
            check_reserved("DS EHDR", value[0] & 0x1F)
            return cls(priority)
        dsid = int.from_bytes(value[:3], "big") & 0xFFFFF
        change = value[0] >> 4 & 1
        if len(value) == 3:
            check_reserved("DS EHDR", change)
            return cls(priority, dsid)
        return cls(priority, dsid, int.from_bytes(value[3:], "big"), change)


@dataclass(frozen=True)
class RawElement:
    """An element of a type that is not decoded."""

    type: int
    data: bytes

    @property
    def EH_TYPE(self) -> int:
        return self.type

    def value(self) -> bytes:
        return self.data


Element = Pad | RequestElement | BpUp | BpDown | BpUp2 | DsService | RawElement

_READERS = {
    reader.EH_TYPE: reader.decode
    for reader in (Pad, RequestElement, BpUp, BpDown, BpUp2, DsService)
}


def encode_ehdr(elements: Sequence[Element]) -> bytes:
    parts = []
    for element in elements:
        value = element.value()
        length = checked_field("element length", len(value), 4)
        parts.append(
            bytes([checked_field("element type", element.EH_TYPE, 4) << 4 | length]) + value
        )
    ehdr = b"".join(parts)
    if len(ehdr) > MAX_EHDR:
        raise DocsisError(f"extended header of {len(ehdr)} bytes, at most {MAX_EHDR}")
    return ehdr


def decode_ehdr(ehdr: bytes) -> tuple[Element, ...]:
    if len(ehdr) > MAX_EHDR:
        raise DocsisError(f"extended header of {len(ehdr)} bytes, at most {MAX_EHDR}")
    elements: list[Element] = []
    offset = 0
    while offset < len(ehdr):
        eh_type, length = ehdr[offset] >> 4, ehdr[offset] & 0x0F
        value = ehdr[offset + 1 : offset + 1 + length]
        if len(value) != length:
            raise DocsisError(f"element type {eh_type} at {offset} runs past the extended header")
        reader = _READERS.get(eh_type)
        elements.append(reader(value) if reader else RawElement(eh_type, value))
        offset += 1 + length
    return tuple(elements)
