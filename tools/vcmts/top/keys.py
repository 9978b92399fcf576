# SPDX-License-Identifier: BSD-3-Clause
"""Reads single keys from a terminal without echo."""

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

# Byte sequences of terminals, in normal and application cursor mode.
SEQUENCES = {
    **{b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left"},
    **{b"\x1bOA": "up", b"\x1bOB": "down", b"\x1bOC": "right", b"\x1bOD": "left"},
    **{b"\x1b[5~": "page up", b"\x1b[6~": "page down"},
    **{b"\x1b[H": "home", b"\x1bOH": "home", b"\x1b[1~": "home"},
    **{b"\x1b[F": "end", b"\x1bOF": "end", b"\x1b[4~": "end"},
    **{b"\r": "enter", b"\n": "enter", b"\t": "tab", b"\x7f": "backspace", b"\x08": "backspace"},
    **{b"\x1a": "suspend", b"\x0c": "redraw"},
}
ESCAPE = b"\x1b"
# An escape without further bytes for so long is the key Escape.
ESCAPE_S = 0.05
MOST = 1024  # bytes per read


def sequence_end(data: bytes) -> int:
    """The length of the control sequence at the beginning (ECMA-48); 0: incomplete."""
    if data[1:2] not in (b"[", b"O"):
        return 1 if len(data) > 1 else 0
    for index in range(2, len(data)):
        if 0x40 <= data[index] <= 0x7E:
            return index + 1
    return 0


def decode_keys(data: bytes) -> tuple[list[str], bytes]:
    """Returns the names of keys, and the bytes of an incomplete one. Ignores unknown sequences."""
    keys = []
    while data:
        end = sequence_end(data) if data.startswith(ESCAPE) else 1
        if not end:
            break
        part, data = data[:end], data[end:]
        if part in SEQUENCES:
            keys.append(SEQUENCES[part])
        elif part == ESCAPE:
            keys.append("escape")
        elif len(part) == 1 and part.isascii() and part.decode().isprintable():
            keys.append(part.decode())
    return keys, data


class Keys:
    """The keys of the terminal `fd`. Call `read` when it is readable."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.ended = False  # end of the input, or the terminal was closed
        self._rest = b""

    def _more(self) -> bytes:
        try:
            data = os.read(self.fd, MOST)
        except OSError:
            data = b""
        self.ended |= not data
        return data

    def read(self) -> list[str]:
        keys, self._rest = decode_keys(self._rest + self._more())
        while self._rest and select.select([self.fd], [], [], ESCAPE_S)[0] and not self.ended:
            more, self._rest = decode_keys(self._rest + self._more())
            keys += more
        if self._rest:
            keys, self._rest = [*keys, "escape"], b""
        return keys


@contextmanager
def unbuffered(fd: int) -> Iterator[None]:
    """A context in which the terminal delivers single keys without echo, and Ctrl-Z is a key."""
    before = termios.tcgetattr(fd)
    mode = termios.tcgetattr(fd)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    mode[6][termios.VSUSP] = b"\0"  # none
    termios.tcsetattr(fd, termios.TCSADRAIN, mode)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
