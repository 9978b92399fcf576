# SPDX-License-Identifier: BSD-3-Clause
"""Stops a program of `vcmts run` for 50 ms. Losses due to stops do not fail it, others do."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import check_balance, run_passed
from e2e.run.test_tool_run import tool_command
from e2e.running import environment
from patience import TIMEOUT, until
from vcmts.control.client import Client

STOPS = int(os.environ.get("VCMTS_STOPS", "6"))
STOPS_PER_RUN = 50
PROGRAMS = {"vcmtsd", "vcmts-traffic"}
STOP_S, PAUSE_S = 0.05, 0.15
PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATES = ("--rate", "100Mbps", "--upstream-rate", "10Mbps")

pytestmark = pytest.mark.run


def children(pid: int) -> dict[str, int]:
    """PIDs of the child processes, by program name."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    pids = {}
    for child in map(int, text.split()):
        try:
            pids[Path(f"/proc/{child}/exe").resolve().name] = child
        except OSError:
            continue  # it has ended
    return pids


def received(client: Client) -> int:
    [group] = client.call("counters.get")["groups"]
    return int(group["downstream"]["counters"]["received"])


def stop_for_50_ms(pid: int, times: int) -> int:
    """Stops and continues the process. Returns the number of stops; the process may end before."""
    for number in range(times):
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STOP_S)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return number
        time.sleep(PAUSE_S)
    return times


def run_with_stops(
    folder: Path, program: str, stops: int, lose: int
) -> tuple[int, dict[str, Any], str]:
    """A run with stops of `program`. `lose`: the traffic program loses one of so many packets; 0:
    none. Returns exit status, summary and messages."""
    seconds = stops * (STOP_S + PAUSE_S) + 1
    path, control = folder / "summary.json", folder / "control.sock"
    arguments = ("run", "--profile", PROFILE, *RATES, "--duration", f"{seconds:.0f}s")
    outputs = ("--json", str(path), "--control-socket", str(control))
    loss = {"VCMTS_TRAFFIC_LOSE": str(lose)} if lose else {}
    with subprocess.Popen(
        tool_command(*arguments, *outputs),
        env=environment(TMPDIR=str(folder), **loss),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        until(lambda: set(children(run.pid)) >= PROGRAMS, "both programs")
        pids = children(run.pid)
        with Client(control, TIMEOUT) as client:
            until(lambda: received(client) > 0, "packets")
        stopped = stop_for_50_ms(pids[program], stops)
        _, messages = run.communicate(timeout=TIMEOUT)
    assert stopped > 0
    return run.returncode, json.loads(path.read_text()), messages


@pytest.mark.parametrize(
    ("program", "lose"),
    [
        *(pytest.param(name, 0, id=f"{name}: gaps only") for name in sorted(PROGRAMS)),
        pytest.param("vcmtsd", 200, id="gaps and losses"),
    ],
)
def test_gaps_explain_losses_only_during_stops(program: str, lose: int, folder: Path) -> None:
    """Packets under way during a stop explain all losses and reordering, so the run passes. With
    other losses it fails."""
    for first in range(0, STOPS, STOPS_PER_RUN):
        stops = min(STOPS - first, STOPS_PER_RUN)
        status, summary, messages = run_with_stops(folder, program, stops, lose)
        if lose:
            assert summary["downstream"]["lost"] > 0
            assert summary["unexplained"]["downstream"]["lost"] > 0
            assert status == 1 and not summary["verdict"]["passed"]
            continue
        check_balance(summary)
        threads = [summary, *summary["workers"]] if program == "vcmtsd" else [summary]
        hz = summary["host"]["tsc_hz"]
        gaps = [(to - since) / hz for thread in threads for since, to in thread["gaps"]["list"]]
        assert sum(gap > 0.8 * STOP_S for gap in gaps) >= 1
        assert run_passed(summary) and status == 0, (summary["unexplained"], messages)
        directions = (summary["downstream"], summary["upstream"])
        explained = any(direction["lost"] or direction["reordered"] for direction in directions)
        words = " while the system used a core for up to "
        assert any(words in text for text in summary["verdict"]["allowed"]) == explained, messages
