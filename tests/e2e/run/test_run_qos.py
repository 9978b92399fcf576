# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` judges rates, priorities and weights where all of them hold packets back."""

import json
from pathlib import Path

import pytest

from e2e.machine import kept_up, passed
from e2e.run.test_tool_run import tool

QOS = Path(__file__).with_name("qos.yaml")


@pytest.mark.run
def test_what_holds_packets_back_is_judged(folder: Path) -> None:
    path = folder / "summary.json"
    words = ("--config", str(QOS), "--rate", "40Mbps", "--duration", "3s", "--json", str(path))
    done = tool(folder, "run", *words)
    told = json.loads(path.read_text())
    down = told["downstream"]
    assert down["qos_wrong"] == {"rates": 0, "priorities": 0, "weights": 0}
    assert done.returncode == 0 or not passed(told), done.stderr
    assert down["qos_judged"]["rates"] == 8
    assert down["sent_seconds"] < down["seconds"]  # what waited at the end
    if not kept_up(told):
        return
    assert down["qos_judged"]["priorities"] > 0
    measured = told["groups"][0]["downstream"]["qos"]["limits"]
    waited = {(one["of"], one["id"]) for one in measured if one["waited_s"] > 1}
    assert {("channel", 1), ("service flow", 501), ("service flow", 701)} <= waited
