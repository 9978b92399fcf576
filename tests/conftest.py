# SPDX-License-Identifier: BSD-3-Clause
"""The order of tests: that of the files, or a random one, which VCMTS_TEST_SEED repeats; that
properties are tried however long it takes; that interrupts are what they are for people; and that
the collector of garbage does not walk through all tests again and again."""

import gc
import os
import signal
from collections.abc import Generator
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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests, and what they import, are there until the end: only what comes later is
    looked through, and not after each 700 objects, of which a configuration has 300,000."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()
