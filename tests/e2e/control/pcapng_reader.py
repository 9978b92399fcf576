# SPDX-License-Identifier: BSD-3-Clause
"""Reads pcapng by its specification (draft-ietf-opsawg-pcapng): captures are held against it."""

import struct
from dataclasses import dataclass, field

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
COMMENT, NAME, RECEIVED, DROPPED = 1, 2, 4, 5


@dataclass(frozen=True)
class Packet:
    interface: str
    link: int
    data: bytes
    wire_size: int
    time_ns: int
    comment: str
    flags: int

    @property
    def reason(self) -> str:
        """For which it was dropped; empty where it was not."""
        return self.comment.split()[1] if self.comment.startswith("dropped: ") else ""


@dataclass
class Read:
    interfaces: list[tuple[str, int]] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)  # of statistics
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)  # by interface

    @property
    def links(self) -> dict[str, int]:
        return {packet.interface: packet.link for packet in self.packets}


def options_of(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while data:
        code, size = struct.unpack_from("<HH", data)
        if code == 0:
            assert size == 0
            assert len(data) == 4, "nothing is behind the end"
            return found
        found[code] = data[4 : 4 + size]
        assert not any(data[4 + size : 4 + -(-size // 4) * 4]), "padding is zeros"
        data = data[4 + -(-size // 4) * 4 :]
    raise AssertionError("no end of options")


def read_block(kind: int, body: bytes, into: Read) -> None:
    if kind == SECTION:
        assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
    elif kind == INTERFACE:
        link, zero, _ = struct.unpack_from("<HHI", body)
        options = options_of(body[8:])
        assert zero == 0
        assert options[9] == bytes([9])  # nanoseconds
        into.interfaces.append((options[NAME].decode(), link))
    elif kind == PACKET:
        number, high, low, size, wire = struct.unpack_from("<IIIII", body)
        name, link = into.interfaces[number]
        options = options_of(body[20 + -(-size // 4) * 4 :])
        comment = options[COMMENT].decode()
        [flags] = struct.unpack("<I", options[2])
        data = body[20 : 20 + size]
        into.packets.append(Packet(name, link, data, wire, high << 32 | low, comment, flags))
    elif kind == STATISTICS:
        [number] = struct.unpack_from("<I", body)
        options = options_of(body[12:])
        if COMMENT in options:
            into.comments.append(options[COMMENT].decode())
        if RECEIVED in options:
            counts = struct.unpack("<QQ", options[RECEIVED] + options[DROPPED])
            into.counted[into.interfaces[number][0]] = counts
    else:
        raise AssertionError(f"block {kind}")


def read_pcapng(data: bytes) -> Read:
    """All of it, which must be whole."""
    read = Read()
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0 and size > 0
        assert struct.unpack_from("<I", data, at + size - 4) == (size,)
        read_block(kind, data[at + 8 : at + size - 4], read)
        at += size
    return read
