# SPDX-License-Identifier: BSD-3-Clause
"""Captures of real networks. They are not part of the project; tests read them from a folder."""

import os
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

FOLDER_VARIABLE = "VCMTS_CAPTURES"
DEFAULT_FOLDER = "../shared/captures"


def capture(name: str) -> Path:
    """Returns the path of a capture in the folder $VCMTS_CAPTURES, or in its default. Skips the
    calling test if the file does not exist."""
    path = CHECKOUT / (os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER) / name
    if not path.is_file():
        pytest.skip(f"no {name} in ${FOLDER_VARIABLE} or {DEFAULT_FOLDER}")
    return path
