# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run`: vcmtsd and vcmts-traffic over memif, the summary, signals, options."""

import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import folder as folder  # for tests/realtime
from e2e.machine import all_proven, check_balance, ran_undisturbed, run_passed
from e2e.run.test_run import config_on_test_cores
from e2e.running import environment
from patience import TIMEOUT, until
from vcmts import cli
from vcmts.control import sockets
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT
from vcmts.run import refusals
from vcmts.telemetry import latency as telemetry_latency
from vcmts.witness.windows import read_windows

PROFILE = "2ofdm-0sc-qam_20cms_aes"
DIRECTIONS = {"downstream", "upstream"}
TOP_HINT = re.compile(r"^vcmts: `\S+ top --pid (\d+)`", re.MULTILINE)
RESULTS = (CHECKOUT / "docs" / "results.md").read_text()


def tool_command(*options: str) -> list[str]:
    return [sys.executable, "-m", "vcmts", *options]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def run_tool(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        tool_command(*options),
        env=environment(TMPDIR=str(folder)),
        capture_output=True,
        text=True,
        check=False,
    )


def run_args(folder: Path, *more: str, rate: str = "50Mbps") -> tuple[str, ...]:
    summary = str(folder / "summary.json")
    return ("run", "--profile", PROFILE, "--rate", rate, "--json", summary, *more)


def documented_keys() -> dict[str, set[str]]:
    """Keys of the summary by their heading in docs/results.md."""
    text = RESULTS.split("\n## Summary: ")[1].split("\n## ")[0]
    _, *parts = re.split("^### (.*)$", text, flags=re.MULTILINE)
    return {
        heading: {
            key
            for cell in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
            for key in re.findall("`([a-z_]+)`", cell)
        }
        for heading, table in zip(parts[::2], parts[1::2], strict=True)
    }


def check_keys(summary: dict[str, Any]) -> None:
    """Checks that the keys are those of docs/results.md."""
    keys = documented_keys()
    assert set(summary) - DIRECTIONS == keys["The rest"]
    for direction in DIRECTIONS & set(summary):
        assert set(summary[direction]) == keys["Both directions"] | keys[direction.capitalize()]


def check_direction(part: dict[str, Any], complete: bool) -> None:
    """Checks one direction. `complete`: every packet was proven, so none may be missing."""
    if complete:
        assert part["counters"]["transmitted"] == part["sent"]
        assert not refusals.other_drops(part)
    assert part["counters"]["transmitted"] >= part["proven"]
    assert part["balanced"] is True and part["held"] == 0
    assert set(part["latency_us"]) == {*telemetry_latency.KEYS, "histogram"}
    assert part["cycles_per_packet"]["total"] == pytest.approx(
        sum(part["cycles_per_packet"]["stages"].values()), abs=1
    )


def check_upstream(upstream: dict[str, Any], complete: bool) -> None:
    """Compares counters of modems and R-PHY device with those of vcmtsd."""
    for unit in ("packets", "bursts", "segments", "frames"):
        counts = upstream["units"][unit]
        assert counts["in"] == counts["out"] + counts["dropped"] + counts["held"] > 0
    if not complete:
        return
    dropped = {name: unit["dropped"] for name, unit in upstream["units"].items()}
    refused = refusals.refused(upstream).total()
    assert dropped["packets"] + dropped["frames"] == refused == sum(dropped.values())
    counters = upstream["counters"]
    assert counters["received"] == upstream["uepi_packets"]
    assert counters["psp_reordered"] == upstream["uepi_reordered"]
    assert counters["management"] == upstream["management"] > 0
    assert counters["requests_repeated"] == upstream["requests_sent"] > 0
    assert upstream["requests"]["by_kind"]["record"] == upstream["request_records"] > 0
    assert counters["requests"] == sum(upstream["requests"]["by_kind"].values())
    assert 0 < upstream["requests"]["modems"] <= 20


