# SPDX-License-Identifier: BSD-3-Clause
"""Where machines that `vcmts host` prepares are made: of hundreds of small files and folders each,
which take a disk a hundred times as long as memory. devtools/test says where there is some."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = os.environ.get("VCMTS_TEST_MEMORY")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if not MEMORY or request.path.parent.name not in ("host", "layout"):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    yield folder
    shutil.rmtree(folder)
