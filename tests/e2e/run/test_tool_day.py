# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run --day`: a day of load in seconds. Packets are proven, hours reported."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from e2e.machine import check_balance, ran_undisturbed, run_passed
from e2e.run.test_tool_run import DIRECTIONS, documented_keys, leftover_files, run_args, run_tool
from planning.day import picture

Json = dict[str, Any]

# No load until 4:00, and a step at noon.
DAY = "0:00 0%\n4:00 0%\n4:00 20%\n12:00 20%\n12:00 100%\n24:00 100%\n"
LENGTH = 3.0  # seconds


def parts(day: Json) -> Iterator[Json]:
    yield from (*day["samples"], *day["hours"], day["whole"])


def check_keys(day: Json) -> None:
    """Checks that the keys are those of docs/results.md."""
    keys = documented_keys()["A day"]
    assert set(day) | set(day["whole"]) == keys
    for part in parts(day):
        assert set(part) == set(day["whole"])


def check_shares(day: Json) -> None:
    for part in parts(day):
        assert 0 <= part["busy"] <= 1 and 0 <= part["paused"] <= 1.001 - part["busy"]
        watts = part["modelled_watts"]
        assert watts["cpu"] <= watts["cpu_polling"] + 0.01
        assert watts["platform"] <= watts["platform_polling"] + 0.01


def check_hours(day: Json, summary: Json) -> None:
    """Checks that hours are in order from the first packet on, and contain all packets."""
    hours = [hour["hour"] for hour in day["hours"]]
    assert hours == sorted(hours) and hours[0] > 3.5
    for direction in DIRECTIONS:
        latencies = [part["latency_us"][direction] for part in (*day["samples"], day["whole"])]
        packets = [latency["packets"] if latency else 0 for latency in latencies]
        assert sum(packets[:-1]) == packets[-1] <= summary[direction]["counters"]["transmitted"]
        assert packets[-1] > 0


@pytest.mark.run
def test_day_reports_each_hour(folder: Path) -> None:
    (folder / "day.txt").write_text(DAY)
    args = ("--day", str(folder / "day.txt"), "--duration", f"{LENGTH:g}s", "--policy", "saving")
    plot = folder / "day.svg"
    done = run_tool(folder, *run_args(folder, *args, "--plot", str(plot), rate="100Mbps"))
    summary = json.loads((folder / "summary.json").read_text())
    check_balance(summary)
    assert done.returncode == (0 if run_passed(summary) else 1), done.stderr
    day = summary["day"]
    check_keys(day)
    check_shares(day)
    check_hours(day, summary)
    assert (day["load"], day["length_seconds"]) == ("day.txt", LENGTH)
    assert day["idle"] not in (None, "poll") and day["policy"] == "saving"
    by_hour = {int(part["hour"]): part for part in day["hours"]}
    if ran_undisturbed(summary) and {10, 20} <= set(by_hour):  # otherwise samples may be missing
        before, after = by_hour[10], by_hour[20]
        assert after["downstream_gbps"] > 2 * before["downstream_gbps"] > 0
        assert summary["downstream"]["asked_gbps"] == pytest.approx(0.1 * 13.6 / 24, rel=0.02)
    ids = {element.get("id") for element in ElementTree.parse(plot).iter()}
    without = {"frequency", "power"}  # no cpufreq, and no machine described or measured
    assert {f"panel-{name}" for name in picture.PANELS if name not in without} <= ids
    assert re.search(r"24 hours of day.txt in 3 s; pauses: \S+; policy: saving", done.stdout)
    assert "proven" in done.stdout.splitlines()[-1]
    assert "packets proven" not in done.stderr and not re.search(r"^ +\d+ s  ", done.stderr, re.M)
    assert {path.name for path in leftover_files(folder)} == {"day.txt", "day.svg"}
