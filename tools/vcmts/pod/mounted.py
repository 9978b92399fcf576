# SPDX-License-Identifier: BSD-3-Clause
"""The mounted files: whether they are other ones than before."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

Seen = tuple[tuple[str, int, int, int], ...]
MOST_FILES = 4096


def seen(folders: Iterable[Path]) -> Seen:
    """Name, number, size and time of each file. The kubelet changes a ConfigMap by exchanging the
    link ..data, so that files get other numbers; folders of its own, ..TIME, are seen by that."""
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*"))[:MOST_FILES]:
            try:
                state = path.stat()
            except OSError:
                continue  # it goes just now: the next look sees what is there then
            found.append((str(path), state.st_ino, state.st_size, state.st_mtime_ns))
    return tuple(found)


def missing(path: Path) -> str:
    """Why a file cannot be read; "" where it can."""
    try:
        with path.open("rb"):
            return ""
    except OSError as error:
        return os.strerror(error.errno or 0)
    except ValueError as error:  # of a name that none can have
        return str(error)


def content(path: Path, most: int) -> str:
    """By which two contents are told apart, of as many bytes; "" where there is no such file."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.sha256(file.read(most)).hexdigest()
    except (OSError, ValueError):
        return ""
