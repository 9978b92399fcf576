# SPDX-License-Identifier: BSD-3-Clause
"""Gaps of the machine: `vcmts run` while one of its programs is stopped for 50 ms, many times."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import check_accounts, passed
from e2e.run.test_tool_run import command
from e2e.running import environment
from patience import TIMEOUT, until
from vcmts.control.client import Client

STOPS = int(os.environ.get("VCMTS_STOPS", "6"))
STOPS_A_RUN = 50
PROGRAMS = {"vcmtsd", "vcmts-traffic"}
STOP_S, PAUSE_S = 0.05, 0.15
PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATES = ("--rate", "100Mbps", "--upstream-rate", "10Mbps")

pytestmark = pytest.mark.run


def children(pid: int) -> dict[str, int]:
    """The programs that a process has started, by name."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    found = {}
    for child in map(int, text.split()):
        try:
            found[Path(f"/proc/{child}/exe").resolve().name] = child
        except OSError:
            continue  # it has ended
    return found


def received(client: Client) -> int:
    [group] = client.call("counters.get")["groups"]
    return int(group["downstream"]["counters"]["received"])


def stop_for_50_ms(pid: int, times: int) -> int:
    """Returns how many times it was; the program may end before."""
    for number in range(times):
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STOP_S)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return number
        time.sleep(PAUSE_S)
    return times


def stopped_run(
    folder: Path, program: str, stops: int, lose: int
) -> tuple[int, dict[str, Any], str]:
    """A run in which the program is stopped; its status, summary and messages."""
    seconds = stops * (STOP_S + PAUSE_S) + 1
    path, control = folder / "summary.json", folder / "control.sock"
    words = ("run", "--profile", PROFILE, *RATES, "--duration", f"{seconds:.0f}s")
    stored = ("--json", str(path), "--control-socket", str(control))
    losing = {"VCMTS_TRAFFIC_LOSE": str(lose)} if lose else {}
    with subprocess.Popen(
        command(*words, *stored),
        env=environment(TMPDIR=str(folder), **losing),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        until(lambda: set(children(run.pid)) >= PROGRAMS, "both programs")
        found = children(run.pid)
        with Client(control, TIMEOUT) as client:
            until(lambda: received(client) > 0, "packets")
        done = stop_for_50_ms(found[program], stops)
        _, said = run.communicate(timeout=TIMEOUT)
    assert done > 0
    return run.returncode, json.loads(path.read_text()), said


@pytest.mark.parametrize(
    ("program", "lose"),
    [
        *(pytest.param(name, 0, id=f"{name}: gaps are no fault") for name in sorted(PROGRAMS)),
        pytest.param("vcmtsd", 200, id="a fault beside gaps fails"),
    ],
)
def test_stops(program: str, lose: int, folder: Path) -> None:
    """All that is lost or out of order was under way while the program was stopped; packets that
    get lost all the time are not explained by stops."""
    for first in range(0, STOPS, STOPS_A_RUN):
        stops = min(STOPS - first, STOPS_A_RUN)
        status, summary, said = stopped_run(folder, program, stops, lose)
        if lose:
            assert summary["downstream"]["lost"] > 0
            assert summary["unexplained"]["downstream"]["lost"] > 0
            assert status == 1 and "passed: " not in said
            continue
        check_accounts(summary)
        threads = [summary, *summary["workers"]] if program == "vcmtsd" else [summary]
        hz = summary["host"]["tsc_hz"]
        gaps = [(to - since) / hz for one in threads for since, to in one["gaps"]["list"]]
        assert sum(gap > 0.8 * STOP_S for gap in gaps) >= 1
        assert passed(summary) and status == 0, (summary["unexplained"], said)
        ways = (summary["downstream"], summary["upstream"])
        explained = any(way["lost"] or way["reordered"] for way in ways)
        assert ("\nvcmts: passed: " in said) == explained, said