def check_summary(folder: Path, status: int, directions: set[str] = DIRECTIONS) -> dict[str, Any]:
    """Checks the summary and the exit status. Every packet must be proven if the machine ran
    undisturbed. Returns the summary."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    check_keys(summary)
    assert set(summary) & DIRECTIONS == directions
    check_balance(summary)
    complete = all_proven(summary)
    assert status == (0 if run_passed(summary) else 1)
    for direction in directions:
        check_direction(summary[direction], complete)
    if "downstream" in directions:
        downstream = summary["downstream"]
        received = downstream["sent"] + refusals.refused(downstream).total()
        assert downstream["counters"]["received"] == received or not complete
    if "upstream" in directions:
        check_upstream(summary["upstream"], complete)
    assert {"cpu", "tsc_hz", "core_hz"} <= summary["host"].keys()
    return summary


def last_line_pattern(summary: dict[str, Any]) -> str:
    """Pattern of the expected last line of the output."""
    parts = [summary[name] for name in DIRECTIONS if name in summary]
    proven, sent = (sum(part[key] for part in parts) for key in ("proven", "sent"))
    packets = f"{proven:,} of {sent:,} packets proven"
    if not run_passed(summary):
        return rf"FAIL: .+; {packets}$"
    return rf"PASS: {packets}, (.+ \(allowed\), )?0 lost$"


def leftover_files(folder: Path) -> list[Path]:
    kept = {"summary.json", "summary.json.witness.pcapng"}
    return [path for path in folder.iterdir() if path.name not in kept]


def check_witness(folder: Path, summary: dict[str, Any], min_packets: int) -> None:
    """Checks that the witness read packets of both directions, and that the file contains them."""
    windows = read_windows(folder / "summary.json.witness.pcapng")
    for direction in DIRECTIONS:
        result = summary[direction]["witness"]
        records = [window.records for window in windows if window.direction == direction]
        assert result["packets"] == sum(map(len, records)) >= min_packets
        assert result["frames"] > min_packets / 2
        assert (result["wrong"], result["problems"]) == (0, [])


def check_latencies(part: dict[str, Any]) -> None:
    """Checks that latencies of all proven packets, and of all transmitted ones, are recorded."""
    end_to_end, pipeline = part["latency_us"], part["pipeline_latency_us"]
    recorded = sum(packets for _, packets in end_to_end["histogram"])
    assert recorded + part.get("latency_unknown", 0) == part["proven"]
    assert sum(packets for _, packets in pipeline["histogram"]) == part["counters"]["transmitted"]
    for latency in (end_to_end, pipeline):
        quantiles = [latency[key] for key in telemetry_latency.KEYS[1:]]
        assert quantiles == sorted(quantiles)
        assert 0 < latency["mean"] <= latency["max"]


def check_pipeline_latencies(part: dict[str, Any]) -> None:
    """Checks that each percentile of the pipeline latency is at most that of the end-to-end
    latency, which the traffic program measures."""
    for key in telemetry_latency.KEYS:
        assert part["pipeline_latency_us"][key] <= 1.002 * part["latency_us"][key] + 1, key


@pytest.mark.run
def test_run_proves_every_packet(folder: Path) -> None:
    done = run_tool(folder, *run_args(folder, "--duration", "500ms", "--latency", "--verbose"))
    summary = check_summary(folder, done.returncode)
    check_witness(folder, summary, 20)
    for direction in DIRECTIONS:
        check_latencies(summary[direction])
        # otherwise gaps may delay the timestamps of the pipeline
        if all_proven(summary) and ran_undisturbed(summary):
            check_pipeline_latencies(summary[direction])
    assert re.search(r"in the pipeline p50 +\| +[\d,]+ us \| +[\d,]+ us", done.stdout)
    assert re.match(last_line_pattern(summary), done.stdout.splitlines()[-1])
    assert leftover_files(folder) == []
    downstream, upstream = summary["downstream"], summary["upstream"]
    assert upstream["asked_gbps"] == pytest.approx(0.15 * downstream["asked_gbps"])


@pytest.mark.parametrize(
    ("options", "direction", "read"),
    [
        (("--upstream-rate", "0", "--witness", "0"), "downstream", False),
        (("--rate", "0", "--upstream-rate", "10Mbps"), "upstream", True),
    ],
)
@pytest.mark.run
def test_one_direction(options: tuple[str, ...], direction: str, read: bool, folder: Path) -> None:
    """With --witness 0, the witness reads no packet and writes no file."""
    done = run_tool(folder, *run_args(folder, "--duration", "300ms", *options))
    summary = check_summary(folder, done.returncode, {direction})
    assert re.match(last_line_pattern(summary), done.stdout.splitlines()[-1])
    assert (summary[direction]["witness"]["packets"] > 0) is read
    assert ({path.name for path in folder.iterdir()} == {"summary.json"}) is not read


@pytest.mark.run
def test_run_without_upstream_channels(folder: Path) -> None:
    config = folder / "sg.yaml"
    config.write_text(config_on_test_cores("1ds1t"))
    options = ("run", "--config", str(config), "--rate", "5Mbps", "--duration", "300ms")
    done = run_tool(folder, *options, "--json", str(folder / "summary.json"))
    summary = check_summary(folder, done.returncode, {"downstream"})
    assert re.match(last_line_pattern(summary), done.stdout.splitlines()[-1])


def test_unreachable_rate_is_reported(folder: Path) -> None:
    rates = ("--rate", "0", "--upstream-rate", "1Tbps")
    done = run_tool(folder, *run_args(folder, "--duration", "100ms", *rates))
    assert json.loads((folder / "summary.json").read_text())["upstream"]["asked_gbps"] == 1000
    assert "did not carry the requested rate" in done.stderr
    assert re.search(r"^requested +1,000.00 Gbps$", done.stdout, re.MULTILINE)
    assert re.search(r"^FAIL: .*only \S+ .bps of 1,000.00 Gbps sent up", done.stdout, re.MULTILINE)
    assert done.returncode == 1


def has_all_traffic(client: Client) -> bool:
    """Whether every counter that check_summary() requires is positive."""
    [group] = client.call("counters.get")["groups"]
    up = group["upstream"]["counters"]
    kinds = ("transmitted", "management", "requests", "requests_repeated")
    return group["downstream"]["counters"]["transmitted"] > 0 and all(up[kind] for kind in kinds)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_with_the_summary(number: signal.Signals, folder: Path) -> None:
    """With --metrics, metrics are available during the run."""
    port = free_port()
    metrics_option = ("--metrics", f"127.0.0.1:{port}")
    arguments = tool_command(*run_args(folder, "--duration", "1h", *metrics_option))
    with subprocess.Popen(
        arguments,
        env=environment(TMPDIR=str(folder)),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        [pid] = next(match for line in process.stderr if (match := TOP_HINT.findall(line)))
        path = sockets.process_socket(int(pid))
        assert path is not None
        with Client(path, TIMEOUT) as client:
            until(lambda: has_all_traffic(client), "traffic of every kind")
        if number == signal.SIGINT:  # printed each second
            assert any("proven" in line for line in process.stderr)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT) as answer:
            assert answer.read().startswith(b"# HELP vcmts_")
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=TIMEOUT)
    summary = check_summary(folder, process.returncode)
    assert re.match(last_line_pattern(summary), stdout.splitlines()[-1])
    assert leftover_files(folder) == []


@pytest.mark.run
def test_bursts_are_proven(folder: Path) -> None:
    """Modems complete started segments at the end of each burst, before vcmtsd's timer expires."""
    rates = ("--upstream-share", "50%", "--shape", "bursts:on=20ms,off=180ms")
    done = run_tool(folder, *run_args(folder, *rates, "--duration", "1s", rate="20Mbps"))
    summary = check_summary(folder, done.returncode)
    if ran_undisturbed(summary):  # otherwise the time differs
        assert summary["downstream"]["asked_gbps"] == pytest.approx(0.002, rel=0.01)
        assert summary["upstream"]["asked_gbps"] == pytest.approx(0.001, rel=0.01)
    assert summary["downstream"]["sent_bytes"] * 8 <= 0.1 * 20e6 * 1.01 + 2 * 1280 * 8


