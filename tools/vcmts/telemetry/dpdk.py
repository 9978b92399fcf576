# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket of a running vcmtsd."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcmts.control import sockets, trust
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify

SOCKET = "dpdk_telemetry.v2"
GREETING_MAX = 1024


class Vcmtsd:
    """The telemetry of one vcmtsd."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        greeting: Json = json.loads(connection.recv(GREETING_MAX))
        self.pid: int = greeting["pid"]
        self._max_output: int = greeting["max_output_len"]

    def ask(self, command: str, parameter: str | None = None) -> Any:
        """Sends a command and returns its answer. Raises MistakeError if there is none."""
        source = command if parameter is None else f"{command},{parameter}"
        self._connection.send(source.encode())
        answered = self._connection.recv(self._max_output)
        if not answered:
            raise MistakeError("vcmtsd ended before it answered")
        answer = json.loads(answered)[command]
        if answer is None:
            raise MistakeError(f"{source}: vcmtsd has no answer to this")
        if isinstance(answer, dict) and "error" in answer:
            raise MistakeError(f"{source}: {answer['error']}")
        return answer


def folders() -> list[Path]:
    """The folders in which DPDK creates sockets, depending on the user and service."""
    named = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    own = [path for path in named if path] + sockets.private_folder()
    bases = ["/var/run", "/run/vcmts", *own]  # /run/vcmts: of vcmtsd.service
    return [Path(base) / "dpdk" for base in dict.fromkeys(bases)]


def found(pid: int | None) -> Iterator[Path]:
    """The sockets of a process, or of all; their processes may have ended."""
    for folder in sockets.trusted_folders(folders()):
        yield from sockets.matching(folder, f"vcmtsd-{pid or '*'}/{SOCKET}")


def connect(path: Path) -> socket.socket | None:
    """Connects to a socket; None without a server, without permission, or if it is untrusted."""
    try:
        return trust.connect(path, socket.SOCK_SEQPACKET)
    except OSError as error:
        if isinstance(error, trust.UntrustedError):
            notify(f"{path}: {error.strerror}; it was ignored")
        return None


@contextmanager
def vcmtsd(pid: int | None = None) -> Iterator[Vcmtsd]:
    """Connects to the vcmtsd with this process ID, or to the only one in service."""
    alive = [connection for path in found(pid) if (connection := connect(path)) is not None]
    try:
        served = [Vcmtsd(connection) for connection in alive]
        if len(served) != 1:
            sockets.only_one([Path(f"{one.pid}-{SOCKET}") for one in served], pid)
        yield served[0]
    finally:
        for connection in alive:
            connection.close()
