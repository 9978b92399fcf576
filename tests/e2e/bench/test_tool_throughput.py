# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench throughput` and `latency` with the real programs: formats and balance, not values.

On a busy machine no lossless rate may be found. Then the result must say so.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from e2e.running import environment
from patience import TIMEOUT
from python import report_samples

PROFILE = "2ofdm-0sc-qam_20cms_aes"
# Low resolution, for busy machines.
BASIC = ("--profile", PROFILE, "--trial-seconds", "0.05", "--resolution", "0.3")
ONE_REPEAT = ("--repeats", "1", "--confirmations", "1")

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="data plane and traffic need a core each"
)


def bench(folder: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """The command line of `vcmts bench`, and its environment."""
    output = ["--json", str(folder / "out.json")]
    bench = [sys.executable, "-m", "vcmts", "bench", *words, *output]
    return bench, environment(TMPDIR=str(folder))


def run_bench(folder: Path, *words: str) -> dict[str, Any]:
    """Runs the command, which must succeed. Returns the stored results."""
    arguments, variables = bench(folder, *words)
    done = subprocess.run(arguments, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["out.json"]
    stored: dict[str, Any] = json.loads((folder / "out.json").read_text())
    assert stored["complete"] is True and stored["configuration"] == PROFILE
    assert stored["host"]["tsc_hz"] > 1e8
    return stored


def check_point(point: dict[str, Any]) -> None:
    """Checks the trials of a point, and that its result is consistent with them."""
    for trial in point["trials"]:
        assert set(trial["asked_gbps"]) == {"downstream", "upstream"}
        assert trial["busy_share"] and all(0 <= share <= 1 for share in trial["busy_share"])
        if trial["verdict"] == "passed":
            assert not any(trial["lost"].values())
            assert all(trial["proven"].values())
            sums = (sum(trial[key].values()) for key in ("gbps", "asked_gbps"))
            assert next(sums) == pytest.approx(next(sums), rel=0.15)
    if point["confirmed"]:
        assert point["min"] <= point["gbps"]["total"] <= point["max"]
        assert point["gbps"]["total"] > 0
    else:
        assert point["repeats"] == []


@pytest.mark.parametrize("transport", ["rings", "memif"])
def test_throughput_is_measured_over_each_transport(transport: str, folder: Path) -> None:
    options = ("throughput", *BASIC, *ONE_REPEAT, "--transport", transport, "--point", "1280")
    stored = run_bench(folder, *options)
    assert stored["transport"] == transport
    (point,) = stored["results"]
    assert point["mean_bytes"] == {"downstream": 1280, "upstream": 1280}
    check_point(point)


def test_interrupted_run_is_incomplete(folder: Path) -> None:
    args, variables = bench(folder, "throughput", *BASIC, "--rfc2544", "--trial-seconds", "60")
    with subprocess.Popen(args, env=variables, stderr=subprocess.PIPE, text=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None and not children.read_text():
            time.sleep(0.05)
        time.sleep(1.5)  # during the start or the first trial
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130, messages
    if (folder / "out.json").exists():
        assert json.loads((folder / "out.json").read_text())["complete"] is False


def test_latency_is_measured_at_stored_rate(folder: Path) -> None:
    point = {"repeats": [0.023], "gbps": {"downstream": 0.02, "upstream": 0.003, "total": 0.023}}
    stored = folder / "out.json"
    rate = folder.parent / f"{folder.name}-rate.json"
    results = report_samples.throughput() | {"configuration": PROFILE}
    [sample] = [result for result in results["results"] if result["point"] == "imix"]
    rate.write_text(json.dumps(results | {"results": [sample | point]}))
    try:
        options = ("--profile", PROFILE, "--trial-seconds", "0.05", "--throughput", str(rate))
        measured = run_bench(folder, "latency", *options, "--load", "100", "--attempts", "2")
    finally:
        rate.unlink()
    assert stored.exists()
    down, up = measured["results"]
    assert (down["direction"], up["direction"]) == ("downstream", "upstream")
    for result in (down, up):
        latency = result["end_to_end_us"]
        assert 0 < latency["mean"] <= latency["max"]
        assert latency["p50"] <= latency["p99"] <= latency["p99_9"] <= latency["max"]
        assert result["share_of_round_trip"] == pytest.approx(latency["mean"] / 10_000)
