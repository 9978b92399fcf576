# SPDX-License-Identifier: BSD-3-Clause
"""The order of tests: that of the files, or a random one, which VCMTS_TEST_SEED repeats; that
properties are tried however long it takes; and that interrupts are what they are for people."""

import os
import signal
from random import Random

import pytest
from hypothesis import HealthCheck, settings

# By itself it fails what takes more than 200 ms, or a second to make up.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell has what it runs in the background ignore them, and with it all that tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SEED = os.environ.get("VCMTS_TEST_SEED")


def pytest_report_header() -> str:
    return f"random order: VCMTS_TEST_SEED={SEED}" if SEED else ""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SEED:
        Random(int(SEED)).shuffle(items)
