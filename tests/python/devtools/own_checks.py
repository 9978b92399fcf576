# SPDX-License-Identifier: BSD-3-Clause
"""A check of devtools/ in a folder of a test's own."""

import subprocess
import sys
from pathlib import Path

from vcmts.paths import CHECKOUT


def run(tool: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """By this Python: what finds another one for `env` may take longer than the check."""
    return subprocess.run(
        [sys.executable, CHECKOUT / "devtools" / tool],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


def write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
