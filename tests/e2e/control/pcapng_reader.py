# SPDX-License-Identifier: BSD-3-Clause
"""Reads pcapng files by the specification (draft-ietf-opsawg-pcapng) and checks their format."""

import struct
from dataclasses import dataclass, field

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
COMMENT, NAME, RECEIVED, DROPPED = 1, 2, 4, 5


@dataclass(frozen=True)
class Packet:
    interface: str
    link: int  # link type
    data: bytes
    wire_size: int
    time_ns: int
    comment: str
    flags: int

    @property
    def reason(self) -> str:
        """Drop reason, from the comment. Empty if the packet was not dropped."""
        return self.comment.split()[1] if self.comment.startswith("dropped: ") else ""


@dataclass
class Capture:
    interfaces: list[tuple[str, int]] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)  # of statistics blocks
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)  # received, dropped

    @property
    def links(self) -> dict[str, int]:
        return {packet.interface: packet.link for packet in self.packets}


def read_options(data: bytes) -> dict[int, bytes]:
    """The options of a block, by code. Checks their end and padding."""
    options: dict[int, bytes] = {}
    while data:
        code, size = struct.unpack_from("<HH", data)
        if code == 0:
            assert size == 0
            assert len(data) == 4, "data follows the end of options"
            return options
        options[code] = data[4 : 4 + size]
        assert not any(data[4 + size : 4 + -(-size // 4) * 4]), "padding is not zero"
        data = data[4 + -(-size // 4) * 4 :]
    raise AssertionError("options have no end")


def read_block(kind: int, body: bytes, capture: Capture) -> None:
    if kind == SECTION:
        assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
    elif kind == INTERFACE:
        link, zero, _ = struct.unpack_from("<HHI", body)
        options = read_options(body[8:])
        assert zero == 0
        assert options[9] == bytes([9])  # nanoseconds
        capture.interfaces.append((options[NAME].decode(), link))
    elif kind == PACKET:
        number, high, low, size, wire = struct.unpack_from("<IIIII", body)
        name, link = capture.interfaces[number]
        options = read_options(body[20 + -(-size // 4) * 4 :])
        comment = options[COMMENT].decode()
        [flags] = struct.unpack("<I", options[2])
        data = body[20 : 20 + size]
        capture.packets.append(Packet(name, link, data, wire, high << 32 | low, comment, flags))
    elif kind == STATISTICS:
        [number] = struct.unpack_from("<I", body)
        options = read_options(body[12:])
        if COMMENT in options:
            capture.comments.append(options[COMMENT].decode())
        if RECEIVED in options:
            counts = struct.unpack("<QQ", options[RECEIVED] + options[DROPPED])
            capture.counts[capture.interfaces[number][0]] = counts
    else:
        raise AssertionError(f"unknown block type {kind}")


def read_pcapng(data: bytes) -> Capture:
    """Reads a file that must be complete."""
    capture = Capture()
    position = 0
    while position < len(data):
        kind, size = struct.unpack_from("<II", data, position)
        assert size % 4 == 0 and size > 0
        assert struct.unpack_from("<I", data, position + size - 4) == (size,)
        read_block(kind, data[position + 8 : position + size - 4], capture)
        position += size
    return capture
