# SPDX-License-Identifier: BSD-3-Clause
"""Reads system files and runs programs of a host, or files of a copy. Missing files are empty."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

NOT_KNOWN = "not known"
SECONDS = 5  # timeout of a program


def program_output(command: Sequence[str]) -> str:
    """The output of a program with any exit status; "" if it does not exist."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


@dataclass(frozen=True)
class Files:
    """The files of a host below `root`, and the output of its programs (`run`)."""

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str] = program_output

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip("\0 \n\t")
        except OSError:
            return ""

    def count(self, name: str) -> int:
        """The number in a file; 0 if there is none."""
        found = number(self.text(name))
        return found if isinstance(found, int) else 0

    def names(self, folder: str, pattern: str) -> list[str]:
        """Names in a folder that match the pattern as a whole, sorted by the numbers in them."""
        try:
            names = [path.name for path in self.path(folder).iterdir()]
        except OSError:
            return []
        found = [name for name in names if re.fullmatch(pattern, name)]
        return sorted(found, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name))

    def fields(self, name: str) -> dict[str, str]:
        """Lines `key : value` as a dictionary. The first of repeated keys counts."""
        found: dict[str, str] = {}
        for line in self.text(name).splitlines():
            key, colon, value = line.partition(":")
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found

    def link(self, name: str) -> str:
        """The last component of a link's target; "" if it is not a link."""
        try:
            return self.path(name).readlink().name
        except OSError:
            return ""

    def first_line(self, *command: str) -> str:
        lines = self.run(command).splitlines()
        return lines[0].strip() if lines else ""


def number(text: str) -> int | str:
    """The number of a text, with a prefix such as 0x if it is not decimal; else NOT_KNOWN."""
    try:
        return int(text, 0)
    except ValueError:
        return NOT_KNOWN
