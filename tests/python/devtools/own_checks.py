# SPDX-License-Identifier: BSD-3-Clause
"""Runs a check of devtools/ in the folder of a test."""

import subprocess
import sys
from pathlib import Path

from vcmts.paths import CHECKOUT


def run(tool: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs the tool with this Python, as `env` may need longer to find one than the check runs."""
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
