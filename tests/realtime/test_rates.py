# SPDX-License-Identifier: BSD-3-Clause
"""An overloaded service flow gets its maximum sustained rate, before and after a change."""

import signal
import time
from pathlib import Path

import pytest

from e2e.control.test_telemetry import (
    LIMITED,
    config_text,
    memifs,
    traffic,
    wait_for_message,
    wait_for_overflow,
)
from e2e.control.test_telemetry import config as config
from e2e.ports import serve
from patience import TIMEOUT
from vcmts.telemetry.command import mbps
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connected


def measured_rate(plane: Plane, seconds: float) -> float:
    """The rate of flow LIMITED in the next seconds, Mbit/s."""
    before, start = plane.flow(LIMITED), time.monotonic()
    time.sleep(seconds)
    after = plane.flow(LIMITED)
    return mbps(before, after, time.monotonic() - start)


def test_rates_change_while_traffic_runs(config: Path, tmp_path: Path) -> None:
    with (
        serve("--config", config, *memifs(tmp_path, "server")) as run,
        connected(run.process.pid) as plane,
        traffic(config, 60) as sender,
    ):
        wait_for_overflow(plane)
        assert measured_rate(plane, 1) == pytest.approx(1, rel=0.02)
        config.write_text(config_text(limited="3 Mbps", channel="800 Mbps"))
        run.process.send_signal(signal.SIGHUP)
        wait_for_message(run, "reloaded")
        time.sleep(0.5)  # the tokens of the burst are used up
        assert measured_rate(plane, 1) == pytest.approx(3, rel=0.02)
        sender.send_signal(signal.SIGINT)
        sender.wait(TIMEOUT)
