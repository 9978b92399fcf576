# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench changes`: changes are made beside traffic in one process, and it is proven."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.bench.test_tool_bench import bench

# Quick ones: what they find is not looked at, but that it is there and nothing was lost.
QUICK = ("--profile", "2ofdm-0sc-qam_20cms_aes", "--runs", "1", "--milliseconds", "50")
FEW = ("--changes", "100", "--groups", "3", "--share", "20")


def measured(folder: Path, *cases: str) -> tuple[dict[str, Any], str]:
    report = folder / "changes.json"
    only = [word for case in cases for word in ("--only", case)]
    done = bench(*QUICK, *FEW, *only, "--json", str(report), what="changes")
    assert done.status == 0, done.stderr
    found = json.loads(report.read_text())
    assert found["complete"]
    return {one["case"]: one for one in found["results"]}, done.stdout


@pytest.mark.run
def test_changes_are_made_beside_traffic(tmp_path: Path) -> None:
    found, printed = measured(tmp_path, "changes", "coming", "reload", "many")
    assert list(found) == ["changes", "coming", "reload", "many"]
    assert "single changes beside traffic" in printed
    for case, one in found.items():
        for run in one["measured"]:
            assert run["sent"] >= run["proven"] + run["lost"], case
            assert run["wrong"] == 0, case
    run = found["changes"]["measured"][1]
    assert run["what"] == "changes"
    assert all(kind["refused"] == 0 for kind in run["requests"].values())
    assert all(kind["answer_us"]["count"] > 0 for kind in run["requests"].values())
    assert len(found["coming"]["measured"][1]["coming_ms"]) > 0
    assert len(found["reload"]["measured"][1]["reload_ms"]) > 0
    assert [run["groups"] for run in found["many"]["measured"]] == [1, 3]


def test_what_is_refused(tmp_path: Path) -> None:
    done = bench("--changes", "0", "--json", str(tmp_path / "no.json"), what="changes")
    assert done.status == 2
    assert "--changes: found 0, allowed: 1 to 100000" in done.stderr
    assert not (tmp_path / "no.json").exists()
