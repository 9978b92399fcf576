# SPDX-License-Identifier: BSD-3-Clause
"""Changes files and runs commands on the host. No other module of host.prepare changes anything."""

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vcmts.system.files import Files

TIMEOUT_S = 300  # update-grub scans every disk
NEW = ".vcmts-new"  # suffix of a file that is being written


class StepError(Exception):
    """The system refused a change; the message is one line. Exit status 1."""


@dataclass(frozen=True)
class Done:
    status: int
    output: str  # stdout and stderr


def start(command: Sequence[str]) -> Done:
    """Runs a command to its end. If it cannot be started or takes too long, the status is 124 to
    127, as of a shell."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        return Done(127, "it is not installed")
    except OSError as error:
        return Done(126, error.strerror or "it cannot be started")
    except subprocess.TimeoutExpired:
        return Done(124, f"not finished after {TIMEOUT_S} s")
    return Done(done.returncode, done.stdout)


def synced(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass
class System:
    """The file system below a root, and commands. Names have no leading slash. Methods raise
    OSError or StepError."""

    files: Files = field(default_factory=Files)
    start: Callable[[Sequence[str]], Done] = start

    def path(self, name: str) -> Path:
        return self.files.path(name)

    def set(self, name: str, text: str) -> None:
        """Writes a kernel file in one write; never creates it."""
        handle = os.open(self.path(name), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)

    def put(self, name: str, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
        """Replaces a file atomically, also with regard to a crash."""
        path = self.path(name)
        new = path.with_name(path.name + NEW)
        handle = os.open(
            new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            with os.fdopen(handle, "wb", closefd=False) as out:
                out.write(data)
            if owner is not None:
                os.fchown(handle, *owner)
            os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        new.replace(path)
        synced(path.parent)

    def link(self, name: str, target: str) -> None:
        path = self.path(name)
        new = path.with_name(path.name + NEW)
        new.unlink(missing_ok=True)
        new.symlink_to(target)
        new.replace(path)
        synced(path.parent)

    def remove(self, name: str) -> None:
        path = self.path(name)
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            synced(path.parent)

    def append(self, handle: int, data: bytes) -> None:
        """Appends data, which is on disk when this returns."""
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)

    def make_folder(self, name: str) -> None:
        self.path(name).mkdir(mode=0o755, exist_ok=True)

    def remove_folder(self, name: str) -> None:
        """Removes an empty folder; leaves any other."""
        try:
            self.path(name).rmdir()
        except OSError:
            return

    def call(self, *command: str) -> None:
        done = self.start(command)
        if done.status != 0:
            lines = [line.strip() for line in done.output.splitlines() if line.strip()]
            message = lines[-1] if lines else f"exit status {done.status}"
            raise StepError(f"`{' '.join(command)}`: {message}")


def missing_folders(system: System, name: str) -> list[str]:
    """Folders above a file that do not exist, outermost first."""
    parts = name.split("/")[:-1]
    folders = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    return [folder for folder in folders if not system.path(folder).is_dir()]
