# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench pipeline`, `cost` and `scheduler`: results are proven, printed and stored."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.running import Completed, environment, vcmts
from vcmts import paths, results, yamls
from vcmts.profile import group as profile

PROFILE = "2ofdm-0sc-qam_20cms_aes"
OTHER_SCHEDULERS = ("rte_sched", "rte_sched_turns", "priorities")
STAGES = {
    "downstream": {"receive", "classify", "encrypt_collect", "depi", "transmit"},
    "upstream": {"receive", "uepi", "extract", "decrypt_collect", "transmit", "requests"},
}


def run_bench(*words: str, what: str = "pipeline") -> Completed:
    return vcmts("bench", what, *words)


def profile_yaml(name: str) -> str:
    out = io.StringIO()
    profile.write_profile(name, out)
    return out.getvalue()


def measure(report: Path, *arguments: str, runs: int = 3) -> tuple[str, list[dict[str, Any]]]:
    """Runs the benchmark. Returns its output and the stored results."""
    options = ("--runs", str(runs), "--milliseconds", "20", "--json", str(report))
    done = run_bench("--profile", PROFILE, *options, *arguments)
    assert done.status == 0, done.stderr
    return done.stdout, json.loads(report.read_text())["results"]


def test_pipeline_results_are_printed_and_stored(tmp_path: Path) -> None:
    printed, results = measure(tmp_path / "bench.json", "--mix", "imix", "--mix", "64")
    keys = [(result["direction"], result["mix"]) for result in results]
    assert keys == [(direction, mix) for direction in STAGES for mix in ("imix", "64")]
    for result in results:
        assert f"{result['direction']}, {PROFILE}" in printed
        assert STAGES[result["direction"]] < result["stages"].keys()
        assert "cycles_latency" in result  # a difference of two runs, of any value on busy machines
        assert result["runs"] == 3
        assert result["min"] <= result["cycles_per_packet"] <= result["max"]
        assert sum(result["stages"].values()) == pytest.approx(result["cycles_per_packet"])
        assert all(cycles >= 0 for cycles in result["stages"].values())
        assert result["share_of_crypto_bound"] > 0
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
def test_one_direction_has_its_own_mixes(direction: str, mixes: list[str], tmp_path: Path) -> None:
    printed, results = measure(tmp_path / "bench.json", "--direction", direction, runs=1)
    assert [result["mix"] for result in results] == mixes
    assert {result["direction"] for result in results} == {direction}
    assert printed.count("share of crypto bound") == 1
    assert results[-1]["stages"]["requests" if direction == "upstream" else "classify"] > 0


TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two cores are needed, found one"
)


@TWO_CORES
def test_two_threads_are_bound_by_slower_one(tmp_path: Path) -> None:
    """The slower thread determines the rate of both. Every packet is proven."""
    report = tmp_path / "bench.json"
    printed, results = measure(report, "--threads", "both", "--mix", "imix", "--mix", "84", runs=1)
    keys = [(result["direction"], result["threads"], result["mix"]) for result in results]
    expected = [("downstream", 1), ("upstream", 1), ("downstream", 2)]
    assert keys == [(*key, mix) for key in expected for mix in ("imix", "84")]
    tsc_hz = json.loads(report.read_text())["host"]["tsc_hz"]
    for result in results[-2:]:
        pair, stages = result["pair"], result["stages"]
        names = list(stages)
        lower = sum(stages[name] for name in names[names.index("take_over") :])
        assert pair["lower_mac"] == pytest.approx(lower)
        assert pair["upper_mac"] + lower == pytest.approx(result["cycles_per_packet"])
        assert pair["bound_by"] == ("lower_mac" if lower > pair["upper_mac"] else "upper_mac")
        slower = max(lower, pair["upper_mac"])
        assert pair["gbps"] == pytest.approx(result["mean_bytes"] * 8 * tsc_hz / slower / 1e9)
        assert pair["gbps_per_core"] == pytest.approx(pair["gbps"] / 2)
        assert f"{pair['gbps']:.1f}" in printed
    assert all("pair" not in result for result in results[:-2])


