# SPDX-License-Identifier: BSD-3-Clause
"""Marks and fixtures of the end-to-end tests."""

import pytest

from wireshark.conftest import stage as stage  # tshark's, skipped where it is not installed


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "run: runs vcmtsd on ports, in real time")
