# SPDX-License-Identifier: BSD-3-Clause
"""Writes files of windows in the format of `vcmts-traffic --witness` (pcapng)."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path


def option(kind: int, text: str) -> bytes:
    data = text.encode()
    return struct.pack("<HH", kind, len(data)) + data + bytes(-len(data) % 4)


def block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def interface(name: str) -> bytes:
    """An interface description block: a direction of a service group."""
    return block(1, struct.pack("<HHI", 1, 0, 0) + option(2, name) + bytes(4))


def packet(interface_index: int, window_number: int, data: bytes, *, missing: int = 2) -> bytes:
    """An enhanced packet block. `missing`: bytes of the packet that are not in the file.
    The window number is a comment."""
    head = struct.pack("<IIIII", interface_index, 0, 7, len(data), len(data) + missing)
    padded = data + bytes(-len(data) % 4)
    return block(6, head + padded + option(1, str(window_number)) + bytes(4))


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def write_windows(path: Path, windows: Iterable[tuple[str, Sequence[bytes]]]) -> None:
    """Writes windows, each as (interface name, packets)."""
    listed = list(windows)
    blocks = [SECTION, *(interface(name) for name, _ in listed)]
    for interface_index, (_, packets) in enumerate(listed):
        blocks += [packet(interface_index, 0, data, missing=0) for data in packets]
    path.write_bytes(b"".join(blocks))
