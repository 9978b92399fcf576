# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of a pcapng stream, as they come: whole ones are passed on, and counted."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
HEADER = struct.Struct("<II")
STATISTICS_HEAD = 20  # bytes before its options
COMMENT, NAME = 1, 2
LARGEST = 1 << 20  # bytes of a block
SAID = re.compile(
    r"captured: (?P<captured>\d+), matched: (?P<matched>\d+), beyond the rate: (?P<limited>\d+), "
    r"missed: (?P<missed>\d+)(?:; end: (?P<end>.*))?"
)


class BrokenError(Exception):
    """What came is no pcapng."""


@dataclass
class Told:
    """What has come so far, and what vcmtsd says of it."""

    packets: int = 0
    limited: int = 0  # beyond the rate
    missed: int = 0
    end: str | None = None  # None: the file has not come to its end


def option_of(block: bytes, at: int, wanted: int) -> str:
    """The text of the first option of this kind in a block whose options begin at `at`; empty where
    it has none."""
    while at + 4 <= len(block) - 4:
        code, size = struct.unpack_from("<HH", block, at)
        if code == wanted:
            return block[at + 4 : at + 4 + size].decode(errors="replace")
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return ""


def look(kind: int, block: bytes, told: Told) -> None:
    if kind == PACKET:
        told.packets += 1
    elif kind == STATISTICS and (
        said := SAID.fullmatch(option_of(block, STATISTICS_HEAD, COMMENT))
    ):
        told.limited, told.missed = int(said["limited"]), int(said["missed"])
        told.end = said["end"]


@dataclass
class Blocks:
    told: Told = field(default_factory=Told)
    rest: bytes = b""  # of a block that is not whole yet

    def take(self, piece: bytes) -> Iterator[bytes]:
        """The whole blocks that there are with this piece."""
        data = self.rest + piece
        at = 0
        while at + HEADER.size <= len(data):
            kind, size = HEADER.unpack_from(data, at)
            if not 12 <= size <= LARGEST or size % 4:
                raise BrokenError
            if at + size > len(data):
                break
            block = data[at : at + size]
            look(kind, block, self.told)
            yield block
            at += size
        self.rest = data[at:]
