# SPDX-License-Identifier: BSD-3-Clause
"""Splits a pcapng stream into blocks, and counts its packets."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
HEADER = struct.Struct("<II")
STATISTICS_HEAD = 20  # bytes before the options of a statistics block
COMMENT, NAME = 1, 2
LARGEST = 1 << 20  # maximum bytes of a block
STATISTICS_TEXT = re.compile(
    r"captured: (?P<captured>\d+), matched: (?P<matched>\d+), beyond the rate: (?P<limited>\d+), "
    r"missed: (?P<missed>\d+)(?:; end: (?P<end>.*))?"
)


class FormatError(Exception):
    """The stream is not pcapng."""


@dataclass
class CaptureStatus:
    """Packets received so far, and the statistics that vcmtsd sent."""

    packets: int = 0
    limited: int = 0  # beyond the rate
    missed: int = 0
    end: str | None = None  # why vcmtsd ended the capture; None: it has not


def option_text(block: bytes, at: int, wanted: int) -> str:
    """The text of the first option with code `wanted` in a block whose options begin at `at`; ""
    without one."""
    while at + 4 <= len(block) - 4:
        code, size = struct.unpack_from("<HH", block, at)
        if code == wanted:
            return block[at + 4 : at + 4 + size].decode(errors="replace")
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return ""


def update_status(kind: int, block: bytes, status: CaptureStatus) -> None:
    if kind == PACKET:
        status.packets += 1
    elif kind == STATISTICS and (
        said := STATISTICS_TEXT.fullmatch(option_text(block, STATISTICS_HEAD, COMMENT))
    ):
        status.limited, status.missed = int(said["limited"]), int(said["missed"])
        status.end = said["end"]


@dataclass
class Blocks:
    status: CaptureStatus = field(default_factory=CaptureStatus)
    incomplete: bytes = b""  # of a block that is not whole yet

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Adds data. Yields the blocks that it completes."""
        data = self.incomplete + piece
        at = 0
        while at + HEADER.size <= len(data):
            kind, size = HEADER.unpack_from(data, at)
            if not 12 <= size <= LARGEST or size % 4:
                raise FormatError
            if at + size > len(data):
                break
            block = data[at : at + size]
            update_status(kind, block, self.status)
            yield block
            at += size
        self.incomplete = data[at:]
