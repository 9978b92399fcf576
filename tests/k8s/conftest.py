# SPDX-License-Identifier: BSD-3-Clause
"""These are no tests of any machine: `tests/k8s/run` starts the node and calls them."""

import shutil

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("kubectl") is None or shutil.which("helm") is None:
        pytest.exit("no kubectl or helm here: make k8s-test", returncode=2)
