# SPDX-License-Identifier: BSD-3-Clause
"""On an idle machine all packets are proven, at the requested rate."""

import json
import re
from pathlib import Path

import pytest

from e2e.machine import all_proven
from e2e.run.test_impairments import COMMANDS, run_command
from e2e.run.test_tool_run import (
    DIRECTIONS,
    check_pipeline_latencies,
    check_summary,
    run_args,
    run_tool,
)
from e2e.run.test_tool_run import folder as folder


def test_all_packets_are_proven(folder: Path) -> None:
    done = run_tool(folder, *run_args(folder, "--duration", "1s", "--latency"))
    summary = check_summary(folder, done.returncode)
    assert all_proven(summary)
    for direction in DIRECTIONS:
        check_pipeline_latencies(summary[direction])
    down, up = summary["downstream"], summary["upstream"]
    assert down["sent_bytes"] * 8 == pytest.approx(50e6, rel=0.05)
    assert up["sent_bytes"] == pytest.approx(0.15 * down["sent_bytes"], rel=0.05)
    assert re.match("PASS: ", done.stdout.splitlines()[-1])


def test_bursts_of_both_directions_are_proven(folder: Path) -> None:
    """vcmtsd does not time out frames that modems have begun when a burst ends."""
    rates = ("--upstream-share", "50%", "--shape", "bursts:on=20ms,off=180ms")
    done = run_tool(folder, *run_args(folder, *rates, "--duration", "2s", rate="20Mbps"))
    summary = check_summary(folder, done.returncode)
    assert all_proven(summary)
    assert summary["downstream"]["asked_gbps"] == pytest.approx(0.002, rel=0.01)
    assert summary["upstream"]["asked_gbps"] == pytest.approx(0.001, rel=0.01)


@pytest.mark.parametrize("rate", ["3Mbps", "4Mbps"])
def test_low_rate_has_no_frame_timeouts(tmp_path: Path, rate: str) -> None:
    """300 modems are granted round robin. At 4 Mbps a modem's next grant comes before the frame
    timeout; at 3 Mbps it would be too late, and each grant holds whole packets."""
    written = tmp_path / "summary.json"
    done = run_command(
        f"run --rate 5Mbps --upstream-rate {rate} --duration 3s --json", str(written)
    )
    upstream = json.loads(written.read_text())["upstream"]
    assert done.status == 0, done.stdout + done.stderr
    assert upstream["drops"]["frame_timeout"] == 0
    assert upstream["lost"] == 0 and upstream["sent"] > 1000


def test_impairments(tmp_path: Path) -> None:
    """Exactly the packets expected to be lost are lost."""
    [command] = [arguments for arguments in COMMANDS if arguments.startswith("run")]
    written = tmp_path / "summary.json"
    done = run_command(command, "--json", str(written))
    upstream = json.loads(written.read_text())["upstream"]
    assert done.status == 0, done.stdout + done.stderr
    assert upstream["lost"] == upstream["expected"]["lost"] > 0
