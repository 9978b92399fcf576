# SPDX-License-Identifier: BSD-3-Clause
"""Marks and fixtures of the end-to-end tests."""

import pytest

from e2e.sanitized import REPEATING
from wireshark.conftest import stage as stage  # tshark's, skipped where it is not installed


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: takes minutes; runs with -m soak only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "soak" in config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    if long:
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)


def pytest_runtest_setup(item: pytest.Item) -> None:
    REPEATING.marked = item.get_closest_marker("replay") is not None
