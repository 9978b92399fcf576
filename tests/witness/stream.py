# SPDX-License-Identifier: BSD-3-Clause
"""Model: extracts MAC frames from the segments of a flow (docs/upstream.md, "Segments",
"Frames")."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from witness.accounting import Accounting
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
    """Whether the bytes where a frame could begin are padding, up to the end of the burst."""
    return rest[:1] == b"\xff" or rest[:6] == bytes(6)


# Drop reasons of the kinds of frames that a stream must not contain.
REQUESTING = {kind: "not_ranging" for kind in (PACKET, FRAGMENT)}
RANGING = REQUESTING | {kind: "not_ranging" for kind in (REQUEST, QUEUE_REQUEST)}
JOINED = {FRAGMENT: "frame_reserved"}


def fault_of(header: MacHeader, max_frame: int, refused: Mapping[str, str]) -> str | None:
    """The drop reason of a frame according to its header, or None."""
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
    """A stream of frames. It calls `notice` for each complete valid header and `deliver` for each
    complete frame, with the `context` of the bytes that completed it.

    `partial`: the first bytes of an incomplete frame. `skip`: bytes to come of a frame that was
    dropped by its header. At most one of both is not empty.
    """

    accounting: Accounting
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
        """Drops the incomplete frame. The stream continues at the next pointer."""
        if self.partial:
            self.accounting.drop(reason)
        self.partial, self.skip, self.synced = b"", 0, False

    def expire(self, now: int) -> None:
        if self.deadline is not None and now >= self.deadline:
            self.lose("frame_timeout")

    def burst(self, payload: bytes, context: C, now: int) -> None:
        """Adds a burst without segment header, which has whole frames."""
        self.synced = True
        self._frames(payload, context, now)
        self.lose("frame_truncated")

    def segment(self, payload: bytes, pointer: int | None, context: C, now: int) -> None:
        """Adds the next segment. The pointer must be within."""
        if pointer is not None:
            if not self.synced:
                self.accounting.count("resync_bytes", pointer)
            elif not self._ends_at(pointer, payload, context):
                self.lose("frame_pointer")
                self.accounting.count("resync_bytes", pointer)
            self.synced, self.skip = True, 0
            self.accounting.count("extracted")
            self._frames(payload[pointer:], context, now)
        elif not self.synced:
            self.accounting.drop("segment_orphan")
        else:
            self._unmarked(payload, context, now)

    def _header(self, more: bytes, context: C) -> tuple[MacHeader | None, bool]:
        """Returns the header of the incomplete frame with more bytes (None if incomplete), and
        whether it is valid. Drops the frame if it is not."""
        header = read_mac_header(self.partial + more)
        if header is None:
            return None, False
        reason = fault_of(header, self.max_frame, self.refused)
        if reason is not None:
            self.accounting.drop(reason)
            self.partial = b""
        elif read_mac_header(self.partial) is None:
            self.notice(header, context)
        return header, reason is None

    def _ends_at(self, pointer: int, payload: bytes, context: C) -> bool:
        """Returns whether the incomplete frame ends at the pointer; if so, finishes it."""
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
            self.accounting.count("concatenations")
        else:
            self.deliver(frame, header, context)

    def _unmarked(self, payload: bytes, context: C, now: int) -> None:
        """Adds a segment without pointer: the rest of a frame, then padding."""
        used = self._continue(payload, context, now)
        rest = payload[used:] if used is not None else b""
        if used is None:
            self.accounting.count("resync_bytes", len(payload))
            self.lose("frame_pointer")  # drops nothing, as there is no incomplete frame
        elif is_padding(rest):
            self.accounting.count("padding_bytes", len(rest))
        elif rest:
            self.lose("frame_pointer")
            if not used:
                self.accounting.drop("segment_orphan")
                return
            self.accounting.count("resync_bytes", len(rest))
        self.accounting.count("extracted")

    def _continue(self, payload: bytes, context: C, now: int) -> int | None:
        """Continues the incomplete frame. Returns how many bytes belong to it; None if unknown."""
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
        """Extracts frames. `payload` begins with a frame."""
        while payload:
            if is_padding(payload):
                self.accounting.count("padding_bytes", len(payload))
                return
            self.accounting.count("frames")
            header = read_mac_header(payload)
            if header is None:
                self.partial, self.begun = payload, now
                return
            reason = fault_of(header, self.max_frame, self.refused)
            if reason is not None:
                self.accounting.drop(reason)
                if header.size is None:
                    self.accounting.count("resync_bytes", len(payload))
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
