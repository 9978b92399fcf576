# SPDX-License-Identifier: BSD-3-Clause
"""Model: reassembles bursts from PSP segments, which may be damaged (docs/upstream.md,
"Bursts")."""

from dataclasses import dataclass
from enum import Enum, auto

from vcmts.witness.depi import Segment
from witness.accounting import Accounting

MAX_BYTES = 65535
MAX_PIECES = 64
FEC_VALID = 0x0008
VENDOR = 0x0001
REQUEST_IUC = 1


@dataclass(frozen=True)
class Header:
    sid: int
    request: bool  # of a request opportunity
    burst_id: int | None  # OFDMA


@dataclass(frozen=True)
class Received:
    """A complete burst with payload."""

    sid: int
    request: bool
    payload: bytes


class State(Enum):
    IDLE = auto()
    OPEN = auto()
    HEADLESS = auto()  # payload of a burst without header, already dropped
    SKIPPING = auto()  # skips the rest of a dropped burst, up to the next header


def read_header(data: bytes, ofdma: bool) -> Header | None:
    """Decodes a header; None if it is invalid."""
    if len(data) != (16 if ofdma else 8) or (ofdma and data[0] >> 6 != 1):
        return None
    sid = int.from_bytes(data[2:4], "big") & 0x3FFF
    return Header(sid, data[1] == REQUEST_IUC, int.from_bytes(data[8:12], "big") if ofdma else None)


def _is_sc_qam_trailer_size(data: bytes) -> bool:
    if not int.from_bytes(data[:2], "big") & VENDOR:
        return len(data) in (8, 112)
    return any(len(data) >= at + 4 and data[at + 3] == len(data) - at - 4 for at in (8, 112))


@dataclass
class Assembler:
    """Reassembles the bursts of one session and PSP flow. Times are nanoseconds."""

    accounting: Accounting
    ofdma: bool
    timeout: int
    state: State = State.IDLE
    header: Header | None = None
    payload: bytes = b""
    pieces: int = 0
    opened: int = 0

    @property
    def deadline(self) -> int | None:
        return self.opened + self.timeout if self.state is State.OPEN else None

    def _abandon(self, reason: str) -> None:
        if self.state is State.OPEN:
            self.accounting.drop(reason)
            self.state = State.SKIPPING

    def gap(self) -> None:
        self._abandon("burst_gap")

    def stop(self) -> None:
        self._abandon("burst_stopped")

    def remove(self) -> None:
        self._abandon("burst_session_removed")

    def expire(self, now: int) -> None:
        if self.deadline is not None and now >= self.deadline:
            self._abandon("burst_timeout")

    def push(self, segment: Segment, now: int) -> Received | None:
        """Adds a segment. Returns the burst that it completes, if that is valid and not empty."""
        if segment.begin:
            self._begin(segment, now)
        elif self.state is State.IDLE:
            self.accounting.count("bursts")
            self.accounting.drop("burst_headless")
            self.state = State.HEADLESS
        elif self.state is State.OPEN:
            if segment.end:
                return self._end(segment.data)
            self._piece(segment.data)
        return None

    def _begin(self, segment: Segment, now: int) -> None:
        self._abandon("burst_broken")
        self.accounting.count("bursts")
        header = None if segment.end else read_header(segment.data, self.ofdma)
        if header is None:
            self.accounting.drop("burst_header")
            self.state = State.SKIPPING
            return
        self.state, self.opened = State.OPEN, now
        self.header, self.payload, self.pieces = header, b"", 0

    def _piece(self, data: bytes) -> None:
        self.payload += data
        self.pieces += bool(data)
        if len(self.payload) > MAX_BYTES or self.pieces > MAX_PIECES:
            self._abandon("burst_too_long")

    def _check_trailer(self, data: bytes, header: Header) -> bool:
        """Returns whether the trailer is valid. Counts its uncorrectable codewords."""
        if self.ofdma:
            good = len(data) == 20 and data[0] >> 6 == 1
            if not good or int.from_bytes(data[4:8], "big") != header.burst_id:
                return False
            uncorrectable = int.from_bytes(data[12:14], "big")
        else:
            if len(data) < 8 or not _is_sc_qam_trailer_size(data):
                self.accounting.count("odd_trailers")
            if len(data) < 8:
                return True
            uncorrectable = data[5]
        if int.from_bytes(data[:2], "big") & FEC_VALID:
            self.accounting.count("fec_uncorrectable", uncorrectable)
        return True

    def _end(self, trailer: bytes) -> Received | None:
        assert self.header is not None
        self.state = State.IDLE
        if not self._check_trailer(trailer, self.header):
            self.accounting.drop("burst_trailer")
            return None
        if not self.payload:
            self.accounting.count("no_bursts")
            return None
        return Received(self.header.sid, self.header.request, self.payload)
