# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench power` with the real programs: that they fit, not how fast, nor what is lost."""

import json
import os
from pathlib import Path

import pytest

from e2e.bench.test_tool_throughput import PROFILE, bench
from vcmts import results
from vcmts.bench.power.command import PARTS

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="data plane and traffic need a core each"
)
# Low enough for a machine with other work: what is looked for is that every packet has its account.
QUICK = ("--profile", PROFILE, "--steps", "3", "--runs", "1", "--trial-seconds", "0.05")


# Latency is that of trials in turns, as cost is.
TRIED = [part for part in PARTS if part != "latency"]


@pytest.mark.run
def test_every_part_of_it(folder: Path) -> None:
    only = [word for part in TRIED for word in ("--only", part)]
    found = bench(folder, "power", *QUICK, "--rate", "40Mbps", *only)
    results.read(folder / "out.json")
    assert found["kinds"][0] == "poll" and {"spin", "sleep"} <= set(found["kinds"])
    assert found["driver"] == "simulated" and found["ring"] == 1024
    by: dict[str, list[dict[str, object]]] = {}
    for one in found["results"]:
        by.setdefault(one["what"].split(".")[0], []).append(one)
    assert list(by) == TRIED
    kinds = len(found["kinds"])
    assert len(by["steps"]) == 2 * kinds + 4
    assert [len(by[part]) for part in ("cost", "paused")] == [kinds - 1] * 2
    assert [len(by[part]) for part in ("cpu", "first")] == [kinds, 3 * kinds]
    for one in found["results"]:
        if one["what"] == "steps":
            assert one["sent"] > 0 and one["steps"] > 0
            assert sum(seen["lost"] for seen in one["trials"]) >= one["lost"]
        if one["what"] == "paused":
            assert 0 < one["value"] <= 1
    assert json.dumps(found["power"])
