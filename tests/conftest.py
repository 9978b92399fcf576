# SPDX-License-Identifier: BSD-3-Clause
"""The order of tests: that of the files, or a random one, which VCMTS_TEST_SEED repeats."""

import os
from random import Random

import pytest

SEED = os.environ.get("VCMTS_TEST_SEED")


def pytest_report_header() -> str:
    return f"random order: VCMTS_TEST_SEED={SEED}" if SEED else ""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SEED:
        Random(int(SEED)).shuffle(items)
