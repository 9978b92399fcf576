# SPDX-License-Identifier: BSD-3-Clause
"""Which capture socket: beside the control socket of the same vcmtsd."""

from pathlib import Path

from vcmts.control.place import in_service
from vcmts.paths import MistakeError


def chosen(socket: Path | None, pid: int | None) -> Path:
    """The one that is given, that of a process, or the only one that is in service."""
    if socket is not None:
        return socket
    found = in_service(f"{pid if pid is not None else '*'}-capture.sock")
    if len(found) == 1:
        return found[0]
    if not found:
        which = f"no vcmtsd {pid}" if pid is not None else "no vcmtsd"
        raise MistakeError(f"found {which} in service; --socket names a capture socket elsewhere")
    pids = ", ".join(path.name.partition("-")[0] for path in found)
    raise MistakeError(f"several are in service: choose one by --pid: {pids}")
