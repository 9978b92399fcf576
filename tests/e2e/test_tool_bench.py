# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench`: both directions are measured, proven, printed and stored; and the scheduler."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
STAGES = {
    "downstream": {"receive", "classify", "encrypt_collect", "depi", "transmit"},
    "upstream": {"receive", "uepi", "extract", "decrypt_collect", "transmit", "requests"},
}


def bench(*words: str, what: str = "pipeline") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vcmts", "bench", what, *words],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )


def measured(report: Path, *words: str, runs: int = 3) -> tuple[str, list[dict[str, Any]]]:
    how = ("--runs", str(runs), "--milliseconds", "50", "--json", str(report))
    done = bench("--profile", PROFILE, *how, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(report.read_text())["results"]


def test_bench_stores_what_it_prints(tmp_path: Path) -> None:
    printed, results = measured(tmp_path / "bench.json", "--mix", "imix", "--mix", "64")
    keys = [(result["direction"], result["mix"]) for result in results]
    assert keys == [(way, mix) for way in STAGES for mix in ("imix", "64")]
    for result in results:
        assert f"{result['direction']}, {PROFILE}" in printed
        assert STAGES[result["direction"]] < result["stages"].keys()
        assert result["runs"] == 3
        assert result["min"] <= result["cycles_per_packet"] <= result["max"]
        assert sum(result["stages"].values()) == pytest.approx(result["cycles_per_packet"])
        assert all(cycles >= 0 for cycles in result["stages"].values())
        assert 0 < result["share_of_crypto_bound"] < 1
        assert f"{result['share_of_crypto_bound']:.2f}" in printed
    assert results[0]["mean_bytes"] == pytest.approx(998.2, rel=0.01)
    assert results[2]["mean_bytes"] == pytest.approx(998.2, rel=0.01)


@pytest.mark.parametrize(
    ("direction", "mixes"),
    [
        ("downstream", ["imix", "84", "256", "512", "1024", "1280", "1518"]),
        ("upstream", ["upstream-imix", "84", "256", "512", "1024", "1280", "1518"]),
    ],
)
def test_one_direction_with_its_own_mixes(direction: str, mixes: list[str], tmp_path: Path) -> None:
    printed, results = measured(tmp_path / "bench.json", "--direction", direction, runs=1)
    assert [result["mix"] for result in results] == mixes
    assert {result["direction"] for result in results} == {direction}
    assert printed.count("share of crypto bound") == 1
    assert results[-1]["stages"]["requests" if direction == "upstream" else "classify"] > 0


def without_upstream(folder: Path) -> str:
    words = [sys.executable, "-m", "vcmts", "profile", "1ofdm-0sc-qam_4cms_aes"]
    path = os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")}
    group = yaml.safe_load(subprocess.check_output(words, env=path))
    del group["upstream"], group["upstream_channels"]
    for modem in group["modems"]:
        del modem["upstream_service_flows"]
    config = folder / "sg.yaml"
    config.write_text(yaml.safe_dump(group), encoding="utf-8")
    return str(config)


def test_without_an_upstream(tmp_path: Path) -> None:
    short = ("--runs", "1", "--milliseconds", "50", "--mix", "84")
    words = ("--config", without_upstream(tmp_path), *short)
    done = bench(*words, "--json", str(tmp_path / "bench.json"))
    assert done.returncode == 0, done.stderr
    assert "downstream" in done.stdout and "upstream," not in done.stdout
    done = bench(*words, "--direction", "upstream", "--json", str(tmp_path / "bench.json"))
    assert done.returncode == 2
    assert "no upstream channels" in done.stderr


def test_mistakes_measure_nothing(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    done = bench("--direction", "sideways", "--json", str(report))
    assert done.returncode == 2
    assert "sideways" in done.stderr
    assert not report.exists()


@pytest.mark.parametrize("mix", ["imixx", "9000", ""])
def test_a_mix_that_is_none(mix: str, tmp_path: Path) -> None:
    """A mistake, as in every other command, and told before anything is measured."""
    done = bench("--profile", PROFILE, "--mix", mix, "--json", str(tmp_path / "bench.json"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"vcmts: --mix: {mix}: allowed: ")
    assert done.stderr.count("\n") == 1 and done.stdout == ""


def test_the_scheduler_beside_rte_sched(tmp_path: Path) -> None:
    """Below capacity both carry all, above it what the channels can and no more."""
    report = tmp_path / "bench.json"
    words = ["--case", "2ofdm-32sc-qam", "--load", "50", "--load", "150", "--runs", "3"]
    words += ["--milliseconds", "50", "--json", str(report)]
    done = bench(*words, what="scheduler")
    assert done.returncode == 0, done.stderr
    results = json.loads(report.read_text())["results"]
    assert [(r["case"], r["load"]) for r in results] == [(words[1], 50), (words[1], 150)]
    capacity = 2 * 1.89 + 32 * 0.04224
    others = ("rte_sched", "rte_sched_turns", "priorities")
    for result in results:
        assert (result["flows"], result["modems"], result["channels"]) == (2400, 300, 34)
        assert result["ratio"] == pytest.approx(
            result["cycles_per_packet"] / result["rte_sched"]["cycles_per_packet"]
        )
        for one in (result, *(result[key] for key in others)):
            assert one["runs"] == 3
            assert 0 < one["min"] <= one["cycles_per_packet"] <= one["max"]
            assert one["enqueue"] + one["dequeue"] == pytest.approx(one["cycles_per_packet"])
            if result["load"] == 50:
                assert one["dropped"] == 0
                assert one["gbps"] == pytest.approx(one["offered_gbps"], rel=0.01)
                assert one["gbps"] == pytest.approx(capacity / 2, rel=0.1)
            else:
                assert one["dropped"] > 0.2
                assert one["gbps"] == pytest.approx(capacity, rel=0.1)
        assert f"{result['ratio']:.2f}" in done.stdout


def test_cases_of_the_scheduler_that_are_none(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    for words in (["--case", "7ofdm"], ["--load", "0"], ["--runs", "0"]):
        done = bench(*words, "--json", str(report), what="scheduler")
        assert done.returncode == 2, words
        assert words[1] in done.stderr
        assert not report.exists() or report.read_text() == ""
