# SPDX-License-Identifier: BSD-3-Clause
"""Reading what a host tells of itself, or a copy of it: missing files are empty, never errors."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

NOT_KNOWN = "not known"
SECONDS = 5  # for a program to say what it has to say


def output(command: Sequence[str]) -> str:
    """What a program prints, whatever its status; nothing when it is not there."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


@dataclass(frozen=True)
class Files:
    """The files of a host below `root`, and what its programs print."""

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str] = output

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip("\0 \n\t")
        except OSError:
            return ""

    def count(self, name: str) -> int:
        """A file's number; 0 where it has none."""
        found = number(self.text(name))
        return found if isinstance(found, int) else 0

    def names(self, folder: str, pattern: str) -> list[str]:
        """Of a folder's entries those that match as a whole, in the order of their numbers."""
        try:
            names = [path.name for path in self.path(folder).iterdir()]
        except OSError:
            return []
        found = [name for name in names if re.fullmatch(pattern, name)]
        return sorted(found, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name))

    def fields(self, name: str) -> dict[str, str]:
        """`key : value` by line; of what is repeated the first."""
        found: dict[str, str] = {}
        for line in self.text(name).splitlines():
            key, colon, value = line.partition(":")
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found

    def link(self, name: str) -> str:
        """The last part of what a link points to."""
        try:
            return self.path(name).readlink().name
        except OSError:
            return ""

    def said(self, *command: str) -> str:
        lines = self.run(command).splitlines()
        return lines[0].strip() if lines else ""


def number(text: str) -> int | str:
    try:
        return int(text, 0)
    except ValueError:
        return NOT_KNOWN