def test_two_threads_on_one_core_are_rejected(tmp_path: Path) -> None:
    core = {min(os.sched_getaffinity(0))}
    config = tmp_path / "sg.yaml"
    config.write_text(profile_yaml("1ofdm-0sc-qam_4cms_aes"), encoding="utf-8")
    program = [str(paths.program("vcmts-bench")), "--config", str(config)]
    for command in (program, [sys.executable, "-m", "vcmts", "bench", "pipeline"]):
        done = subprocess.run(
            [*command, "--threads", "2", "--json", str(tmp_path / "bench.json")],
            env=environment(),
            preexec_fn=lambda: os.sched_setaffinity(0, core),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "needed: 2; choose --threads 1" in done.stderr and done.stderr.count("\n") == 1


def test_memory_and_start_times_are_consistent(tmp_path: Path) -> None:
    """Memory of configuration and tables grows with the modems, memory of pools does not."""
    reports = {}
    for modems in (20, 120):
        path = tmp_path / f"{modems}.json"
        options = ("--mix", "84", "--direction", "downstream", "--runs", "1")
        name = f"2ofdm-0sc-qam_{modems}cms_aes"
        outputs = ("--milliseconds", "10", "--json", str(path))
        assert run_bench("--profile", name, *options, *outputs).status == 0
        reports[modems] = json.loads(path.read_text())
    small, large = (reports[modems]["memory"] for modems in (20, 120))
    for memory, modems in ((small, 20), (large, 120)):
        assert memory["total"] == sum(memory[key] for key in ("configuration", "pools", "tables"))
        memory_of_group = memory["configuration"] + memory["tables"]
        assert memory["per_modem"] == pytest.approx(memory_of_group / modems)
    for key in ("configuration", "tables"):
        assert large[key] - small[key] > 100 * 1000, key
    assert large["pools"] == pytest.approx(small["pools"], rel=0.02)
    start = reports[120]["start"]
    parts = [start[key] for key in ("load", "pools", "sessions", "tables")]
    assert all(part > 0 for part in parts) and start["total"] == pytest.approx(sum(parts))


def test_interrupted_run_stores_results(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    options = ["--profile", PROFILE, "--mix", "84", "--runs", "99", "--milliseconds", "500"]
    with subprocess.Popen(
        [sys.executable, "-m", "vcmts", "bench", "pipeline", *options, "--json", str(report)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run_bench:
        assert run_bench.stderr is not None
        lines = iter(run_bench.stderr)
        progress = (line for line in lines if line.startswith("bench pipeline, 1 thread: "))
        assert any("left, downstream, 84: run " in line for line in progress)
        run_bench.send_signal(signal.SIGINT)
        remaining = list(lines)
        assert run_bench.wait() == 130
    assert remaining[-1] == f"vcmts: stopped by Ctrl-C: the results so far are in {report}\n"
    stored = json.loads(report.read_text())
    assert stored["complete"] is False
    (result,) = stored["results"]
    assert 1 <= result["runs"] < 99
    assert result["min"] <= result["cycles_per_packet"] <= result["max"]


def test_stored_results_have_fits(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    measure(report, "--direction", "downstream", "--mix", "84", "--mix", "1024", runs=1)
    stored = results.read(report)
    assert (stored["kind"], stored["complete"]) == ("pipeline", True)
    assert stored["command"][:3] == ["./vcmts", "bench", "pipeline"]
    assert stored["configuration"] == PROFILE
    cycles = {r["mix"]: r["cycles_per_packet"] for r in stored["results"]}
    line = next(fit for fit in stored["fits"] if fit["stage"] == "all")
    assert line["fixed"] + line["per_byte"] * 84 == pytest.approx(cycles["84"])
    assert line["fixed"] + line["per_byte"] * 1024 == pytest.approx(cycles["1024"])
    assert line["r2"] == pytest.approx(1) and line["points"] == 2


def test_cost_is_measured_per_number_of_classifiers(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    options = ["--profile", PROFILE, "--what", "classifiers", "--runs", "1", "--milliseconds", "20"]
    done = run_bench(*options, "--json", str(report), what="cost")
    assert done.status == 0, done.stderr
    stored = results.read(report)
    assert (stored["kind"], stored["complete"]) == ("cost", True)
    keys = [(result["what"], result["value"], result["direction"]) for result in stored["results"]]
    assert keys == [("classifiers", n, direction) for n in (4, 16, 64) for direction in STAGES]
    memory = [result["memory_bytes"] for result in stored["results"][::2]]
    assert memory == sorted(set(memory))
    assert all(result["start_seconds"] > 0 for result in stored["results"])
    assert "classifiers per modem: reference cycles per packet" in done.stdout


def config_without_upstream(folder: Path) -> str:
    group = yamls.safe_load(profile_yaml("1ofdm-0sc-qam_4cms_aes"))
    del group["upstream"], group["upstream_channels"]
    for modem in group["modems"]:
        del modem["upstream_service_flows"]
    config = folder / "sg.yaml"
    config.write_text(yaml.safe_dump(group), encoding="utf-8")
    return str(config)


def test_configuration_without_upstream_is_measured(tmp_path: Path) -> None:
    short = ("--runs", "1", "--milliseconds", "20", "--mix", "84")
    options = ("--config", config_without_upstream(tmp_path), *short)
    done = run_bench(*options, "--json", str(tmp_path / "bench.json"))
    assert done.status == 0, done.stderr
    assert "downstream" in done.stdout and "upstream," not in done.stdout
    done = run_bench(*options, "--direction", "upstream", "--json", str(tmp_path / "bench.json"))
    assert done.status == 2
    assert "no upstream channels" in done.stderr


def compare_with_rte_sched(tmp_path: Path) -> list[dict[str, Any]]:
    """Both schedulers at 50 % and 150 % of the channels' rate. Returns the results."""
    report = tmp_path / "bench.json"
    options = ["--case", "2ofdm-32sc-qam", "--load", "50", "--load", "150", "--runs", "3"]
    options += ["--milliseconds", "50", "--json", str(report)]
    done = run_bench(*options, what="scheduler")
    assert done.status == 0, done.stderr
    results = json.loads(report.read_text())["results"]
    assert [(r["case"], r["load"]) for r in results] == [(options[1], 50), (options[1], 150)]
    for result in results:
        assert (result["flows"], result["modems"], result["channels"]) == (2400, 300, 34)
        assert result["ratio"] == pytest.approx(
            result["cycles_per_packet"] / result["rte_sched"]["cycles_per_packet"]
        )
        for one in (result, *(result[key] for key in OTHER_SCHEDULERS)):
            assert one["runs"] == 3
            assert 0 < one["min"] <= one["cycles_per_packet"] <= one["max"]
            assert one["enqueue"] + one["dequeue"] == pytest.approx(one["cycles_per_packet"])
            assert 0 <= one["dropped"] < 1 and one["gbps"] > 0
        assert f"{result['ratio']:.2f}" in done.stdout
    stored: list[dict[str, Any]] = results
    return stored


def test_only_overload_of_schedulers_drops(tmp_path: Path) -> None:
    """tests/realtime/test_bench.py checks rates on an idle machine."""
    below, above = compare_with_rte_sched(tmp_path)
    assert below["dropped"] == 0 < above["dropped"]
