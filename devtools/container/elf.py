# SPDX-License-Identifier: BSD-3-Clause
"""Which libraries programs and libraries ask for (readelf)."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from container.contents import MistakeError

NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(paths: Iterable[Path]) -> set[str]:
    """The names of the libraries that these files ask for themselves."""
    files = [str(path) for path in paths]
    if not files:
        return set()
    done = subprocess.run(
        ["readelf", "--dynamic", "--wide", *files], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"readelf: {done.stderr.strip()}")
    return set(NEEDED.findall(done.stdout))
