# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures and marks of end-to-end tests. Tests with a mark of OPT_IN_MARKS run only with -m MARK,
even if the command line names them."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.sanitized import SANITIZED_REPLAYS
from wireshark.conftest import tshark as tshark  # skips without tshark

# Name and description. `make tutorials` runs these tests.
OPT_IN_MARKS = {"compiles": "compiles the project in a copy"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Folder with a short path, as the path of a UNIX socket has at most 107 bytes. It is removed
    after the test, also after a failed one."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        yield Path(name)


def pytest_configure(config: pytest.Config) -> None:
    for name, reason in OPT_IN_MARKS.items():
        config.addinivalue_line("markers", f"{name}: {reason}; runs with -m {name} only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    deselected_marks = [name for name in OPT_IN_MARKS if name not in config.option.markexpr]
    deselected = [item for item in items if any(map(item.get_closest_marker, deselected_marks))]
    if deselected:
        items[:] = [item for item in items if item not in deselected]
        config.hook.pytest_deselected(items=deselected)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tells vcmtsd() of running.py whether to repeat the replays of this test: e2e/sanitized.py."""
    SANITIZED_REPLAYS.marked = item.get_closest_marker("replay") is not None
