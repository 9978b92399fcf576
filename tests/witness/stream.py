# SPDX-License-Identifier: BSD-3-Clause
"""MAC frames out of the segments of a service flow (docs/upstream.md, "Segments", "Frames")."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from witness.books import Books
from witness.mac_header import (
    CONCATENATION,
    FRAGMENT,
    MANAGEMENT,
    PACKET,
    QUEUE_REQUEST,
    REQUEST,
    MacHeader,
    read_mac_header,
)

SMALLEST_PDU = 18  # Ethernet header and CRC
SMALLEST_FRAGMENT = 5  # one byte and CRC

C = TypeVar("C")


def is_padding(rest: bytes) -> bool:
    return rest[:1] == b"\xff" or rest[:6] == bytes(6)


# By kind, the reasons to drop what may not stand in a stream.
REQUESTING = {kind: "not_ranging" for kind in (PACKET, FRAGMENT)}
RANGING = REQUESTING | {kind: "not_ranging" for kind in (REQUEST, QUEUE_REQUEST)}
JOINED = {FRAGMENT: "frame_reserved"}


def fault_of(header: MacHeader, max_frame: int, refused: Mapping[str, str]) -> str | None:
    """The drop reason that the header alone gives."""
    if header.fault is not None or header.size is None:
        return header.fault
    if header.kind in refused:
        return refused[header.kind]
    pdu = header.size - header.header_size
    if header.kind == PACKET and header.phsi:
        return "frame_phs"
    if header.kind in (PACKET, MANAGEMENT):
        if pdu > max_frame:
            return "frame_too_long"
        return "frame_runt" if pdu < SMALLEST_PDU else None
    return "frame_runt" if header.kind == FRAGMENT and pdu < SMALLEST_FRAGMENT else None


@dataclass
class Stream(Generic[C]):
    """One stream of frames. `notice` is told of each good header as soon as it is all there, and
    `deliver` of the whole frame, with what the caller gave along with the bytes that completed it.

    `partial` is the beginning of a frame; `skip` counts the bytes still to come of one that was
    dropped for its header. At most one of them is not empty.
    """

    books: Books
    max_frame: int
    timeout: int
    notice: Callable[[MacHeader, C], None]
    deliver: Callable[[bytes, MacHeader, C], None]
    refused: Mapping[str, str] = field(default_factory=dict)
    synced: bool = False
    partial: bytes = b""
    skip: int = 0
    begun: int = 0

    @property
    def deadline(self) -> int | None:
        return self.begun + self.timeout if self.partial else None

    def lose(self, reason: str) -> None:
        """The stream goes on at the next pointer."""
        if self.partial:
            self.books.drop(reason)
        self.partial, self.skip, self.synced = b"", 0, False

    def expire(self, now: int) -> None:
        if self.deadline is not None and now >= self.deadline:
            self.lose("frame_timeout")

    def burst(self, payload: bytes, context: C, now: int) -> None:
        """Frames without segment header: the burst starts with one and ends the last."""
        self.synced = True
        self._frames(payload, context, now)
        self.lose("frame_truncated")

    def segment(self, payload: bytes, pointer: int | None, context: C, now: int) -> None:
        """The next segment; a pointer lies within."""
        if pointer is not None:
            if not self.synced:
                self.books.count("resync_bytes", pointer)
            elif not self._ends_at(pointer, payload, context):
                self.lose("frame_pointer")
                self.books.count("resync_bytes", pointer)
            self.synced, self.skip = True, 0
            self.books.count("extracted")
            self._frames(payload[pointer:], context, now)
        elif not self.synced:
            self.books.drop("segment_orphan")
        else:
            self._unmarked(payload, context, now)

    def _header(self, more: bytes, context: C) -> tuple[MacHeader | None, bool]:
        """The header of the frame in progress with more bytes, and whether it is a good one. With a
        bad one the frame ends here."""
        header = read_mac_header(self.partial + more)
        if header is None:
            return None, False
        reason = fault_of(header, self.max_frame, self.refused)
        if reason is not None:
            self.books.drop(reason)
            self.partial = b""
        elif read_mac_header(self.partial) is None:
            self.notice(header, context)
        return header, reason is None

    def _ends_at(self, pointer: int, payload: bytes, context: C) -> bool:
        """Whether the frame in progress ends at the pointer; if so, it is dealt with."""
        if not self.partial:
            return self.skip == pointer
        data = self.partial + payload[:pointer]
        header, good = self._header(payload[:pointer], context)
        if header is None or header.size != len(data):
            return False
        if good:
            self._finish(data, header, context)
        return True

    def _finish(self, frame: bytes, header: MacHeader, context: C) -> None:
        self.partial = b""
        if header.kind == CONCATENATION:
            self.books.count("concatenations")
        else:
            self.deliver(frame, header, context)

    def _unmarked(self, payload: bytes, context: C, now: int) -> None:
        """A segment in which no frame begins: the rest of one, then padding."""
        used = self._continue(payload, context, now)
        rest = payload[used:] if used is not None else b""
        if used is None:
            self.books.count("resync_bytes", len(payload))
            self.lose("frame_pointer")  # nothing is left to be dropped
        elif is_padding(rest):
            self.books.count("padding_bytes", len(rest))
        elif rest:
            self.lose("frame_pointer")
            if not used:
                self.books.drop("segment_orphan")
                return
            self.books.count("resync_bytes", len(rest))
        self.books.count("extracted")

    def _continue(self, payload: bytes, context: C, now: int) -> int | None:
        """Bytes that belong to the frame in progress; None where that cannot be known."""
        if not self.partial:
            used = min(self.skip, len(payload))
            self.skip -= used
            return used
        already, data = len(self.partial), self.partial + payload
        header, good = self._header(payload, context)
        if header is None:
            self.partial = data
            return len(payload)
        if header.size is None:
            return None
        if not good:
            self.skip = max(header.size - len(data), 0)
        elif header.size > len(data):
            self.partial = data
        else:
            self._finish(data[: header.size], header, context)
        return min(header.size - already, len(payload))

    def _frames(self, payload: bytes, context: C, now: int) -> None:
        """`payload` starts where a frame does."""
        while payload:
            if is_padding(payload):
                self.books.count("padding_bytes", len(payload))
                return
            self.books.count("frames")
            header = read_mac_header(payload)
            if header is None:
                self.partial, self.begun = payload, now
                return
            reason = fault_of(header, self.max_frame, self.refused)
            if reason is not None:
                self.books.drop(reason)
                if header.size is None:
                    self.books.count("resync_bytes", len(payload))
                    self.lose(reason)
                    return
                self.skip = max(header.size - len(payload), 0)
            else:
                self.notice(header, context)
                if header.size is not None and header.size > len(payload):
                    self.partial, self.begun = payload, now
                    return
                self._finish(payload[: header.size], header, context)
            payload = payload[header.size :]
