# SPDX-License-Identifier: BSD-3-Clause
"""How long a test waits for what must come, before it says that it hangs. VCMTS_TEST_PATIENCE
multiplies all of these times: devtools/test-under-load sets it, as it makes the machine slow.
"""

import os
import time
from collections.abc import Callable

PATIENCE = float(os.environ.get("VCMTS_TEST_PATIENCE", "1"))
# Of one program or one state. Nothing but a hang takes so long.
TIMEOUT = 300 * PATIENCE
POLL_S = 0.02


def within(condition: Callable[[], bool], timeout: float = TIMEOUT) -> bool:
    """Waits for a state; whether it came."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def until(condition: Callable[[], bool], what: str, timeout: float = TIMEOUT) -> None:
    """Waits for a state; how long it takes is the machine's."""
    assert within(condition, timeout), f"in vain: {what}"
