# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench`: both directions are measured, proven, printed and stored; and the scheduler."""

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

from e2e.running import Ended, environment, vcmts
from vcmts import paths, results, yamls
from vcmts.profile import group as profile

PROFILE = "2ofdm-0sc-qam_20cms_aes"
OTHERS = ("rte_sched", "rte_sched_turns", "priorities")
STAGES = {
    "downstream": {"receive", "classify", "encrypt_collect", "depi", "transmit"},
    "upstream": {"receive", "uepi", "extract", "decrypt_collect", "transmit", "requests"},
}


def bench(*words: str, what: str = "pipeline") -> Ended:
    return vcmts("bench", what, *words)


def profile_of(name: str) -> str:
    out = io.StringIO()
    profile.write_profile(name, out)
    return out.getvalue()


def measured(report: Path, *words: str, runs: int = 3) -> tuple[str, list[dict[str, Any]]]:
    how = ("--runs", str(runs), "--milliseconds", "20", "--json", str(report))
    done = bench("--profile", PROFILE, *how, *words)
    assert done.status == 0, done.stderr
    return done.stdout, json.loads(report.read_text())["results"]


def test_bench_stores_what_it_prints(tmp_path: Path) -> None:
    printed, results = measured(tmp_path / "bench.json", "--mix", "imix", "--mix", "64")
    keys = [(result["direction"], result["mix"]) for result in results]
    assert keys == [(way, mix) for way in STAGES for mix in ("imix", "64")]
    for result in results:
        assert f"{result['direction']}, {PROFILE}" in printed
        assert STAGES[result["direction"]] < result["stages"].keys()
        assert "cycles_latency" in result  # a difference of two runs: a busy machine's is any
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
def test_one_direction_with_its_own_mixes(direction: str, mixes: list[str], tmp_path: Path) -> None:
    printed, results = measured(tmp_path / "bench.json", "--direction", direction, runs=1)
    assert [result["mix"] for result in results] == mixes
    assert {result["direction"] for result in results} == {direction}
    assert printed.count("share of crypto bound") == 1
    assert results[-1]["stages"]["requests" if direction == "upstream" else "classify"] > 0


TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two cores are needed, found one"
)


@TWO_CORES
def test_two_threads_at_the_same_time(tmp_path: Path) -> None:
    """Every packet is proven here as well, and the slower list says what both carry."""
    report = tmp_path / "bench.json"
    printed, results = measured(report, "--threads", "both", "--mix", "imix", "--mix", "84", runs=1)
    ways = [(result["direction"], result["threads"], result["mix"]) for result in results]
    expected = [("downstream", 1), ("upstream", 1), ("downstream", 2)]
    assert ways == [(*way, mix) for way in expected for mix in ("imix", "84")]
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


def test_two_threads_on_one_core(tmp_path: Path) -> None:
    """One line by the tool, and by the program where it is called alone."""
    core = {min(os.sched_getaffinity(0))}
    config = tmp_path / "sg.yaml"
    config.write_text(profile_of("1ofdm-0sc-qam_4cms_aes"), encoding="utf-8")
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
        assert "found 1 core" in done.stderr and done.stderr.count("\n") == 1


def test_memory_and_start(tmp_path: Path) -> None:
    """Memory is what the service group asked for: it grows with the modems, and pools hardly do."""
    found = {}
    for modems in (20, 120):
        path = tmp_path / f"{modems}.json"
        words = ("--mix", "84", "--direction", "downstream", "--runs", "1")
        name = f"2ofdm-0sc-qam_{modems}cms_aes"
        short = ("--milliseconds", "10", "--json", str(path))
        assert bench("--profile", name, *words, *short).status == 0
        found[modems] = json.loads(path.read_text())
    few, many = (found[modems]["memory"] for modems in (20, 120))
    for memory, modems in ((few, 20), (many, 120)):
        assert memory["total"] == sum(memory[key] for key in ("configuration", "pools", "tables"))
        own = memory["configuration"] + memory["tables"]
        assert memory["per_modem"] == pytest.approx(own / modems)
    for key in ("configuration", "tables"):
        assert many[key] - few[key] > 100 * 1000, key
    assert many["pools"] == pytest.approx(few["pools"], rel=0.02)
    start = found[120]["start"]
    parts = [start[key] for key in ("load", "pools", "sessions", "tables")]
    assert all(part > 0 for part in parts) and start["total"] == pytest.approx(sum(parts))


