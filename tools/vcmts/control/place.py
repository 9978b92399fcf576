# SPDX-License-Identifier: BSD-3-Clause
"""Where the control sockets of the vcmtsd in service are."""

import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from vcmts.control import trust
from vcmts.paths import MistakeError, complain

SOCKETS = "*control.sock"


def folders() -> list[Path]:
    """Where vcmtsd makes them by itself: within a service of systemd or a container only its own;
    else those of root and of the user."""
    service, user = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    if service:
        return [Path(service) / "vcmts", Path(service)]
    places = [Path(base) / "vcmts" for base in ("/run", user) if base]
    return [*places, Path(f"/tmp/vcmts-{os.getuid()}")]


def of_process(pid: int) -> Path | None:
    """The one that vcmtsd has made by itself; None: it could not, and has told so."""
    files = (folder / f"{pid}-control.sock" for folder in believed(folders()))
    return next((file for file in files if there(file)), None)


def there(file: Path) -> bool:
    """A folder of another user's that may not be looked into has nothing for us."""
    try:
        return file.exists()
    except PermissionError:
        return False


def believed(folders: Iterable[Path]) -> Iterator[Path]:
    """Without those in which another user may have put a socket of his own, which is told."""
    for folder in folders:
        fault = trust.folder_fault(folder)
        if fault:
            complain(f"{fault}; it was passed over")
        else:
            yield folder


def matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except PermissionError:
        return []


def served(path: Path) -> bool:
    """Whether somebody listens there; a file of a process that is gone stays."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True  # so many wait already
        except OSError:
            return False
    return True


def in_service(pattern: str) -> list[Path]:
    """Sockets with such a name at which somebody listens."""
    files = {path for place in believed(folders()) for path in matching(place, pattern)}
    return [path for path in sorted(files) if served(path)]


def asked_for(pid: int | None, given: Path | None) -> Path:
    """That of --pid, or of --socket, or the only one that is in service."""
    if pid is None:
        return chosen(given)
    found = of_process(pid)
    if found is None:
        raise MistakeError(
            f"--pid: found {pid}, which has no control socket: it is no vcmtsd in service, or one "
            "without"
        )
    return found


def chosen(given: Path | None) -> Path:
    """The one that is given, or the only one that is in service."""
    if given is not None:
        return given
    found = in_service(SOCKETS)
    if len(found) == 1:
        return found[0]
    if not found:
        raise MistakeError(
            "--socket: found no vcmtsd in service; `vcmtsd run` says where its socket is"
        )
    raise MistakeError(f"--socket: found several, allowed: one of {', '.join(map(str, found))}")
