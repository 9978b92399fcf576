# SPDX-License-Identifier: BSD-3-Clause
"""Standard output and error whose reader may end, or whose disk may be full, and files that are
written whole or not at all."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def stream_name(descriptor: int) -> str:
    """The file of a descriptor, as /proc shows it; of a pipe or socket only "output"."""
    try:
        name = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return "output"
    return name if name.startswith("/") else "output"


def discard(descriptor: int) -> None:
    """Discards what is written to the descriptor from now on."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, descriptor)
    os.close(sink)


class NoReaderError(Exception):
    """The reader of stdout has ended. No BrokenPipeError, for which rich exits with status 1."""


class Stream(io.FileIO):
    """A descriptor for output. If the reader ends, it discards what follows, and raises
    NoReaderError if `ends` is set. Other errors are raised once, with the name of the file."""

    def __init__(self, descriptor: int, *, ends: bool = False) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.ends = ends

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            discard(self.fileno())
            if self.ends:
                raise NoReaderError from error
        except OSError as error:
            name = stream_name(self.fileno())
            discard(self.fileno())
            raise OSError(error.errno, os.strerror(error.errno or 0), name) from error
        return memoryview(data).nbytes


def guarded(stream: TextIO | None, *, ends: bool = False) -> TextIO | None:
    """The stream with the rules of Stream; unchanged if it is closed (None), a terminal, or was
    replaced."""
    own = stream is sys.__stdout__ or stream is sys.__stderr__
    if stream is None or stream.isatty() or not own:
        return stream
    raw = Stream(stream.fileno(), ends=ends)
    unbuffered = bool(getattr(stream, "write_through", False))
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=bool(stream.line_buffering) or unbuffered,
    )


@contextlib.contextmanager
def guarded_streams(*, ends: bool) -> Iterator[None]:
    """In this context, a closed pipe behind stdout or stderr is no error: the command continues
    without it, so that its exit status and files are as without a pipe. `ends`: a closed stdout
    raises NoReaderError instead, for commands that print until they are stopped. Raises OSError
    at the end if the output is incomplete."""
    before = sys.stdout, sys.stderr
    out, error = guarded(sys.stdout, ends=ends), guarded(sys.stderr)
    with open(os.devnull, "w", encoding="utf-8") as closed:
        sys.stdout, sys.stderr = out or closed, error or closed
        try:
            try:
                yield
            finally:
                sys.stdout.flush()
        finally:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            sys.stdout, sys.stderr = before


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yields the name of a temporary file with the same suffix. At the end of the context it
    replaces the file at `path`, or the target of a link; after an exception it is removed. Raises
    OSError with the name of the file. Yields the path itself if it is a device or pipe, or if
    nothing can be created in its folder."""
    target = Path(path).resolve()
    other = target.exists() and not target.is_file()
    if other or not os.access(target.parent, os.W_OK):
        yield target
        return
    part = target.with_name(f"{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield part
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