def test_an_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    words = ["--profile", PROFILE, "--mix", "84", "--runs", "99", "--milliseconds", "500"]
    with subprocess.Popen(
        [sys.executable, "-m", "vcmts", "bench", "pipeline", *words, "--json", str(report)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as bench:
        assert bench.stderr is not None
        lines = iter(bench.stderr)
        told = (line for line in lines if line.startswith("bench pipeline, 1 thread: "))
        assert any("left, downstream, 84: run " in line for line in told)
        bench.send_signal(signal.SIGINT)
        said = list(lines)
        assert bench.wait() == 130
    assert said[-1] == f"vcmts: interrupted: what was measured is in {report}\n"
    stored = json.loads(report.read_text())
    assert stored["complete"] is False
    (result,) = stored["results"]
    assert 1 <= result["runs"] < 99
    assert result["min"] <= result["cycles_per_packet"] <= result["max"]


def test_what_is_stored(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    measured(report, "--direction", "downstream", "--mix", "84", "--mix", "1024", runs=1)
    stored = results.read(report)
    assert (stored["kind"], stored["complete"]) == ("pipeline", True)
    assert stored["command"][:3] == ["./vcmts", "bench", "pipeline"]
    assert stored["configuration"] == PROFILE
    two = {r["mix"]: r["cycles_per_packet"] for r in stored["results"]}
    line = next(one for one in stored["fits"] if one["stage"] == "all")
    assert line["fixed"] + line["per_byte"] * 84 == pytest.approx(two["84"])
    assert line["fixed"] + line["per_byte"] * 1024 == pytest.approx(two["1024"])
    assert line["r2"] == pytest.approx(1) and line["points"] == 2


def test_cost_against_classifiers(tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    words = ["--profile", PROFILE, "--what", "classifiers", "--runs", "1", "--milliseconds", "20"]
    done = bench(*words, "--json", str(report), what="cost")
    assert done.status == 0, done.stderr
    stored = results.read(report)
    assert (stored["kind"], stored["complete"]) == ("cost", True)
    keys = [(one["what"], one["value"], one["direction"]) for one in stored["results"]]
    assert keys == [("classifiers", n, way) for n in (4, 16, 64) for way in STAGES]
    memory = [one["memory_bytes"] for one in stored["results"][::2]]
    assert memory == sorted(set(memory))
    assert all(one["start_seconds"] > 0 for one in stored["results"])
    assert "classifiers of a modem: reference cycles per packet" in done.stdout


def without_upstream(folder: Path) -> str:
    group = yamls.safe_load(profile_of("1ofdm-0sc-qam_4cms_aes"))
    del group["upstream"], group["upstream_channels"]
    for modem in group["modems"]:
        del modem["upstream_service_flows"]
    config = folder / "sg.yaml"
    config.write_text(yaml.safe_dump(group), encoding="utf-8")
    return str(config)


def test_without_an_upstream(tmp_path: Path) -> None:
    short = ("--runs", "1", "--milliseconds", "20", "--mix", "84")
    words = ("--config", without_upstream(tmp_path), *short)
    done = bench(*words, "--json", str(tmp_path / "bench.json"))
    assert done.status == 0, done.stderr
    assert "downstream" in done.stdout and "upstream," not in done.stdout
    done = bench(*words, "--direction", "upstream", "--json", str(tmp_path / "bench.json"))
    assert done.status == 2
    assert "no upstream channels" in done.stderr


def beside_rte_sched(tmp_path: Path) -> list[dict[str, Any]]:
    """Both schedulers at half and at more than what the channels carry."""
    report = tmp_path / "bench.json"
    words = ["--case", "2ofdm-32sc-qam", "--load", "50", "--load", "150", "--runs", "3"]
    words += ["--milliseconds", "50", "--json", str(report)]
    done = bench(*words, what="scheduler")
    assert done.status == 0, done.stderr
    results = json.loads(report.read_text())["results"]
    assert [(r["case"], r["load"]) for r in results] == [(words[1], 50), (words[1], 150)]
    for result in results:
        assert (result["flows"], result["modems"], result["channels"]) == (2400, 300, 34)
        assert result["ratio"] == pytest.approx(
            result["cycles_per_packet"] / result["rte_sched"]["cycles_per_packet"]
        )
        for one in (result, *(result[key] for key in OTHERS)):
            assert one["runs"] == 3
            assert 0 < one["min"] <= one["cycles_per_packet"] <= one["max"]
            assert one["enqueue"] + one["dequeue"] == pytest.approx(one["cycles_per_packet"])
            assert 0 <= one["dropped"] < 1 and one["gbps"] > 0
        assert f"{result['ratio']:.2f}" in done.stdout
    found: list[dict[str, Any]] = results
    return found


def test_the_scheduler_beside_rte_sched(tmp_path: Path) -> None:
    """What each of them carries is looked at on a quiet machine: tests/realtime/test_bench.py."""
    below, above = beside_rte_sched(tmp_path)
    assert below["dropped"] == 0 < above["dropped"]
