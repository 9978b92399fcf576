# SPDX-License-Identifier: BSD-3-Clause
"""Reads the parts of a run's traffic (windows) that `vcmts-traffic --witness` captures.

The file is pcapng with an interface per direction and service group. The comment of each packet is
the number of its window.
"""

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
    FormatError,
    option_text,
)
from vcmts.witness.pcapfile import Record

INTERFACE_HEAD, PACKET_HEAD = 16, 28  # bytes before the options, and before the packet data


class WindowsError(ValueError):
    """Malformed file of windows."""


@dataclass
class Window:
    """Consecutive packets of the R-PHY port."""

    direction: str  # downstream, upstream
    group_index: int  # of the service group in the configuration
    records: list[Record] = field(default_factory=list)


def _packet(block: bytes, names: list[str], into: dict[tuple[str, str], Window]) -> None:
    interface, high, low, size, wire_size = struct.unpack_from("<IIIII", block, HEADER.size)
    name = names[interface]
    direction, _, group_index = name.partition(" ")
    number = option_text(block, PACKET_HEAD + -(-size // 4) * 4, COMMENT)
    if not number:
        raise WindowsError("a packet without the number of its window")
    window = into.setdefault((name, number), Window(direction, int(group_index)))
    data = block[PACKET_HEAD : PACKET_HEAD + size]
    window.records.append(Record(high << 32 | low, data, wire_size))


def read_windows(path: Path) -> list[Window]:
    """Reads all windows of a file. Raises WindowsError."""
    names: list[str] = []
    windows: dict[tuple[str, str], Window] = {}
    blocks = Blocks()
    try:
        for block in blocks.feed(path.read_bytes()):
            kind, _ = HEADER.unpack_from(block)
            if kind == INTERFACE:
                names.append(option_text(block, INTERFACE_HEAD, NAME))
            elif kind == PACKET:
                _packet(block, names, windows)
    except (FormatError, struct.error, IndexError, ValueError) as error:
        raise WindowsError(f"{path}: not a file of windows: {error!r}") from error
    if blocks.incomplete:
        raise WindowsError(f"{path}: {len(blocks.incomplete)} bytes of a block at the end")
    return list(windows.values())
