# SPDX-License-Identifier: BSD-3-Clause
"""How the tool refuses; and where machines that `vcmts host` prepares are made: of hundreds of
small files and folders each, which take a disk a hundred times as long as memory. devtools/test
says where there is some."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vcmts import cli

Refuses = Callable[..., None]
MEMORY = os.environ.get("VCMTS_TEST_MEMORY")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if not MEMORY or request.path.parent.name not in ("host", "layout"):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def refuses(capfd: pytest.CaptureFixture[str]) -> Refuses:
    """The tool with these words: status 2, one line with what is to be said, and no output."""

    def refused(said: str, *words: str) -> None:
        assert cli.main(words) == 2
        out, error = capfd.readouterr()
        assert said in error and error.count("\n") == 1 and out == "", error

    return refused
