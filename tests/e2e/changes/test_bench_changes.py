# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench changes`: applies changes while one process also sends and proves traffic."""

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.bench.test_tool_bench import profile_yaml, run_bench
from vcmts.paths import program

# Short runs: tests check that results exist and that no packet is wrong, not the values.
PROFILE = "2ofdm-0sc-qam_20cms_aes"
QUICK = ("--profile", PROFILE, "--runs", "1", "--milliseconds", "50")
SMALL = ("--changes", "100", "--groups", "3", "--share", "20")


def measure(folder: Path, *cases: str, options: tuple[str, ...] = ()) -> tuple[dict[str, Any], str]:
    """Runs the benchmark of some cases. Returns the stored results by case, and the output."""
    report = folder / "changes.json"
    only = [word for case in cases for word in ("--only", case)]
    done = run_bench(*QUICK, *SMALL, *only, *options, "--json", str(report), what="changes")
    verdict = done.stdout.splitlines()[-1]
    assert done.status == (0 if verdict.startswith("PASS: ") else 1), done.stderr
    assert verdict.endswith(" goals reached"), verdict
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


@pytest.mark.run
def test_longer_keys_roll(tmp_path: Path) -> None:
    """The run is long enough to install keys."""
    options = ("--cipher", "aes-256", "--milliseconds", "400")
    results, _ = measure(tmp_path, "changes", options=options)
    run = results["changes"]["measured"][1]
    assert run["requests"]["key rolled"]["answer_us"]["count"] > 3
    assert run["requests"]["key rolled"]["refused"] == 0


@pytest.mark.run
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--profile", "2ofdm-0sc-qam_8cms_aes"),
            "service group 1: found 8 modems, allowed: at least 9, as 8 get no traffic\n",
        ),
        (
            ("--cipher", "none"),
            "service group 1: a modem has no unused next_key, needed: one for each of the "
            "last 4 modems, as their keys roll\n",
        ),
    ],
    ids=["modems", "keys"],
)
def test_unsuitable_configuration_is_refused(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    report = tmp_path / "no.json"
    more = ("--only", "changes", *options, "--json", str(report))
    done = run_bench(*QUICK, *SMALL, *more, what="changes")
    assert done.status == 1
    assert message in done.stderr
    assert not report.exists()


def start(path: Path, text: str, *options: str) -> subprocess.Popen[str]:
    """Starts vcmts-bench-changes with the configuration `text`, which it writes into `path`."""
    path.write_text(text)
    return subprocess.Popen(
        [str(program("vcmts-bench-changes")), "--config", str(path), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.run
def test_group_without_filter_groups_is_refused(tmp_path: Path) -> None:
    text = re.sub(r"(?ms)^( *)filter_groups:\n.*?(?=^\1\w)", "", profile_yaml(PROFILE))
    text = re.sub(r"(?m)^.*filter_groups:.*\n", "", text)
    with start(tmp_path / "config.yaml", text, "--runs", "1", "--rate", "100") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no filter group, needed: at least one, as its rules change\n" in errors


@pytest.mark.run
def test_interrupted_run_has_no_result(tmp_path: Path) -> None:
    """Also the last run, after which no other one is refused."""
    options = ("--what", "plain", "--runs", "1", "--milliseconds", "60000", "--rate", "100")
    text = profile_yaml(PROFILE)
    with start(tmp_path / "config.yaml", text, *options) as process:
        assert process.stderr is not None
        assert any("run 1 of 1" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    report = json.loads(output)
    assert process.returncode == 130
    assert report["complete"] is False
    assert report["results"] == []
