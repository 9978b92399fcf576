# SPDX-License-Identifier: BSD-3-Clause
"""Management messages written by the C side (messages.c), as whole DOCSIS frames."""

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from wireshark.stage import CHECKOUT

SOURCES = ["crc32", "docsis_mac", "hcs", "management", "map", "ucd", "ucd_check", "ucd_read"]
FIELD, BURST, BURST_FIELD, RUN, EXCLUDED, UNUSED, SNAPSHOT, PREAMBLE = range(8)
LARGEST = 4096


@cache
def library() -> ctypes.CDLL:
    """The C side, compiled once; the file is gone when it is loaded."""
    with TemporaryDirectory(prefix="messages-") as folder:
        path = Path(folder) / "messages.so"
        sources = [CHECKOUT / "src" / "wire" / f"{name}.c" for name in SOURCES]
        shim = Path(__file__).with_name("messages.c")
        flags: list[str | Path] = ["-std=gnu17", "-shared", "-fPIC", "-O1", "-I", CHECKOUT / "src"]
        subprocess.run(["cc", *flags, shim, *sources, "-lz", "-o", path], check=True)
        loaded = ctypes.CDLL(str(path))
    loaded.map_frame.restype = loaded.ucd_frame.restype = ctypes.c_size_t
    return loaded


def _words(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * len(values))(*values)


def map_frame(
    version: int, head: tuple[int, ...], elements: Sequence[tuple[int, int, int]]
) -> bytes:
    """`head`: channel, UCD count, alloc start, ack time, four back-offs; SID, IUC, offset each.
    Empty where the C side refuses it."""
    out = ctypes.create_string_buffer(LARGEST)
    flat = _words([*chain.from_iterable(elements)])
    call = library().map_frame
    size = call(out, ctypes.c_size_t(LARGEST), version, _words(head), flat, len(elements))
    return out.raw[:size]


def map_verdict(version: int, body: bytes) -> int:
    """0 where the C side reads a MAP that keeps the rules."""
    verdict: int = library().map_verdict(version, body, ctypes.c_size_t(len(body)))
    return verdict


@dataclass
class Ucd:
    type: int
    channel: int
    count: int = 0
    ticks: int = 0
    downstream: int = 1
    parts: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, kind: int, *numbers: int) -> None:
        """A part as messages.c lists them, of up to three numbers."""
        first, second, third = (*numbers, 0, 0)[:3]
        self.parts.append((kind, first, second, third))

    def frame(self) -> bytes:
        """Empty where the C side refuses it."""
        out = ctypes.create_string_buffer(LARGEST)
        head = _words([self.type, self.channel, self.count, self.ticks, self.downstream])
        flat = _words([*chain.from_iterable(self.parts)])
        call = library().ucd_frame
        size = call(out, ctypes.c_size_t(LARGEST), head, flat, len(self.parts))
        return out.raw[:size]
