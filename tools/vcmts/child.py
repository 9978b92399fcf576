# SPDX-License-Identifier: BSD-3-Clause
"""The built programs as children of the tool: they end with it, and its signals reach them."""

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

from vcmts.paths import MistakeError

# A memif's socket must fit sun_path, with the names that are put behind the folder's.
SOCKET_FOLDER_MAX = 80
INTERRUPTED = 130  # exit status after a signal
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def die_with_parent() -> None:
    """For the child: SIGTERM when this tool ends, however it ends (prctl PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def start(
    command: Sequence[str], *, quiet: bool = False, said: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own: Ctrl-C comes through the tool alone. Its messages
    go to `said`, or else to stderr."""
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=said,
        preexec_fn=die_with_parent,
    )


def converse(command: Sequence[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
    """As `start`, of a program that is asked by stdin and answers by stdout."""
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        preexec_fn=die_with_parent,
    )


class Stopped:
    """Whether a signal asked to stop. The first one goes on to the child that is waited for."""

    def __init__(self) -> None:
        self.asked = False
        self.child: subprocess.Popen[bytes] | None = None

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """Waits for the child to end; a signal to the tool ends it early. Returns its status."""
        self.child = child
        if self.asked:
            child.send_signal(signal.SIGINT)
        status = child.wait()
        self.child = None
        return status


@contextmanager
def stoppable() -> Iterator[Stopped]:
    """SIGINT, SIGTERM and SIGHUP no longer end the tool but what it waits for."""
    stopped = Stopped()
    before = {number: signal.signal(number, stopped.on_signal) for number in STOPS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder whose name does for sockets and device arguments."""
    with tempfile.TemporaryDirectory(prefix="vcmts-") as name:
        if "," not in name and len(name) <= SOCKET_FOLDER_MAX:
            yield Path(name)
            return
    with tempfile.TemporaryDirectory(prefix="vcmts-", dir="/tmp") as name:
        yield Path(name)


def writable(path: str | None, option: str = "--json") -> None:
    """Refuses a result file that cannot be written, before anything is measured. Leaves none
    behind that was not there: an empty one would be taken for a result."""
    if path is None:
        return
    new = not os.path.lexists(path)
    try:
        with Path(path).open("a", encoding="utf-8"):
            pass
        if new:
            Path(path).unlink()
    except OSError as error:
        raise MistakeError(f"{option} {path}: {error.strerror}; choose another file") from error
