# SPDX-License-Identifier: BSD-3-Clause
"""Waits for a condition with a timeout. VCMTS_TEST_PATIENCE multiplies all timeouts;
devtools/test-under-load sets it, as it slows the machine down."""

import os
import time
from collections.abc import Callable

PATIENCE = float(os.environ.get("VCMTS_TEST_PATIENCE", "1"))
# Seconds for one program to end or one condition to become true. Only a hang takes so long.
TIMEOUT = 300 * PATIENCE
POLL_S = 0.02


def within(condition: Callable[[], bool], timeout: float = TIMEOUT) -> bool:
    """Waits for the condition. Returns whether it became true in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def until(condition: Callable[[], bool], what: str, timeout: float = TIMEOUT) -> None:
    """Waits for the condition, and fails the test if it does not become true in time."""
    assert within(condition, timeout), f"timed out: {what}"
