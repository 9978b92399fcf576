# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of several tests of the control socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.control.server import start_server
from patience import TIMEOUT
from vcmts.control.client import Client


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    """A client of a vcmtsd that serves sg.yaml in the folder, and then ends with status 0."""
    with start_server(folder) as (run, path):
        with Client(path, TIMEOUT) as connected:
            yield connected
        assert run.stop().status == 0
