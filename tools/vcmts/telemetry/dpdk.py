# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry socket of a vcmtsd in service: flat metrics for collectors, and DPDK's own."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcmts.control import trust
from vcmts.control.place import believed, matching
from vcmts.jsons import Json
from vcmts.paths import MistakeError, complain

SOCKET = "dpdk_telemetry.v2"
GREETING_MAX = 1024


class Vcmtsd:
    """The telemetry of one vcmtsd."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        greeting: Json = json.loads(connection.recv(GREETING_MAX))
        self.pid: int = greeting["pid"]
        self._most: int = greeting["max_output_len"]

    def ask(self, command: str, parameter: str | None = None) -> Any:
        """The answer, whatever it is; a mistake where there is none."""
        asked = command if parameter is None else f"{command},{parameter}"
        self._connection.send(asked.encode())
        answered = self._connection.recv(self._most)
        if not answered:
            raise MistakeError("vcmtsd ended before it answered")
        answer = json.loads(answered)[command]
        if answer is None:
            raise MistakeError(f"{asked}: vcmtsd has no answer to this")
        if isinstance(answer, dict) and "error" in answer:
            raise MistakeError(f"{asked}: {answer['error']}")
        return answer


def folders() -> list[Path]:
    """Where DPDK keeps the sockets of a process, by who started it."""
    named = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    bases = ["/var/run", "/run/vcmts", *named, "/tmp"]  # the second is the service's
    return [Path(base) / "dpdk" for base in dict.fromkeys(bases) if base]


def found(pid: int | None) -> Iterator[Path]:
    for place in believed(folders()):
        yield from matching(place, f"vcmtsd-{pid or '*'}/{SOCKET}")


def connect(path: Path) -> socket.socket | None:
    """None where nobody listens any more, or we may not ask, or another user does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(str(path))
        trust.check_peer(connection, path)
    except (ConnectionRefusedError, PermissionError) as error:
        connection.close()
        if isinstance(error, trust.UntrustedError):
            complain(f"{path}: {error.strerror}; it was passed over")
        return None
    return connection


@contextmanager
def vcmtsd(pid: int | None = None) -> Iterator[Vcmtsd]:
    """The one that is in service, or that of the process ID."""
    alive = [connection for path in found(pid) if (connection := connect(path)) is not None]
    try:
        if not alive:
            raise MistakeError("no vcmtsd in service was found; `vcmtsd run` has telemetry")
        served = [Vcmtsd(connection) for connection in alive]
        if len(served) > 1:
            pids = ", ".join(str(one.pid) for one in served)
            raise MistakeError(f"several are in service: choose one by --pid: {pids}")
        yield served[0]
    finally:
        for connection in alive:
            connection.close()
