# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts simulate`, downstream: DOCSIS-PIE keeps its latency target and uses the rate."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from vcmts import cli
from vcmts.simulate import scenarios
from vcmts.simulate.command import simulate
from vcmts.simulate.running import Result

TARGET_MS = scenarios.TARGET * 1000  # ms
PACKET_MS_AT_1_MBPS = 8 * 1518 / 1000  # at 1 Mbps


def shorter(scenario: scenarios.Scenario, duration: float, warmup: float) -> scenarios.Scenario:
    return scenario | {"duration": duration, "warmup": warmup}


def first_flow(result: Result) -> dict[str, Any]:
    """The results of the first service flow."""
    flow: dict[str, Any] = result["service_flows"][0]
    return flow


def delays(result: Result) -> dict[str, float]:
    """The delays of the first service flow, ms."""
    delay: dict[str, float] = first_flow(result)["delay_ms"]
    return delay


@pytest.mark.parametrize(("rate", "count"), [(5, 5), (50, 50), (100, 5), (100, 50)])
def test_pie_keeps_latency_target(rate: int, count: int) -> None:
    """Tolerance: 3 packets more. At 5 Mbps, one takes 25 % of the target."""
    result = simulate(shorter(scenarios.matrix(rate, count, "docsis-pie"), 30, 12))
    allowed = 1.3 * TARGET_MS + 3 * PACKET_MS_AT_1_MBPS / rate
    assert 0.7 * TARGET_MS < delays(result)["mean"] < allowed
    assert 0.7 * TARGET_MS < delays(result)["median"] < allowed
    assert delays(result)["p99"] < 4 * TARGET_MS
    assert first_flow(result)["utilisation"] > 0.99
    assert first_flow(result)["drops"]["docsis_pie"] > 0
    assert first_flow(result)["drops"]["flow_full"] == 0


@pytest.mark.parametrize(("name", "share"), [("light", 0.35), ("heavy", 0.2), ("cubic", 0.15)])
def test_pie_delay_is_below_tail_drop(name: str, share: float) -> None:
    """`share`: limit of PIE's mean delay, of that of tail drop. It is higher for few senders: they
    empty the queue, and then PIE permits a burst of 142 ms."""
    case = scenarios.CASES[name].scenario
    pie, tail = (simulate(shorter(case(a), 40, 12)) for a in ("docsis-pie", "tail-drop"))
    assert delays(pie)["mean"] < share * delays(tail)["mean"]
    assert first_flow(pie)["utilisation"] > 0.94  # 5 Reno senders empty the queue at times
    assert first_flow(tail)["drops"]["docsis_pie"] == 0
    assert first_flow(tail)["drops"]["flow_full"] > 0


def test_target_is_reached_after_rate_change() -> None:
    """Delays return to the target within 10 s, and the rate is used within 2 s."""
    result = simulate(scenarios.rate_change("docsis-pie"))
    series = result["series"][0]

    def between(start: float, end: float, key: str) -> list[float]:
        first, last = (round(t / series["interval"]) for t in (start, end))
        return [value for value in series[key][first:last] if value is not None]

    for start, end, rate in ((10, 30, 100), (40, 60, 20), (70, 90, 100)):
        assert mean(between(start, end, "delay_ms")) == pytest.approx(TARGET_MS, rel=0.3)
        assert mean(between(start, end, "mbps")) == pytest.approx(rate, rel=0.01)
    assert mean(between(62, 64, "mbps")) == pytest.approx(100, rel=0.02)
    quiet, loaded = (mean(between(*when, "drop_probability")) for when in ((10, 30), (40, 60)))
    assert loaded > 5 * quiet  # 1/5 of the window requires some 25 times the losses


def test_same_seed_gives_same_result() -> None:
    scenario = shorter(scenarios.light("docsis-pie"), 10, 2)
    assert simulate(scenario) == simulate(scenario)
    assert simulate(scenario | {"seed": 2}) != simulate(scenario)


def test_markdown_and_json_are_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "all.json"
    arguments = ["simulate", "ns3-example", "--aqm", "wred", "--json", str(stored), "--markdown"]
    assert cli.main(arguments) == 0
    head, _, row = capfd.readouterr().out.splitlines()
    assert head.startswith("| scenario | drops by | mean |")
    (result,) = json.loads(stored.read_text())["scenarios"].values()
    assert row.startswith(f"| ns3-example | wred | {delays(result)['mean']:.1f} |")


def test_scenario_file_is_simulated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A scenario file with two service flows of different priority on a channel of 20 Mbps."""
    path = tmp_path / "mine.json"
    flows = [{"priority": 1, "sustained_rate": 5e6}, {"priority": 0, "aqm": "wred"}]
    senders = [{"service_flow": 0}, {"service_flow": 1, "kind": "reno", "count": 3}]
    scenario = {"channels": [{"rate": 20e6}], "service_flows": flows, "senders": senders}
    path.write_text(json.dumps(scenario | {"duration": 10, "warmup": 3}))
    assert cli.main(["simulate", str(path), "--markdown"]) == 0
    first, second = capfd.readouterr().out.splitlines()[2:]
    assert first.startswith("| mine.json 0 | docsis-pie |")
    assert second.startswith("| mine.json 1 | wred |") and second.split("|")[7].strip() == "-"


def test_plots_are_reproducible(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="devtools/install-deps plot")
    from vcmts.simulate import plots

    short = shorter(scenarios.rate_change("docsis-pie"), 90, 5) | {"sample": 0.5}
    results = {"docsis-pie": simulate(short)}
    for name in ("a.svg", "b.svg"):
        plots.write(plots.over_time(results), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "latency target" in (tmp_path / "a.svg").read_text()
