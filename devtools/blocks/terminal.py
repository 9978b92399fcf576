# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command in a pseudo-terminal of 80 columns and 24 lines, as a user does."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COLUMNS, LINES = 80, 24
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>78]")
TIMED_OUT = 124  # the status that coreutils' timeout has
CTRL_C = "\x03"


@dataclass(frozen=True)
class Shown:
    """Exit status, and what the terminal received, without control sequences."""

    status: int
    text: str

    def lines(self) -> list[str]:
        return [line.rstrip() for line in re.split(r"[\r\n]+", self.text)]

    def wide_lines(self) -> list[str]:
        """Lines that the terminal breaks at its right edge, but for the ^C of a typed key."""
        lines = (line.removeprefix("^C") for line in self.lines())
        return [line for line in lines if len(line) > COLUMNS]

    def foreign_lines(self) -> list[str]:
        """Lines with other characters than ASCII's."""
        return [line for line in self.lines() if not line.isascii()]


class Session:
    """A bash with a command in a terminal of its own. end() must be called."""

    def __init__(self, command: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.received = bytearray()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        """Stores output until no process has the terminal open: the system reports an error."""
        try:
            while some := os.read(self.master, 65536):
                self.received += some
        except OSError:
            return

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def ended(self, seconds: float) -> bool:
        """Waits for the end, at most for a time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, limit_s: float) -> Shown:
        """Waits for the end of the command, kills it after `limit_s` seconds."""
        ended = self.ended(limit_s)
        if not ended:
            os.killpg(self.process.pid, signal.SIGKILL)
        status = self.process.wait()
        self.reader.join(5)
        os.close(self.master)
        text = CONTROL.sub("", self.received.decode(errors="replace"))
        return Shown(status if ended else TIMED_OUT, text)


def run(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    limit_s: float,
    keys: str = "",
    keys_after_s: float = 0.0,
) -> Shown:
    """Runs a command to its end, and types `keys` after a time."""
    session = Session(command, folder, environment)
    if keys and not session.ended(keys_after_s):
        session.type(keys)
    return session.end(limit_s)
