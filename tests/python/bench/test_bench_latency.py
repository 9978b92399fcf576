# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts bench latency` with simulated programs of known capacity and latency."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from python.bench.simulated_bench import Bench, Json
from python.bench.simulated_bench import bench as bench
from vcmts.paths import CHECKOUT

WHAT = "latency"
QUICK = ("--trial-seconds", "0.1")


def throughput_result(point: str, **gbps: float) -> Json:
    """A result of `vcmts bench throughput`."""
    total = sum(gbps.values())
    rates = {"mean_bytes": {"downstream": 998}, "gbps": gbps | {"total": total}}
    return {"point": point, "repeats": [total], "min": total, "max": total, "trials": []} | rates


def write_throughput(folder: Path, **fields: Any) -> str:
    """Writes a file of `vcmts bench throughput`."""
    host = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": False}
    file = {"schema": 1, "kind": "throughput", "configuration": "simulated", "host": host}
    file |= {"command": ["vcmts"], "started": "2026-01-02T03:04:05+00:00", "seconds": 1.0}
    file |= {"complete": True, "transport": "rings"}
    file |= {"results": [throughput_result("imix", downstream=4, upstream=0.6)]}
    path = folder / "throughput.json"
    path.write_text(json.dumps(file | fields))
    return str(path)


def test_loads_are_shares_of_the_found_rate(bench: Bench) -> None:
    assert bench(*QUICK, pipeline=True) == 0
    file = bench.stored()
    assert (file["kind"], file["complete"]) == ("latency", True)
    assert file["configuration"] == "simulated"
    assert sum(file["zero_loss_gbps"].values()) == pytest.approx(5, rel=0.05)
    results = file["results"]
    loads = [load / 100 for load in range(10, 101, 10)]
    assert [one["load"] for one in results] == [load for load in loads for _ in range(2)]
    assert [one["direction"] for one in results[:2]] == ["downstream", "upstream"]
    one = results[0]
    zero_loss = file["zero_loss_gbps"]["downstream"]
    assert one["asked_gbps"]["downstream"] == pytest.approx(zero_loss / 10)
    assert one["end_to_end_us"]["p99_999"] == 106
    assert one["end_to_end_us"]["histogram"] == [[100, 5]]
    assert one["pipeline_us"]["mean"] == 100
    assert one["share_of_round_trip"] == pytest.approx(0.01)
    assert (one["disturbed"], one["lost"], one["attempts"]) == (False, 0, 1)
    assert file["cost_of_measuring"] == {"downstream": 12.5, "upstream": 20}
    printed = bench.output()[0]
    assert "latency downstream, simulated" in printed and "1.0%" in printed
    assert "reference cycles per packet for measuring: 12 downstream, 20 upstream" in printed


def test_rate_may_be_stored(bench: Bench) -> None:
    assert bench(*QUICK, "--throughput", write_throughput(bench.folder), "--load", "50") == 0
    down, up = bench.stored()["results"]
    assert down["asked_gbps"] == {"downstream": 2, "upstream": 0.3}
    assert up["asked_gbps"] == down["asked_gbps"]
    assert down["pipeline_us"] is None
    args = ("--throughput", str(bench.folder / "throughput.json"), "--load", "50")
    assert bench(*QUICK, *args, "--direction", "upstream") == 0
    (one,) = bench.stored()["results"]
    assert one["asked_gbps"] == {"upstream": 0.3}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "pipeline", "results": []}, "kind: found pipeline, needed: throughput"),
        ({"configuration": "other"}, "configuration: found other, needed: simulated"),
        ({"transport": "memif"}, "transport: found memif, needed: rings"),
        ({"schema": 2}, "schema: found 2, allowed: 1"),
        ({"results": []}, "found confirmed rates of none, needed: imix"),
        (
            {"results": [throughput_result("64", downstream=1)]},
            "found confirmed rates of 64, needed: imix",
        ),
        ({"results": [throughput_result("imix", downstream=1)]}, "nothing was measured upstream"),
    ],
)
def test_other_throughput_file_is_refused(fields: Json, message: str, bench: Bench) -> None:
    bench.expect_error(message, *QUICK, "--throughput", write_throughput(bench.folder, **fields))


def test_disturbed_load_is_repeated(bench: Bench) -> None:
    args = (*QUICK, "--throughput", write_throughput(bench.folder), "--load", "10")
    assert bench(*args, "--load", "20", disturbed=[1, 2]) == 0
    results = bench.stored()["results"]
    assert [(one["attempts"], one["disturbed"]) for one in results] == [
        *[(3, False)] * 2,
        *[(1, False)] * 2,
    ]
    assert bench(*args, "--attempts", "3", always=True) == 0
    one = bench.result()
    assert (one["disturbed"], one["attempts"], one["verdict"]) == (True, 3, "disturbed")
    assert one["lost"] > 0


def test_interrupt_keeps_results(bench: Bench) -> None:
    args = (*QUICK, "--throughput", write_throughput(bench.folder))
    assert bench(*args, interrupts=1) == 130
    assert (
        "stopped by Ctrl-C: nothing was measured" in bench.output()[1] and not bench.path.exists()
    )
    assert bench(*args, interrupts=3) == 130
    file = bench.stored()
    assert file["complete"] is False and len(file["results"]) == 4
    assert "stopped by Ctrl-C: 4 results were measured and stored" in bench.output()[1]


def test_missing_zero_loss_rate_fails(bench: Bench) -> None:
    assert bench(*QUICK, capacity=1.0) == 1
    assert "found no rate without loss" in bench.output()[1]
    bench.expect_error("found 1 usable core", cores=1)


def test_trials_of_a_load_are_merged(bench: Bench) -> None:
    args = ("--throughput", write_throughput(bench.folder), "--load", "10", "--trial-seconds", "1")
    assert bench(*args, disturbed=[2], pipeline=True) == 0
    one = bench.result()
    assert (one["trials"], one["attempts"], one["disturbed"]) == (4, 5, False)
    assert one["end_to_end_us"]["histogram"] == [[100, 20]]
    assert one["pipeline_us"]["histogram"] == [[100, 20]]
    assert one["end_to_end_us"]["mean"] == 100


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--point", "banana"), 'vcmts: --point: found "banana", allowed'),
        (("--load", "0"), "--load: found 0, allowed: 0.1 to 150"),
        (("--attempts", "0"), "--attempts: found 0, allowed: 1 to 1000"),
        (("--trial-seconds", "-1"), "--trial-seconds: found -1"),
        (("--throughput", "/nonexistent.json"), "/nonexistent.json: No such file"),
    ],
)
def test_wrong_options_are_refused(args: tuple[str, ...], message: str, bench: Bench) -> None:
    bench.expect_error(message, *args)


def test_keys_are_documented(bench: Bench) -> None:
    assert bench(*QUICK, "--throughput", write_throughput(bench.folder), "--load", "50") == 0
    file = bench.stored()
    page = (CHECKOUT / "docs" / "results.md").read_text()
    above, section = (
        page.split(f"### `vcmts bench {what}`")[1].split("\n### ")[0]
        for what in ("throughput", "latency")
    )
    documented = set(re.findall(r"`(?:results\[\]\.)?([a-z0-9_]+)", section))
    whole = set(re.findall(r"`([a-z0-9_]+)", above))  # keys of all measurements
    assert set(file) - {"results"} <= documented | whole
    assert set(file["results"][0]) <= documented
