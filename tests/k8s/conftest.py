# SPDX-License-Identifier: BSD-3-Clause
"""Requires kubectl and helm. `tests/k8s/run` starts the node and runs these tests."""

import shutil

import pytest

from k8s.losses import RESULTS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("kubectl") is None or shutil.which("helm") is None:
        pytest.exit("kubectl or helm is not in PATH: use make k8s-test", returncode=2)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if RESULTS:
        terminalreporter.section("traffic lost")
        for line in RESULTS:
            terminalreporter.write_line(line)
