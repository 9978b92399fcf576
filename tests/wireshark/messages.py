# SPDX-License-Identifier: BSD-3-Clause
"""Calls src/wire through messages.c: writes MAPs and UCDs as DOCSIS frames, and checks MAPs."""

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from wireshark.tshark import CHECKOUT

SOURCES = ["crc32", "docsis_mac", "hcs", "management", "map", "ucd", "ucd_check", "ucd_read"]
# enum part of messages.c
FIELD, BURST, BURST_FIELD, RUN, EXCLUDED, UNUSED, SNAPSHOT, PREAMBLE = range(8)
FRAME_MAX = 4096


@cache
def load_library() -> ctypes.CDLL:
    """Compiles and loads messages.c with the sources of src/wire, once."""
    with TemporaryDirectory(prefix="messages-") as folder:
        path = Path(folder) / "messages.so"
        sources = [CHECKOUT / "src" / "wire" / f"{name}.c" for name in SOURCES]
        shim = Path(__file__).with_name("messages.c")
        flags: list[str | Path] = ["-std=gnu17", "-shared", "-fPIC", "-O1", "-I", CHECKOUT / "src"]
        subprocess.run(["cc", *flags, shim, *sources, "-lz", "-o", path], check=True)
        loaded = ctypes.CDLL(str(path))
    loaded.map_frame.restype = loaded.ucd_frame.restype = ctypes.c_size_t
    return loaded


def _uint32_array(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * len(values))(*values)


def map_frame(
    version: int, head: tuple[int, ...], elements: Sequence[tuple[int, int, int]]
) -> bytes:
    """A MAP as a frame. Empty when src/wire rejects the MAP.

    `version`: of the message, 1 or 5. `head`: channel, UCD count, alloc start and ack time in
    minislots; ranging start, ranging end, data start, data end as exponents of 2. `elements`: SID,
    IUC, offset in minislots. A null element (IUC 7) ends the allocations; pending grants and
    acknowledgements follow it.
    """
    out = ctypes.create_string_buffer(FRAME_MAX)
    numbers = _uint32_array([*chain.from_iterable(elements)])
    function = load_library().map_frame
    size = function(
        out, ctypes.c_size_t(FRAME_MAX), version, _uint32_array(head), numbers, len(elements)
    )
    return out.raw[:size]


def map_verdict(version: int, body: bytes) -> int:
    """The enum map_verdict of map_read(), then of map_check(), for a MAP's body. 0: valid."""
    verdict: int = load_library().map_verdict(version, body, ctypes.c_size_t(len(body)))
    return verdict


@dataclass
class Ucd:
    """A UCD to write. `type`: message type 2, 29, 35 or 51. `channel`, `downstream`: channel IDs.
    `count`: UCD count. `ticks`: minislot size in units of 6.25 us, 0 for OFDMA. add() fills
    `parts`.
    """

    type: int
    channel: int
    count: int = 0
    ticks: int = 0
    downstream: int = 1
    parts: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, kind: int, *numbers: int) -> None:
        """Adds a part with one to three numbers, as enum part in messages.c lists them. BURST_FIELD
        and RUN belong to the last BURST."""
        first, second, third = (*numbers, 0, 0)[:3]
        self.parts.append((kind, first, second, third))

    def frame(self) -> bytes:
        """The UCD as a frame. Empty when src/wire rejects it."""
        out = ctypes.create_string_buffer(FRAME_MAX)
        head = _uint32_array([self.type, self.channel, self.count, self.ticks, self.downstream])
        numbers = _uint32_array([*chain.from_iterable(self.parts)])
        function = load_library().ucd_frame
        size = function(out, ctypes.c_size_t(FRAME_MAX), head, numbers, len(self.parts))
        return out.raw[:size]
