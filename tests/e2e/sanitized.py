# SPDX-License-Identifier: BSD-3-Clause
"""Repeats replays under the sanitizers. In tests with mark `replay`, vcmtsd() of running.py runs
each replay again with the program of build folder VCMTS_SANITIZED. Both runs must write the same
files and messages.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from vcmts.paths import CHECKOUT

FOLDER = os.environ.get("VCMTS_SANITIZED")
OUTPUT_OPTIONS = ("--answers", "--control-out", "--network-out", "--rphy-out", "--json")


@dataclass
class SanitizedReplays:
    """`marked`: the current test has mark `replay`; conftest.py sets it."""

    marked: bool = False

    def applies_to(self, arguments: Sequence[str | Path]) -> bool:
        return bool(FOLDER) and self.marked and arguments[:1] == ("replay",)


SANITIZED_REPLAYS = SanitizedReplays()


def program() -> Path:
    return CHECKOUT / str(FOLDER) / "src" / "vcmtsd"


def without_version(text: str) -> str:
    """JSON without the version, which names the options of the build."""
    return re.sub(r'"version": \{[^}]*\}', "", text, count=1)


def read(path: Path) -> str:
    """The bytes of the file, one per character, without a version."""
    return without_version(path.read_bytes().decode("latin-1"))


class Outputs:
    """The regular files that a replay may write, from its command line. Devices are excluded."""

    def __init__(self, arguments: Sequence[str | Path]) -> None:
        paths = [Path(path) for option, path in pairwise(arguments) if option in OUTPUT_OPTIONS]
        self.paths = [path for path in paths if path.is_file() or not path.exists()]
        self.new = [path for path in self.paths if not path.exists()]

    def contents(self) -> list[str | None]:
        return [read(path) if path.is_file() else None for path in self.paths]

    def collect(self) -> list[str | None]:
        """Returns `contents` and removes the files that did not exist before the replay."""
        contents = self.contents()
        for path in self.new:
            path.unlink(missing_ok=True)
        return contents
