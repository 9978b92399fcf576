# SPDX-License-Identifier: BSD-3-Clause
"""Marks and fixtures of the end-to-end tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.sanitized import REPEATING
from wireshark.conftest import stage as stage  # tshark's, skipped where it is not installed

APART = {"compiles": "compiles the project in a copy"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, as sockets live there; gone behind the test, however that ends."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        yield Path(name)


def pytest_configure(config: pytest.Config) -> None:
    for name, why in APART.items():
        config.addinivalue_line("markers", f"{name}: {why}; runs with -m {name} only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = [name for name in APART if name not in config.option.markexpr]
    apart = [item for item in items if any(map(item.get_closest_marker, others))]
    if apart:
        items[:] = [item for item in items if item not in apart]
        config.hook.pytest_deselected(items=apart)


def pytest_runtest_setup(item: pytest.Item) -> None:
    REPEATING.marked = item.get_closest_marker("replay") is not None
