# SPDX-License-Identifier: BSD-3-Clause
"""Where a capture goes: a file, or standard output, whole block by whole block."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vcmts.paths import MistakeError

STDOUT = "-"


class Output:
    """Takes whole blocks only: what cannot be written whole is taken back where that can be."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Raises OSError where it cannot; then the blocks before are all that is there."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            if self._regular:
                os.ftruncate(self._descriptor, self.size)
            raise
        self.size += len(data)


@contextmanager
def opened(name: str) -> Iterator[Output]:
    """`-` is standard output, which must not be a terminal."""
    if name == STDOUT:
        if sys.stdout.isatty():
            raise MistakeError("-o -: found a terminal, allowed: a pipe, as to wireshark -k -i -")
        yield Output(sys.stdout.fileno())
        return
    try:
        descriptor = os.open(
            Path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise MistakeError(f"-o {name}: {error.strerror}") from error
    try:
        yield Output(descriptor)
    finally:
        os.close(descriptor)
