# SPDX-License-Identifier: BSD-3-Clause
"""Windows into the traffic of a run, as vcmts-traffic writes them (--witness): pcapng, an interface
for each direction of each service group, the number of its window for a comment at each packet."""

import struct
from dataclasses import dataclass, field
from pathlib import Path

from vcmts.witness.pcapfile import Record

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
COMMENT, NAME = 1, 2
HEAD = struct.Struct("<II")


class WindowsError(ValueError):
    """The file is not one of windows."""


@dataclass
class Window:
    """Packets of the R-PHY port that followed each other."""

    direction: str  # downstream, upstream
    place: int  # of the service group in its file
    records: list[Record] = field(default_factory=list)


def _option(options: bytes, wanted: int) -> str:
    """The text of the first option of this kind."""
    while len(options) >= 4:
        kind, size = struct.unpack_from("<HH", options)
        if kind == wanted:
            return options[4 : 4 + size].decode()
        if kind == 0:
            break
        options = options[4 + -(-size // 4) * 4 :]
    raise WindowsError(f"a block without option {wanted}")


def _packet(body: bytes, names: list[str], into: dict[tuple[str, str], Window]) -> None:
    interface, high, low, size, wire_size = struct.unpack_from("<IIIII", body)
    name = names[interface]
    direction, _, place = name.partition(" ")
    number = _option(body[20 + -(-size // 4) * 4 :], COMMENT)
    window = into.setdefault((name, number), Window(direction, int(place)))
    window.records.append(Record(high << 32 | low, body[20 : 20 + size], wire_size))


def read_windows(path: Path) -> list[Window]:
    """All of a file. Raises WindowsError."""
    data = path.read_bytes()
    names: list[str] = []
    windows: dict[tuple[str, str], Window] = {}
    at = 0
    try:
        while at < len(data):
            kind, size = HEAD.unpack_from(data, at)
            body = data[at + HEAD.size : at + size - 4]
            if kind == INTERFACE:
                names.append(_option(body[8:], NAME))
            elif kind == PACKET:
                _packet(body, names, windows)
            elif kind != SECTION:
                raise WindowsError(f"block {kind}")
            at += max(size, HEAD.size)
    except (struct.error, IndexError, ValueError) as error:
        raise WindowsError(f"{path}: byte {at}: {error}") from error
    return list(windows.values())