def check_shared_ports(summary: dict[str, Any]) -> None:
    """Checks that shared ports drop the refused packets for ports, and no other packet."""
    shared = summary["shared_ports"]
    assert all(port["groups"] == 3 and port["balanced"] for port in shared)
    at_ports = sum((+Counter(port["drops"]) for port in shared), Counter[str]())
    refused = sum((refusals.refused(summary[name]) for name in DIRECTIONS), Counter[str]())
    assert at_ports == {name: n for name, n in refused.items() if name.startswith("port_")}


@pytest.mark.parametrize("ports", ["shared", "own"])
@pytest.mark.run
def test_each_group_is_proven(ports: str, folder: Path) -> None:
    """Counters of shared ports match the sum of groups."""
    options = ("--groups", "3", "--ports", ports, "--upstream-rate", "6Mbps", "--duration", "500ms")
    done = run_tool(folder, *run_args(folder, *options, rate="30Mbps"))
    summary = json.loads((folder / "summary.json").read_text())
    assert [group["id"] for group in summary["groups"]] == [1, 2, 3]
    for part in (summary, *summary["groups"]):
        check_balance(part | {"workers": summary["workers"]})
        assert part["downstream"]["balanced"] and part["upstream"]["balanced"]
    for direction in DIRECTIONS:
        for key in ("sent", "proven"):
            parts = [group[direction][key] for group in summary["groups"]]
            assert min(parts) > 0 and sum(parts) == summary[direction][key]
    expect_success = run_passed(summary) or all(map(all_proven, summary["groups"]))
    assert done.returncode == (0 if expect_success else 1), done.stderr
    assert len(summary["shared_ports"]) == (2 if ports == "shared" else 0)
    check_shared_ports(summary)


