# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run`: two processes over memif, one summary; mistakes and signals."""

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

from e2e.conftest import folder as folder  # tests/realtime has it from here
from e2e.machine import check_accounts, kept_up, passed, proven
from e2e.run.test_run import on_these_cores
from e2e.running import environment
from patience import TIMEOUT, until
from vcmts import cli
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT
from vcmts.run import refusals
from vcmts.telemetry import latency as telemetry_latency
from vcmts.witness.windows import read_windows

PROFILE = "2ofdm-0sc-qam_20cms_aes"
DIRECTIONS = {"downstream", "upstream"}
SOCKET = re.compile(r"^vcmtsd: control socket (\S+)$", re.MULTILINE)
RESULTS = (CHECKOUT / "docs" / "results.md").read_text()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "vcmts", *words]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def tool(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words),
        env=environment(TMPDIR=str(folder)),
        capture_output=True,
        text=True,
        check=False,
    )


def run_words(folder: Path, *more: str, rate: str = "50Mbps") -> tuple[str, ...]:
    summary = str(folder / "summary.json")
    return ("run", "--profile", PROFILE, "--rate", rate, "--json", summary, *more)


def documented() -> dict[str, set[str]]:
    """Keys by the heading that docs/results.md tells them under."""
    text = RESULTS.split("\n## Summary: ")[1].split("\n## ")[0]
    _, *parts = re.split("^### (.*)$", text, flags=re.MULTILINE)
    return {
        heading: {
            key
            for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
            for key in re.findall("`([a-z_]+)`", row)
        }
        for heading, table in zip(parts[::2], parts[1::2], strict=True)
    }


def check_keys(summary: dict[str, Any]) -> None:
    """What is documented is there, and the other way round."""
    keys = documented()
    assert set(summary) - DIRECTIONS == keys["The rest"]
    for direction in DIRECTIONS & set(summary):
        assert set(summary[direction]) == keys["Both directions"] | keys[direction.capitalize()]


def check_direction(part: dict[str, Any], whole: bool) -> None:
    """Where the `whole` was proven, nothing is missing anywhere on its way."""
    if whole:
        assert part["counters"]["transmitted"] == part["sent"]
        assert not refusals.accidental(part)
    assert part["counters"]["transmitted"] >= part["proven"]
    assert part["balanced"] is True and part["held"] == 0
    assert set(part["latency_us"]) == {*telemetry_latency.KEYS, "histogram"}
    assert part["cycles_per_packet"]["total"] == pytest.approx(
        sum(part["cycles_per_packet"]["stages"].values()), abs=1
    )


def check_upstream(up: dict[str, Any], whole: bool) -> None:
    """What the modems and the R-PHY device sent is what vcmtsd counted."""
    for unit in ("packets", "bursts", "segments", "frames"):
        there = up["units"][unit]
        assert there["in"] == there["out"] + there["dropped"] + there["held"] > 0
    if not whole:
        return
    dropped = {name: unit["dropped"] for name, unit in up["units"].items()}
    refused = refusals.refused(up).total()
    assert dropped["packets"] + dropped["frames"] == refused == sum(dropped.values())
    counters = up["counters"]
    assert counters["received"] == up["uepi_packets"]
    assert counters["psp_reordered"] == up["uepi_reordered"]
    assert counters["management"] == up["management"] > 0
    assert counters["requests_repeated"] == up["requests_sent"] > 0
    assert up["requests"]["by_kind"]["record"] == up["request_records"] > 0
    assert counters["requests"] == sum(up["requests"]["by_kind"].values())
    assert 0 < up["requests"]["modems"] <= 20


