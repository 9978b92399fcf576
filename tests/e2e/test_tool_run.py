# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` and `vcmts bench`: two processes over memif, one summary; mistakes and signals."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
SUMMARY_KEYS = {
    "sent", "proven", "lost", "duplicated", "reordered", "corrupted", "gbps", "seconds",
    "latency_us", "cycles_per_packet", "drops", "counters", "balanced",
}  # fmt: skip


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "vcmts", *words]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(CHECKOUT / "tools"), "TMPDIR": str(folder)}


@pytest.fixture
def folder() -> Path:
    """Short, as sockets live there."""
    return Path(tempfile.mkdtemp(prefix="e2e-"))


def tool(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), env=environment(folder), capture_output=True, text=True, check=False
    )


def run_words(folder: Path, *more: str, rate: str = "50Mbps") -> tuple[str, ...]:
    summary = str(folder / "summary.json")
    return ("run", "--profile", PROFILE, "--rate", rate, "--json", summary, *more)


def check_summary(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    down = summary["downstream"]
    assert down.keys() >= SUMMARY_KEYS
    assert down["sent"] == down["proven"] > 0
    assert down["lost"] == down["corrupted"] == down["duplicated"] == down["reordered"] == 0
    assert down["counters"]["received"] == down["counters"]["transmitted"] == down["sent"]
    assert down["balanced"] is True
    assert set(down["latency_us"]) >= {"mean", "p50", "p99", "p99_9", "max"}
    assert down["cycles_per_packet"]["total"] == pytest.approx(
        sum(down["cycles_per_packet"]["stages"].values()), abs=1
    )
    assert {"cpu", "tsc_hz", "core_hz"} <= summary["host"].keys()


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != "summary.json"]


def test_every_packet_is_proven(folder: Path) -> None:
    done = tool(folder, *run_words(folder, "--duration", "1s"))
    assert done.returncode == 0, done.stderr
    assert "every packet proven" in done.stdout
    check_summary(folder)
    assert left_over(folder) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_with_the_summary(number: signal.Signals, folder: Path) -> None:
    words = command(*run_words(folder, "--duration", "60s"))
    with subprocess.Popen(
        words, env=environment(folder), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:  # until traffic has run for a second
            if "proven" in line:
                break
        start = time.monotonic()
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=30)
    assert time.monotonic() - start < 20
    assert process.returncode == 0
    assert "every packet proven" in stdout
    check_summary(folder)
    assert left_over(folder) == []


def test_more_than_the_channels_carry_is_lost_and_said(folder: Path) -> None:
    written = tool(folder, "profile", "1ofdm-0sc-qam_4cms_aes")
    config = folder / "sg.yaml"
    config.write_text(written.stdout.replace("rate: 1.89 Gbps", "rate: 100 Mbps"))
    words = ("run", "--config", str(config), "--rate", "400Mbps", "--duration", "2s")
    done = tool(folder, *words, "--json", str(folder / "summary.json"))
    assert done.returncode == 1, done.stderr
    assert "NOT every packet proven" in done.stdout
    assert "the channels carry 0.1 Gbps" in done.stderr
    down = json.loads((folder / "summary.json").read_text())["downstream"]
    dropped = down["drops"]["flow_buffer_full"] + down["drops"]["scheduler_full"]
    assert down["lost"] == dropped > 0
    assert down["sent"] == down["proven"] + down["lost"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rate", "banana"), "--rate"),
        (("--duration", "0"), "--duration"),
        (("--traffic", "banana"), "banana"),
        (("--core", "4096"), "--core"),
        (("--json", "/nonexistent/summary.json"), "/nonexistent/summary.json"),
        (("--config", "/nonexistent/sg.yaml"), "/nonexistent/sg.yaml"),
    ],
)
def test_mistakes_start_nothing(words: tuple[str, str], message: str, folder: Path) -> None:
    done = tool(folder, "run", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == "" and "serving" not in done.stderr
    assert left_over(folder) == []


def test_bench_stores_what_it_prints(folder: Path) -> None:
    report = folder / "bench.json"
    words = ("--mix", "imix", "--mix", "64", "--runs", "3", "--milliseconds", "50")
    done = tool(folder, "bench", "pipeline", "--profile", PROFILE, *words, "--json", str(report))
    assert done.returncode == 0, done.stderr
    results = json.loads(report.read_text())["results"]
    assert [result["mix"] for result in results] == ["imix", "64"]
    for result in results:
        assert result["direction"] == "downstream" and result["runs"] == 3
        assert result["min"] <= result["cycles_per_packet"] <= result["max"]
        assert sum(result["stages"].values()) == pytest.approx(result["cycles_per_packet"])
        assert 0 < result["share_of_crypto_bound"] < 1
        assert f"{result['share_of_crypto_bound']:.2f}" in done.stdout
    assert results[0]["mean_bytes"] == pytest.approx(998.2, rel=0.01)
