# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` with qos.yaml: it checks rates, priorities and weights, which all limit the
traffic."""

import json
from pathlib import Path

import pytest

from e2e.machine import ran_undisturbed, run_passed
from e2e.run.test_tool_run import run_tool

QOS = Path(__file__).with_name("qos.yaml")


@pytest.mark.run
def test_rates_priorities_and_weights_are_checked(folder: Path) -> None:
    path = folder / "summary.json"
    options = ("--config", str(QOS), "--rate", "40Mbps", "--duration", "3s", "--json", str(path))
    completed = run_tool(folder, "run", *options)
    summary = json.loads(path.read_text())
    downstream = summary["downstream"]
    assert downstream["qos_wrong"] == {"rates": 0, "priorities": 0, "weights": 0}
    assert completed.returncode == 0 or not run_passed(summary), completed.stderr
    assert downstream["qos_judged"]["rates"] == 8
    assert (
        downstream["sent_seconds"] < downstream["seconds"]
    )  # queued packets arrive after the last one is sent
    if not ran_undisturbed(summary):
        return
    assert downstream["qos_judged"]["priorities"] > 0
    limits = summary["groups"][0]["downstream"]["qos"]["limits"]
    delayed = {(limit["of"], limit["id"]) for limit in limits if limit["waited_s"] > 1}
    assert {("channel", 1), ("service flow", 501), ("service flow", 701)} <= delayed
