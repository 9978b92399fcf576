# SPDX-License-Identifier: BSD-3-Clause
"""Detects changes of mounted files, and reads their state."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

FileStates = tuple[tuple[str, int, int, int], ...]
MOST_FILES = 4096


def file_states(folders: Iterable[Path]) -> FileStates:
    """Name, inode, size and modification time of each file in the folders. The kubelet replaces a
    ConfigMap by exchanging the link ..data, which changes the inodes of its files."""
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*"))[:MOST_FILES]:
            try:
                state = path.stat()
            except OSError:
                continue  # it is being removed
            found.append((str(path), state.st_ino, state.st_size, state.st_mtime_ns))
    return tuple(found)


def read_error(path: Path) -> str:
    """Why a file cannot be read; "" if it can."""
    try:
        with path.open("rb"):
            return ""
    except OSError as error:
        return os.strerror(error.errno or 0)
    except ValueError as error:  # invalid name
        return str(error)


def content_hash(path: Path, most: int) -> str:
    """A hash of the first `most` bytes of a file; "" if it is not readable."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.sha256(file.read(most)).hexdigest()
    except (OSError, ValueError):
        return ""
