# SPDX-License-Identifier: BSD-3-Clause
"""Connects to a socket of vcmtsd, and finds the process that serves it."""

import socket
from pathlib import Path

from vcmts.control import trust
from vcmts.paths import MistakeError


def connect(path: Path) -> socket.socket:
    """Connects to a socket of vcmtsd. Raises MistakeError."""
    try:
        return trust.connect(path)
    except OSError as error:
        raise MistakeError(f"{path}: {trust.connect_fault(path, error)}") from error


def server_pid(path: Path) -> int:
    """The process ID of the server at a socket; 0 in another PID namespace. Raises MistakeError."""
    with connect(path) as connection:
        return trust.peer_process(connection)