def check_summary(folder: Path, status: int, directions: set[str] = DIRECTIONS) -> dict[str, Any]:
    """The exit status says whether every packet was proven, which it was if the machine ran both
    programs all the time."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    check_keys(summary)
    assert set(summary) & DIRECTIONS == directions
    check_accounts(summary)
    whole = proven(summary)
    assert status == (0 if passed(summary) else 1)
    for direction in directions:
        check_direction(summary[direction], whole)
    if "downstream" in directions:
        down = summary["downstream"]
        received = down["sent"] + refusals.refused(down).total()
        assert down["counters"]["received"] == received or not whole
    if "upstream" in directions:
        check_upstream(summary["upstream"], whole)
    assert {"cpu", "tsc_hz", "core_hz"} <= summary["host"].keys()
    return summary


def verdict(summary: dict[str, Any]) -> str:
    """The last line, without its rates and seconds."""
    told = [
        f"{summary[name]['proven']:,} of {summary[name]['sent']:,} {name} at"
        for name in ("downstream", "upstream")
        if name in summary
    ]
    if not proven(summary):
        return "NOT every packet proven: "
    return r"every packet proven: " + r" [\d.]+ Gbps, ".join(told) + r" [\d.]+ Gbps, 0 lost, in"


def left_over(folder: Path) -> list[Path]:
    kept = {"summary.json", "summary.json.witness.pcapng"}
    return [path for path in folder.iterdir() if path.name not in kept]


def check_witness(folder: Path, summary: dict[str, Any], fewest: int) -> None:
    """Packets of both directions were read, and are in the file that is kept."""
    windows = read_windows(folder / "summary.json.witness.pcapng")
    for direction in DIRECTIONS:
        found = summary[direction]["witness"]
        records = [one.records for one in windows if one.direction == direction]
        assert found["packets"] == sum(map(len, records)) >= fewest
        assert found["frames"] > fewest / 2
        assert (found["wrong"], found["problems"]) == (0, [])


def check_latencies(part: dict[str, Any]) -> None:
    """Every packet that came was recorded by the traffic, every one that left by the pipeline."""
    whole, inside = part["latency_us"], part["pipeline_latency_us"]
    recorded = sum(packets for _, packets in whole["histogram"])
    assert recorded + part.get("latency_unknown", 0) == part["proven"]
    assert sum(packets for _, packets in inside["histogram"]) == part["counters"]["transmitted"]
    for latency in (whole, inside):
        quantiles = [latency[key] for key in telemetry_latency.KEYS[1:]]
        assert quantiles == sorted(quantiles)
        assert 0 < latency["mean"] <= latency["max"]


def check_less_inside(part: dict[str, Any]) -> None:
    """No packet was in the pipeline for longer than it was under way, which the traffic measures by
    itself: so no percentile is above."""
    for key in telemetry_latency.KEYS:
        assert part["pipeline_latency_us"][key] <= 1.002 * part["latency_us"][key] + 1, key


@pytest.mark.run
def test_every_packet_is_proven(folder: Path) -> None:
    done = tool(folder, *run_words(folder, "--duration", "500ms", "--latency", "--verbose"))
    summary = check_summary(folder, done.returncode)
    check_witness(folder, summary, 20)
    for direction in DIRECTIONS:
        check_latencies(summary[direction])
        # of the same packets; the pipeline's clock is read behind the port: it may be away before
        if proven(summary) and kept_up(summary):
            check_less_inside(summary[direction])
    assert re.search(r"in the pipeline p50 +│ +[\d,]+ us │ +[\d,]+ us", done.stdout)
    assert re.match(verdict(summary), done.stdout.splitlines()[-1])
    assert left_over(folder) == []
    down, up = summary["downstream"], summary["upstream"]
    assert up["asked_gbps"] == pytest.approx(0.15 * down["asked_gbps"])


@pytest.mark.parametrize(
    ("words", "direction", "read"),
    [
        (("--upstream-rate", "0", "--witness", "0"), "downstream", False),
        (("--rate", "0", "--upstream-rate", "10Mbps"), "upstream", True),
    ],
)
@pytest.mark.run
def test_one_direction(words: tuple[str, ...], direction: str, read: bool, folder: Path) -> None:
    """No packet is read where none is asked for, and no file of them is kept."""
    done = tool(folder, *run_words(folder, "--duration", "300ms", *words))
    summary = check_summary(folder, done.returncode, {direction})
    assert re.match(verdict(summary), done.stdout.splitlines()[-1])
    assert (summary[direction]["witness"]["packets"] > 0) is read
    assert ({path.name for path in folder.iterdir()} == {"summary.json"}) is not read


@pytest.mark.run
def test_without_an_upstream(folder: Path) -> None:
    """A configuration that has no upstream channels carries the downstream, without being asked."""
    config = folder / "sg.yaml"
    config.write_text(on_these_cores("1ds1t"))
    words = ("run", "--config", str(config), "--rate", "5Mbps", "--duration", "300ms")
    done = tool(folder, *words, "--json", str(folder / "summary.json"))
    summary = check_summary(folder, done.returncode, {"downstream"})
    assert re.match(verdict(summary), done.stdout.splitlines()[-1])


def test_a_rate_that_the_machine_does_not_carry(folder: Path) -> None:
    rates = ("--rate", "0", "--upstream-rate", "1Tbps")
    done = tool(folder, *run_words(folder, "--duration", "100ms", *rates))
    assert json.loads((folder / "summary.json").read_text())["upstream"]["asked_gbps"] == 1000
    assert "did not carry the rate asked for" in done.stderr
    assert "bps of 1000.00 Gbps asked for" in done.stdout


def carries(client: Client) -> bool:
    """Of all that check_summary looks for there is something."""
    [group] = client.call("counters.get")["groups"]
    up = group["upstream"]["counters"]
    kinds = ("transmitted", "management", "requests", "requests_repeated")
    return group["downstream"]["counters"]["transmitted"] > 0 and all(up[kind] for kind in kinds)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_with_the_summary(number: signal.Signals, folder: Path) -> None:
    """And it tells its metrics meanwhile, where it is asked to."""
    port = free_port()
    told = ("--metrics", f"127.0.0.1:{port}")
    words = command(*run_words(folder, "--duration", "1h", *told))
    with subprocess.Popen(
        words,
        env=environment(TMPDIR=str(folder)),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        [place] = next(found for line in process.stderr if (found := SOCKET.findall(line)))
        with Client(Path(place), TIMEOUT) as client:
            until(lambda: carries(client), "traffic of every kind")
        if number == signal.SIGINT:  # told each second, to whoever waits for so long
            assert any("proven" in line for line in process.stderr)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT) as answer:
            assert answer.read().startswith(b"# HELP vcmts_")
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=TIMEOUT)
    summary = check_summary(folder, process.returncode)
    assert re.match(verdict(summary), stdout.splitlines()[-1])
    assert left_over(folder) == []


@pytest.mark.run
def test_bursts_of_both_directions_are_proven(folder: Path) -> None:
    """What modems have begun when a burst ends is complete before vcmtsd gives it up."""
    rates = ("--upstream-share", "50%", "--shape", "bursts:on=20ms,off=180ms")
    done = tool(folder, *run_words(folder, *rates, "--duration", "1s", rate="20Mbps"))
    summary = check_summary(folder, done.returncode)
    if kept_up(summary):  # it is that of the time that passed
        assert summary["downstream"]["asked_gbps"] == pytest.approx(0.002, rel=0.01)
        assert summary["upstream"]["asked_gbps"] == pytest.approx(0.001, rel=0.01)
    assert summary["downstream"]["sent_bytes"] * 8 <= 0.1 * 20e6 * 1.01 + 2 * 1280 * 8


def check_shared_ports(summary: dict[str, Any]) -> None:
    """They drop what has to be dropped there, and nothing else."""
    shared = summary["shared_ports"]
    assert all(port["groups"] == 3 and port["balanced"] for port in shared)
    at_ports = sum((+Counter(port["drops"]) for port in shared), Counter[str]())
    refused = sum((refusals.refused(summary[way]) for way in DIRECTIONS), Counter[str]())
    assert at_ports == {name: n for name, n in refused.items() if name.startswith("port_")}


@pytest.mark.parametrize("ports", ["shared", "own"])
@pytest.mark.run
def test_several_groups(ports: str, folder: Path) -> None:
    """Each is proven by itself; what their ports counted is what came."""
    words = ("--groups", "3", "--ports", ports, "--upstream-rate", "6Mbps", "--duration", "500ms")
    done = tool(folder, *run_words(folder, *words, rate="30Mbps"))
    summary = json.loads((folder / "summary.json").read_text())
    assert [group["id"] for group in summary["groups"]] == [1, 2, 3]
    for part in (summary, *summary["groups"]):
        check_accounts(part | {"workers": summary["workers"]})
        assert part["downstream"]["balanced"] and part["upstream"]["balanced"]
    for way in DIRECTIONS:
        for key in ("sent", "proven"):
            parts = [group[way][key] for group in summary["groups"]]
            assert min(parts) > 0 and sum(parts) == summary[way][key]
    good = passed(summary) or all(map(proven, summary["groups"]))
    assert done.returncode == (0 if good else 1), done.stderr
    assert len(summary["shared_ports"]) == (2 if ports == "shared" else 0)
    check_shared_ports(summary)


@pytest.mark.run
def test_more_than_the_channels_carry_is_lost_and_said(folder: Path) -> None:
    written = tool(folder, "profile", "1ofdm-0sc-qam_4cms_aes")
    config = folder / "sg.yaml"
    config.write_text(written.stdout.replace("rate: 1.89 Gbps", "rate: 100 Mbps"))
    words = ("run", "--config", str(config), "--rate", "400Mbps")
    for duration in ("1s", "8s", "60s"):  # a slow machine sends less than that
        stored = ("--duration", duration, "--json", str(folder / "summary.json"))
        done = tool(folder, *words, *stored)
        if done.returncode != 0:
            break
    assert done.returncode == 1, done.stderr
    assert "NOT every packet proven" in done.stdout
    assert "the channels carry 0.1 Gbps" in done.stderr
    down = json.loads((folder / "summary.json").read_text())["downstream"]
    dropped = down["drops"]["flow_buffer_full"] + down["drops"]["scheduler_full"]
    assert down["lost"] >= dropped > 0
    assert down["sent"] == down["proven"] + down["lost"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rate", "banana"), "--rate"),
        (("--duration", "0"), "--duration"),
        (("--traffic", "banana"), "banana"),
        (("--upstream-rate", "banana"), "--upstream-rate"),
        (("--upstream-share", "banana"), "--upstream-share: found banana, allowed: 0%"),
        (("--shape", "banana"), 'vcmts: --shape: found "banana", allowed: constant'),
        (("--shape", "day", "--rate", "max"), "vcmts: --shape: found --rate max"),
        (("--upstream-shape", "ramp:up"), 'vcmts: --upstream-shape: found "up", allowed: ramp'),
        (("--upstream-rate", "-5Mbps"), "--upstream-rate: found -5Mbps"),
        (("--traffic", "9"), "vcmts: --traffic: 9: allowed"),
        (("--upstream-traffic", "banana"), "vcmts: --upstream-traffic: banana: allowed"),
        (("--impair", "nonsense"), 'vcmts: --impair: found "nonsense", allowed: psp-loss'),
        (("--rate", "0", "--upstream-rate", "0"), "--rate"),
        (("--core", "4096"), "--core"),
        (("--witness", "-1"), "--witness: found -1, allowed: 0 to 100000"),
        (("--json", "/nonexistent/summary.json"), "/nonexistent/summary.json"),
        (("--config", "/nonexistent/sg.yaml"), "/nonexistent/sg.yaml"),
    ],
)
def test_mistakes_start_nothing(
    words: tuple[str, ...],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    small = () if "--config" in words else ("--profile", PROFILE)
    assert cli.main(["run", *small, *words]) == 2
    said, error = capfd.readouterr()
    assert message in error
    assert said == "" and "serving" not in error
    assert "vcmts-traffic" not in error
    assert left_over(folder) == []
