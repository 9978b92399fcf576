# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` checks rates, priorities and weights, which all limit traffic in qos.yaml."""

import json
from pathlib import Path

import pytest

from e2e.machine import ran_undisturbed, run_passed
from e2e.run.test_tool_run import run_tool

QOS = Path(__file__).with_name("qos.yaml")


@pytest.mark.run
def test_rates_priorities_and_weights_are_checked(folder: Path) -> None:
    path = folder / "summary.json"
    options = ("--config", str(QOS), "--rate", "40Mbps", "--duration", "4s", "--json", str(path))
    done = run_tool(folder, "run", *options)
    summary = json.loads(path.read_text())
    down = summary["downstream"]
    assert down["qos_wrong"] == {"rates": 0, "priorities": 0, "weights": 0}
    assert done.returncode == 0 or not run_passed(summary), done.stderr
    assert down["qos_judged"]["rates"] == 8
    assert down["sent_seconds"] < down["seconds"]  # queued packets arrive later
    if not ran_undisturbed(summary):
        return
    assert down["qos_judged"]["priorities"] > 0
    limits = summary["groups"][0]["downstream"]["qos"]["limits"]
    delayed = {(limit["of"], limit["id"]) for limit in limits if limit["waited_s"] > 1}
    assert {("channel", 1), ("service flow", 501), ("service flow", 701)} <= delayed
