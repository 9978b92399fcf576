# SPDX-License-Identifier: BSD-3-Clause
"""Captures of real networks. They are not part of the project; tests read them from a folder."""

import os
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

FOLDER_VARIABLE = "VCMTS_CAPTURES"
DEFAULT_FOLDER = "../shared/captures"


def capture(name: str) -> Path:
    """The path of a capture in $VCMTS_CAPTURES or its default. Skips the test without it."""
    path = CHECKOUT / (os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER) / name
    if not path.is_file():
        pytest.skip(f"no {name} in ${FOLDER_VARIABLE} or {DEFAULT_FOLDER}")
    return path
