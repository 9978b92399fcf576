# SPDX-License-Identifier: BSD-3-Clause
"""A service flow that is offered more has its maximum sustained rate, before and after a change."""

import signal
import time
from pathlib import Path

import pytest

from e2e.control.test_telemetry import LIMITED, awaited, config_text, memif, overflows, traffic
from e2e.control.test_telemetry import config as config
from e2e.ports import serve
from patience import TIMEOUT
from vcmts.telemetry.command import mbps
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connected


def rate_of(asked: Plane, seconds: float) -> float:
    before, begun = asked.flow(LIMITED), time.monotonic()
    time.sleep(seconds)
    after = asked.flow(LIMITED)
    return mbps(before, after, time.monotonic() - begun)


def test_rates_change_while_traffic_runs(config: Path, tmp_path: Path) -> None:
    with (
        serve("--config", config, *memif(tmp_path, "server")) as run,
        connected(run.process.pid) as asked,
        traffic(config, 60) as sender,
    ):
        overflows(asked)
        assert rate_of(asked, 1) == pytest.approx(1, rel=0.02)
        config.write_text(config_text(limited="3 Mbps", channel="800 Mbps"))
        run.process.send_signal(signal.SIGHUP)
        awaited(run, "read again")
        time.sleep(0.5)  # what was saved meanwhile is used up
        assert rate_of(asked, 1) == pytest.approx(3, rel=0.02)
        sender.send_signal(signal.SIGINT)
        sender.wait(TIMEOUT)
