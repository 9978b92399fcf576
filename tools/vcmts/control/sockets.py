# SPDX-License-Identifier: BSD-3-Clause
"""Finds the control sockets of running vcmtsd processes."""

import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from vcmts.control import trust
from vcmts.paths import MistakeError, notify

SOCKETS = "*control.sock"


def folders() -> list[Path]:
    """The default folders of sockets: in a systemd service or container its own folder, else those
    of root and of the user."""
    service, user = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    if service:
        return [Path(service) / "vcmts", Path(service)]
    paths = [Path(base) / "vcmts" for base in ("/run", user) if base]
    return [*paths, Path(f"/tmp/vcmts-{os.getuid()}")]


def process_socket(pid: int) -> Path | None:
    """The default control socket of a process; None if it does not exist."""
    files = (folder / f"{pid}-control.sock" for folder in trusted_folders(folders()))
    return next((file for file in files if exists(file)), None)


def exists(file: Path) -> bool:
    """Whether a file exists; False if its folder is not readable."""
    try:
        return file.exists()
    except PermissionError:
        return False


def trusted_folders(folders: Iterable[Path]) -> Iterator[Path]:
    """Yields the folders in which no untrusted user can create sockets. Warns about the others."""
    for folder in folders:
        fault = trust.folder_fault(folder)
        if fault:
            notify(f"{fault}; it was ignored")
        else:
            yield folder


def matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except PermissionError:
        return []


def is_served(path: Path) -> bool:
    """Whether a server listens at the socket. Files of ended processes may remain."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True  # the backlog is full
        except OSError:
            return False
    return True


def in_service(pattern: str) -> list[Path]:
    """Sockets whose name matches the pattern and at which a server listens."""
    files = {path for folder in trusted_folders(folders()) for path in matching(folder, pattern)}
    return [path for path in sorted(files) if is_served(path)]


def select_socket(pid: int | None, given: Path | None) -> Path:
    """Returns the socket of --pid, of --socket, or the only one in service."""
    if pid is None:
        return choose_socket(given)
    found = process_socket(pid)
    if found is None:
        raise MistakeError(
            f"--pid: found {pid}, which has no control socket: it is not vcmtsd, or the socket is "
            "off or elsewhere (--socket)"
        )
    return found


def choose_socket(given: Path | None) -> Path:
    """Returns the given socket, or the only one in service."""
    if given is not None:
        return given
    found = in_service(SOCKETS)
    if len(found) == 1:
        return found[0]
    if not found:
        raise MistakeError(
            "--socket: found no vcmtsd in service; `vcmtsd run` prints the path of its socket"
        )
    raise MistakeError(f"--socket: found several, allowed: one of {', '.join(map(str, found))}")
