# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: `expect_error` runs the tool and checks its error; `tmp_path` of host and layout tests
is in memory. Such a test makes hundreds of small files, which takes a disk 100 times as long.
devtools/test sets VCMTS_TEST_MEMORY to a folder in memory."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vcmts import cli

ExpectError = Callable[..., None]
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
def expect_error(capfd: pytest.CaptureFixture[str]) -> ExpectError:
    """Runs the tool. Expects status 2, no output, and one line on stderr with `message`."""

    def check(message: str, *arguments: str) -> None:
        assert cli.main(arguments) == 2
        out, error = capfd.readouterr()
        assert message in error and error.count("\n") == 1 and out == "", error

    return check