@pytest.mark.run
def test_overload_of_channels_is_reported(folder: Path) -> None:
    profile = run_tool(folder, "profile", "1ofdm-0sc-qam_4cms_aes")
    config = folder / "sg.yaml"
    config.write_text(profile.stdout.replace("rate: 1.89 Gbps", "rate: 100 Mbps"))
    options = ("run", "--config", str(config), "--rate", "400Mbps")
    for duration in ("1s", "8s", "60s"):  # slow machines need longer
        outputs = ("--duration", duration, "--json", str(folder / "summary.json"))
        done = run_tool(folder, *options, *outputs)
        if done.returncode != 0:
            break
    assert done.returncode == 1, done.stderr
    assert re.match(r"FAIL: .*[1-9]\d* lost", done.stdout.splitlines()[-1])
    assert "the channels carry 0.1 Gbps" in done.stderr
    downstream = json.loads((folder / "summary.json").read_text())["downstream"]
    dropped = downstream["drops"]["flow_buffer_full"] + downstream["drops"]["scheduler_full"]
    assert downstream["lost"] >= dropped > 0
    assert downstream["sent"] == downstream["proven"] + downstream["lost"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", "banana"), "--rate"),
        (("--duration", "0"), "--duration"),
        (("--traffic", "banana"), "banana"),
        (("--upstream-rate", "banana"), "--upstream-rate"),
        (("--upstream-share", "banana"), "--upstream-share: found banana, allowed: 0%"),
        (("--shape", "banana"), 'vcmts: --shape: found "banana", allowed: constant'),
        (("--shape", "day", "--rate", "max"), "vcmts: --shape: not allowed with --rate max"),
        (("--upstream-shape", "ramp:up"), 'vcmts: --upstream-shape: found "up", allowed: ramp'),
        (("--upstream-rate", "-5Mbps"), "--upstream-rate: found -5Mbps"),
        (("--traffic", "9"), 'vcmts: --traffic: found "9", allowed'),
        (("--upstream-traffic", "banana"), 'vcmts: --upstream-traffic: found "banana", allowed'),
        (
            ("--impair", "nonsense"),
            'vcmts: --impair: unknown impairment "nonsense"; allowed: psp-loss',
        ),
        (("--rate", "0", "--upstream-rate", "0"), "--rate"),
        (("--core", "4096"), "--core"),
        (("--witness", "-1"), "--witness: found -1, allowed: 0 to 100000"),
        (("--json", "/nonexistent/summary.json"), "/nonexistent/summary.json"),
        (("--config", "/nonexistent/sg.yaml"), "/nonexistent/sg.yaml"),
    ],
)
def test_invalid_options_start_nothing(
    options: tuple[str, ...],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    profile = () if "--config" in options else ("--profile", PROFILE)
    assert cli.main(["run", *profile, *options]) == 2
    output, error = capfd.readouterr()
    assert message in error
    assert output == "" and "serving" not in error
    assert "vcmts-traffic" not in error
    assert leftover_files(folder) == []
