# SPDX-License-Identifier: BSD-3-Clause
"""Replays under the sanitizers: the program of the build folder VCMTS_SANITIZED repeats each replay
of a test that is marked so, and has to write and to say the same. What the test makes up before,
and decodes behind it, is done once and holds for both.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from vcmts.paths import CHECKOUT

FOLDER = os.environ.get("VCMTS_SANITIZED")
OUTPUTS = ("--answers", "--control-out", "--network-out", "--rphy-out", "--stats")


@dataclass
class Repeating:
    """Whether the test that runs is marked; conftest.py sets it."""

    marked: bool = False

    def wanted(self, words: Sequence[str | Path]) -> bool:
        return bool(FOLDER) and self.marked and words[:1] == ("replay",)


REPEATING = Repeating()


def program() -> Path:
    return CHECKOUT / str(FOLDER) / "src" / "vcmtsd"


class Outputs:
    """The files that a replay may write; no devices."""

    def __init__(self, words: Sequence[str | Path]) -> None:
        named = [Path(path) for option, path in pairwise(words) if option in OUTPUTS]
        self.paths = [path for path in named if path.is_file() or not path.exists()]
        self.new = [path for path in self.paths if not path.exists()]

    def contents(self) -> list[bytes | None]:
        return [path.read_bytes() if path.is_file() else None for path in self.paths]

    def taken(self) -> list[bytes | None]:
        """As `contents`, and what was not there before is gone again."""
        found = self.contents()
        for path in self.new:
            path.unlink(missing_ok=True)
        return found
