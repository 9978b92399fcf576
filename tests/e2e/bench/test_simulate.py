# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler in a closed loop: DOCSIS-PIE holds its target, and the rate is used."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from vcmts import cli
from vcmts.simulate import scenarios
from vcmts.simulate.command import simulate
from vcmts.simulate.running import Result

TARGET = scenarios.TARGET * 1000  # ms
PACKET_MS = 8 * 1518 / 1000  # at 1 Mbps


def shorter(scenario: scenarios.Scenario, duration: float, warmup: float) -> scenarios.Scenario:
    return scenario | {"duration": duration, "warmup": warmup}


def flow_of(result: Result) -> dict[str, Any]:
    flow: dict[str, Any] = result["service_flows"][0]
    return flow


def delays(result: Result) -> dict[str, float]:
    delay: dict[str, float] = flow_of(result)["delay_ms"]
    return delay


@pytest.mark.parametrize(("rate", "count"), [(5, 5), (50, 50), (100, 5), (100, 50)])
def test_the_target_is_held(rate: int, count: int) -> None:
    """By more than a few packets: at 5 Mbps one of them takes a quarter of the target."""
    result = simulate(shorter(scenarios.matrix(rate, count, "docsis-pie"), 30, 12))
    allowed = 1.3 * TARGET + 3 * PACKET_MS / rate
    assert 0.7 * TARGET < delays(result)["mean"] < allowed
    assert 0.7 * TARGET < delays(result)["median"] < allowed
    assert delays(result)["p99"] < 4 * TARGET
    assert flow_of(result)["utilisation"] > 0.99
    assert flow_of(result)["drops"]["docsis_pie"] > 0
    assert flow_of(result)["drops"]["flow_full"] == 0


@pytest.mark.parametrize(("name", "share"), [("light", 0.35), ("heavy", 0.2), ("cubic", 0.15)])
def test_much_less_than_with_tail_drop(name: str, share: float) -> None:
    """Least so where few senders empty the queue: each first drop grants a burst of 142 ms."""
    case = scenarios.CASES[name].scenario
    pie, tail = (simulate(shorter(case(a), 40, 12)) for a in ("docsis-pie", "tail-drop"))
    assert delays(pie)["mean"] < share * delays(tail)["mean"]
    assert flow_of(pie)["utilisation"] > 0.94  # 5 Reno over 100 ms empty a queue of 10 ms at times
    assert flow_of(tail)["drops"]["docsis_pie"] == 0
    assert flow_of(tail)["drops"]["flow_full"] > 0


def test_the_rate_changes() -> None:
    """Within ten seconds the target is held again; the rate is used within two."""
    result = simulate(scenarios.rate_change("docsis-pie"))
    series = result["series"][0]

    def between(start: float, end: float, key: str) -> list[float]:
        first, last = (round(t / series["interval"]) for t in (start, end))
        return [value for value in series[key][first:last] if value is not None]

    for start, end, rate in ((10, 30, 100), (40, 60, 20), (70, 90, 100)):
        assert mean(between(start, end, "delay_ms")) == pytest.approx(TARGET, rel=0.3)
        assert mean(between(start, end, "mbps")) == pytest.approx(rate, rel=0.01)
    assert mean(between(62, 64, "mbps")) == pytest.approx(100, rel=0.02)
    quiet, loaded = (mean(between(*when, "drop_probability")) for when in ((10, 30), (40, 60)))
    assert loaded > 5 * quiet  # a fifth of the window wants some 25 times the losses


def test_the_same_seed_gives_the_same_run() -> None:
    scenario = shorter(scenarios.light("docsis-pie"), 10, 2)
    assert simulate(scenario) == simulate(scenario)
    assert simulate(scenario | {"seed": 2}) != simulate(scenario)


def test_the_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "all.json"
    words = ["simulate", "ns3-example", "--aqm", "wred", "--json", str(stored), "--markdown"]
    assert cli.main(words) == 0
    head, _, line = capfd.readouterr().out.splitlines()
    assert head.startswith("| scenario | drops by | mean |")
    (result,) = json.loads(stored.read_text()).values()
    assert line.startswith(f"| ns3-example | wred | {delays(result)['mean']:.1f} |")


def test_a_file_of_ones_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two service flows on a channel of 20 Mbps, one of them above the other."""
    mine = tmp_path / "mine.json"
    flows = [{"priority": 1, "sustained_rate": 5e6}, {"priority": 0, "aqm": "wred"}]
    senders = [{"service_flow": 0}, {"service_flow": 1, "kind": "reno", "count": 3}]
    scenario = {"channels": [{"rate": 20e6}], "service_flows": flows, "senders": senders}
    mine.write_text(json.dumps(scenario | {"duration": 10, "warmup": 3}))
    assert cli.main(["simulate", str(mine), "--markdown"]) == 0
    first, second = capfd.readouterr().out.splitlines()[2:]
    assert first.startswith("| mine.json 0 | docsis-pie |")
    assert second.startswith("| mine.json 1 | wred |") and second.split("|")[7].strip() == "-"


def test_pictures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Drawn twice they are the same."""
    pytest.importorskip("matplotlib", reason="devtools/install-deps plot")
    from vcmts.simulate import plots

    short = shorter(scenarios.rate_change("docsis-pie"), 90, 5) | {"sample": 0.5}
    results = {"docsis-pie": simulate(short)}
    for name in ("a.svg", "b.svg"):
        plots.write(plots.over_time(results), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "latency target" in (tmp_path / "a.svg").read_text()
