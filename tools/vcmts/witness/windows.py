# SPDX-License-Identifier: BSD-3-Clause
"""Windows into the traffic of a run, as vcmts-traffic writes them (--witness): pcapng, an interface
for each direction of each service group, the number of its window for a comment at each packet."""

import struct
from dataclasses import dataclass, field
from pathlib import Path

from vcmts.capture.blocks import (
    COMMENT,
    HEADER,
    INTERFACE,
    NAME,
    PACKET,
    Blocks,
    BrokenError,
    option_of,
)
from vcmts.witness.pcapfile import Record

INTERFACE_HEAD, PACKET_HEAD = 16, 28  # bytes before options, and before a packet


class WindowsError(ValueError):
    """The file is not one of windows."""


@dataclass
class Window:
    """Packets of the R-PHY port that followed each other."""

    direction: str  # downstream, upstream
    place: int  # of the service group in its file
    records: list[Record] = field(default_factory=list)


def _packet(block: bytes, names: list[str], into: dict[tuple[str, str], Window]) -> None:
    interface, high, low, size, wire_size = struct.unpack_from("<IIIII", block, HEADER.size)
    name = names[interface]
    direction, _, place = name.partition(" ")
    number = option_of(block, PACKET_HEAD + -(-size // 4) * 4, COMMENT)
    if not number:
        raise WindowsError("a packet of no window")
    window = into.setdefault((name, number), Window(direction, int(place)))
    data = block[PACKET_HEAD : PACKET_HEAD + size]
    window.records.append(Record(high << 32 | low, data, wire_size))


def read_windows(path: Path) -> list[Window]:
    """All of a file. Raises WindowsError."""
    names: list[str] = []
    windows: dict[tuple[str, str], Window] = {}
    blocks = Blocks()
    try:
        for block in blocks.take(path.read_bytes()):
            kind, _ = HEADER.unpack_from(block)
            if kind == INTERFACE:
                names.append(option_of(block, INTERFACE_HEAD, NAME))
            elif kind == PACKET:
                _packet(block, names, windows)
    except (BrokenError, struct.error, IndexError, ValueError) as error:
        raise WindowsError(f"{path}: no file of windows: {error!r}") from error
    if blocks.rest:
        raise WindowsError(f"{path}: {len(blocks.rest)} bytes of a block at the end")
    return list(windows.values())
