# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench throughput` and `latency` with the real programs: that they fit, not how fast.

On a machine whose cores others use as well nothing may be found: what is checked then is that it
is said.
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
# Coarse, and low enough for a machine with other work.
HOW = ("--profile", PROFILE, "--trial-seconds", "0.05", "--resolution", "0.3")
ONCE = ("--repeats", "1", "--confirmations", "1")

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="data plane and traffic need a core each"
)


def command(folder: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    stored = ["--json", str(folder / "out.json")]
    command = [sys.executable, "-m", "vcmts", "bench", *words, *stored]
    return command, environment(TMPDIR=str(folder))


def bench(folder: Path, *words: str) -> dict[str, Any]:
    """What was stored by a command that went well."""
    words_, variables = command(folder, *words)
    done = subprocess.run(words_, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["out.json"]
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    assert found["complete"] is True and found["configuration"] == PROFILE
    assert found["host"]["tsc_hz"] > 1e8
    return found


def check(point: dict[str, Any]) -> None:
    """Every packet of every trial is accounted for, and the result is that of its trials."""
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
def test_the_programs_fit(transport: str, folder: Path) -> None:
    words = ("throughput", *HOW, *ONCE, "--transport", transport, "--point", "1280")
    found = bench(folder, *words)
    assert found["transport"] == transport
    (point,) = found["results"]
    assert point["mean_bytes"] == {"downstream": 1280, "upstream": 1280}
    check(point)


def test_an_interrupt_is_told(folder: Path) -> None:
    words, variables = command(folder, "throughput", *HOW, "--rfc2544", "--trial-seconds", "60")
    with subprocess.Popen(words, env=variables, stderr=subprocess.PIPE, text=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None and not children.read_text():
            time.sleep(0.05)
        time.sleep(1.5)  # somewhere in the start, or in the first trial: both end alike
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130, told
    if (folder / "out.json").exists():
        assert json.loads((folder / "out.json").read_text())["complete"] is False


def test_latencies_of_a_stored_rate(folder: Path) -> None:
    point = {"repeats": [0.023], "gbps": {"downstream": 0.02, "upstream": 0.003, "total": 0.023}}
    stored = folder / "out.json"
    rate = folder.parent / f"{folder.name}-rate.json"
    known = report_samples.throughput() | {"configuration": PROFILE}
    [sample] = [one for one in known["results"] if one["point"] == "imix"]
    rate.write_text(json.dumps(known | {"results": [sample | point]}))
    try:
        words = ("--profile", PROFILE, "--trial-seconds", "0.05", "--throughput", str(rate))
        found = bench(folder, "latency", *words, "--load", "100", "--attempts", "2")
    finally:
        rate.unlink()
    assert stored.exists()
    down, up = found["results"]
    assert (down["direction"], up["direction"]) == ("downstream", "upstream")
    for one in (down, up):
        latency = one["end_to_end_us"]
        assert 0 < latency["mean"] <= latency["max"]
        assert latency["p50"] <= latency["p99"] <= latency["p99_9"] <= latency["max"]
        assert one["share_of_round_trip"] == pytest.approx(latency["mean"] / 10_000)
