# SPDX-License-Identifier: BSD-3-Clause
"""Finds the control sockets of running vcmtsd processes."""

import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from vcmts.control import trust
from vcmts.paths import MistakeError, notify
from vcmts.system.processes import Process, process, processes, user_name

SOCKETS = "*control.sock"
SERVER = "vcmtsd"  # name of the process
# Folders in /run: of the service (systemd makes it for the service's user), and of root.
SYSTEM = (Path("/run/vcmts"), Path("/run/vcmts-0"))


def private_folder() -> list[Path]:
    """The folder in /tmp of an ordinary user's sockets. Root has one in /run."""
    user = os.getuid()
    return [Path(f"/tmp/vcmts-{user}")] if user != 0 else []


def folders() -> list[Path]:
    """The default folders of sockets: in a systemd service or container its own folder, else those
    of the service, of root and of the user."""
    service, user = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    if service:
        return [Path(service) / "vcmts", Path(service)]
    bases = [Path(user)] if user else []
    return [*SYSTEM, *(base / "vcmts" for base in (*bases, *private_folder()))]


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


def foreign(one: Process | None) -> bool:
    """Whether the process is a vcmtsd of another user."""
    return one is not None and one.name == SERVER and one.user != os.geteuid()


def foreign_fault(one: Process) -> str:
    """Why the socket of another user's vcmtsd cannot be used, and what to do."""
    or_root = " or as root" if os.geteuid() != 0 else ""
    return (
        f"no permission: {one.name} (process {one.pid}) belongs to {user_name(one.user)}; "
        f"run this as that user{or_root}"
    )


def refusals() -> Iterator[str]:
    """Why this user cannot use a socket in the default folders, and what to do."""
    for folder in folders():
        if not folder.is_dir() or trust.folder_fault(folder):
            continue
        if not os.access(folder, os.R_OK | os.X_OK):
            files = [folder / "control.sock"] if trust.group_advice(folder.stat(), 0o050) else []
        else:
            files = [file for file in matching(folder, SOCKETS) if not os.access(file, os.W_OK)]
        yield from (f"{file}: {trust.connect_fault(file, PermissionError())}" for file in files)


def no_server_fault() -> str:
    """Why no vcmtsd was found: none runs, or it belongs to another user."""
    if not os.environ.get("RUNTIME_DIRECTORY"):
        refusal = next(refusals(), None)
        if refusal is not None:
            return refusal
        theirs = next(filter(foreign, processes()), None)
        if theirs is not None:
            return foreign_fault(theirs)
    return f"found no {SERVER} in service; `{SERVER} run` prints the path of its socket"


def no_socket_fault(pid: int) -> str:
    """Why no socket of the process was found."""
    one = process(pid)
    if one is None:
        return f"no process {pid} runs; `pidof {SERVER}` prints the process IDs"
    if one.name != SERVER:
        return f"process {pid} is {one.name}, not {SERVER}; `pidof {SERVER}` prints the process IDs"
    if foreign(one):
        return foreign_fault(one)
    return f"{SERVER} (process {pid}) has no socket in a default folder: it is off, or see --socket"


def only_one(found: Sequence[Path], pid: int | None = None) -> Path:
    """The only socket of those found, of the process `pid` or of all. Raises MistakeError, with the
    options that choose one of several."""
    if not found:
        raise MistakeError(no_server_fault() if pid is None else f"--pid: {no_socket_fault(pid)}")
    if len(found) > 1:
        pids = (re.match(r"\d+(?=-)", path.name) for path in found)
        options = (
            f"--socket {path}" if number is None else f"--pid {number[0]}"
            for path, number in zip(found, pids, strict=True)
        )
        raise MistakeError(f"several {SERVER} are in service; choose one: {', '.join(options)}")
    return found[0]


def select_socket(pid: int | None, given: Path | None) -> Path:
    """Returns the socket of --pid, of --socket, or the only one in service."""
    if pid is None:
        return choose_socket(given)
    found = process_socket(pid)
    return only_one([] if found is None else [found], pid)


def choose_socket(given: Path | None) -> Path:
    """Returns the given socket, or the only one in service."""
    return only_one(in_service(SOCKETS)) if given is None else given
