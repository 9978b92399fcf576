# SPDX-License-Identifier: BSD-3-Clause
"""Runs the built programs as child processes: they end with the tool, and get its signals."""

import ctypes
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from vcmts import output
from vcmts.paths import MistakeError

# Characters of a folder's name: the path of a memif's socket in it must fit sun_path.
SOCKET_FOLDER_MAX = 80
STOPPED = "stopped by Ctrl-C"
INTERRUPTED = 130  # exit status after a signal
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def die_with_parent() -> None:
    """Runs in the child: the kernel sends SIGTERM to it when the tool ends (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def start(
    command: Sequence[str], *, quiet: bool = False, stderr: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Starts a program in its own session: it gets Ctrl-C from the tool only. Its messages go to
    `stderr`; None: to that of the tool. `quiet` discards its stdout."""
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=stderr,
        preexec_fn=die_with_parent,
        restore_signals=False,  # ignores SIGPIPE: the reader of messages may end
    )


def start_piped(command: Sequence[str], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    """As `start`, for a program that reads requests from stdin and writes answers to stdout."""
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=die_with_parent,
        restore_signals=False,
    )


class Stopped:
    """Whether a signal asked the tool to stop. The child in wait() gets a SIGINT for it."""

    def __init__(self) -> None:
        self.by_signal = False
        self.text = STOPPED  # for messages: names the signal
        self.child: subprocess.Popen[bytes] | None = None

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.by_signal = True
        self.text = (
            STOPPED if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"
        )
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """Waits for the end of the child, which a signal to the tool stops. Returns its status."""
        self.child = child
        if self.by_signal:
            child.send_signal(signal.SIGINT)
        status = child.wait()
        self.child = None
        return status


@contextmanager
def stoppable() -> Iterator[Stopped]:
    """In this context SIGINT, SIGTERM and SIGHUP stop the child in Stopped.wait(), not the tool."""
    stopped = Stopped()
    before = {number: signal.signal(number, stopped.on_signal) for number in STOP_SIGNALS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder whose name is short enough for sockets and has no comma."""
    with tempfile.TemporaryDirectory(prefix="vcmts-") as name:
        if "," not in name and len(name) <= SOCKET_FOLDER_MAX:
            yield Path(name)
            return
    with tempfile.TemporaryDirectory(prefix="vcmts-", dir="/tmp") as name:
        yield Path(name)


def check_writable(path: str | None, option: str = "--json") -> None:
    """Raises MistakeError if the result file cannot be written: called before a measurement.
    Removes the file again if it did not exist: an empty one would look like a result."""
    if output.file_name(path) is None:
        return
    assert path is not None
    new = not os.path.lexists(path)
    try:
        with Path(path).open("a", encoding="utf-8"):
            pass
        if new:
            Path(path).unlink()
    except OSError as error:
        raise MistakeError(f"{option} {path}: {error.strerror}; choose another file") from error
