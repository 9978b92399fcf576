# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench changes`: applies changes while one process also sends and proves traffic."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.bench.test_tool_bench import run_bench

# Short runs: tests check that results exist and that no packet is wrong, not the values.
QUICK = ("--profile", "2ofdm-0sc-qam_20cms_aes", "--runs", "1", "--milliseconds", "50")
SMALL = ("--changes", "100", "--groups", "3", "--share", "20")


def measure(folder: Path, *cases: str) -> tuple[dict[str, Any], str]:
    """Runs the benchmark of some cases. Returns the stored results by case, and the output."""
    report = folder / "changes.json"
    options = [word for case in cases for word in ("--only", case)]
    done = run_bench(*QUICK, *SMALL, *options, "--json", str(report), what="changes")
    assert done.status == 0, done.stderr
    stored = json.loads(report.read_text())
    assert stored["complete"]
    return {one["case"]: one for one in stored["results"]}, done.stdout


@pytest.mark.run
def test_each_case_reports_results_and_proves_packets(tmp_path: Path) -> None:
    results, printed = measure(tmp_path, "changes", "coming", "reload", "many")
    assert list(results) == ["changes", "coming", "reload", "many"]
    assert "single changes during traffic" in printed
    for case, result in results.items():
        for run in result["measured"]:
            assert run["sent"] >= run["proven"] + run["lost"], case
            assert run["wrong"] == 0, case
    run = results["changes"]["measured"][1]
    assert run["what"] == "changes"
    assert all(kind["refused"] == 0 for kind in run["requests"].values())
    assert all(kind["answer_us"]["count"] > 0 for kind in run["requests"].values())
    coming = results["coming"]["measured"][1]
    assert len(coming["coming_ms"]) > 0
    assert set(coming["steps_us"]) <= {"group added", "group removed"}
    reloaded = results["reload"]["measured"][1]
    assert len(reloaded["reload_ms"]) > 0
    assert set(reloaded["steps_us"]) <= {"reload"}
    assert [run["groups"] for run in results["many"]["measured"]] == [1, 3]


def test_zero_changes_is_rejected(tmp_path: Path) -> None:
    done = run_bench("--changes", "0", "--json", str(tmp_path / "no.json"), what="changes")
    assert done.status == 2
    assert "--changes: found 0, allowed: 1 to 100000" in done.stderr
    assert not (tmp_path / "no.json").exists()
