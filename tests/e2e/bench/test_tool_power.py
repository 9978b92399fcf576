# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench power` with the real programs: all parts have results. Values are not checked."""

import json
import os
from pathlib import Path

import pytest

from e2e.bench.test_tool_throughput import PROFILE, run_bench
from vcmts import results
from vcmts.bench.power.command import PARTS

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="data plane and traffic need a core each"
)
# A rate for busy machines: tests check the balance, not the rate.
QUICK = ("--profile", PROFILE, "--steps", "3", "--runs", "1", "--trial-seconds", "0.05")
# Part `latency` is measured like `cost`.
TESTED_PARTS = [part for part in PARTS if part != "latency"]


@pytest.mark.run
def test_each_part_has_results(folder: Path) -> None:
    options = [word for part in TESTED_PARTS for word in ("--only", part)]
    stored = run_bench(folder, "power", *QUICK, "--rate", "40Mbps", *options)
    results.read(folder / "out.json")
    assert stored["kinds"][0] == "poll" and {"spin", "sleep"} <= set(stored["kinds"])
    assert stored["driver"] == "simulated" and stored["ring"] == 1024
    by_part: dict[str, list[dict[str, object]]] = {}
    for result in stored["results"]:
        by_part.setdefault(result["what"].split(".")[0], []).append(result)
    assert list(by_part) == TESTED_PARTS
    kinds = len(stored["kinds"])
    assert len(by_part["steps"]) == 2 * kinds + 4
    assert [len(by_part[part]) for part in ("cost", "paused")] == [kinds - 1] * 2
    assert [len(by_part[part]) for part in ("cpu", "first")] == [kinds, 3 * kinds]
    for result in stored["results"]:
        if result["what"] == "steps":
            assert result["sent"] > 0 and result["steps"] > 0
            assert sum(trial["lost"] for trial in result["trials"]) >= result["lost"]
        if result["what"] == "paused":
            assert 0 < result["value"] <= 1
    assert json.dumps(stored["power"])
