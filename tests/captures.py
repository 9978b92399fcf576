# SPDX-License-Identifier: BSD-3-Clause
"""Captures of real networks. They are not part of the project: tests use them where they are."""

import os
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

FOLDER = "VCMTS_CAPTURES"
BESIDE = "../shared/captures"


def capture(name: str) -> Path:
    """The capture `name` from the folder VCMTS_CAPTURES, or beside the checkout; the test that asks
    for it is skipped where there is none."""
    path = CHECKOUT / (os.environ.get(FOLDER) or BESIDE) / name
    if not path.is_file():
        pytest.skip(f"no {name} in ${FOLDER} or {BESIDE}")
    return path
