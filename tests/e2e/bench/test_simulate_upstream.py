# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts simulate --upstream`: the upstream scheduler with simulated modems. Latency is compared
with docsis-ns3, bytes must balance, and the witness validates each MAP against the requests."""

import json
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from vcmts import cli, paths
from vcmts.simulate import upstream_scenarios as scenarios
from vcmts.simulate.running import Result
from vcmts.simulate.upstream import NAME, simulate
from witness.maps import Channel, Flow, Validator, read

SEGMENT_HEADER = 8


def delays(result: Result, flow: int = 0) -> dict[str, float]:
    """The latencies of a flow, ms."""
    delay: dict[str, float] = result["flows"][flow]["latency_ms"]
    return delay


def check_balance(result: Result) -> dict[str, int]:
    """Checks the balance of queued and of granted bytes. Returns the accounts."""
    accounts: dict[str, int] = result["accounts"]
    assert accounts["queued"] == accounts["sent"] + accounts["discarded"] + accounts["waiting"]
    assert accounts["sent"] == accounts["used"] + accounts["beyond"]
    lost = accounts["silent_bytes"] + accounts["late_bytes"] + accounts["lost_bytes"]
    assert accounts["granted"] == accounts["used"] + accounts["unused"] + lost + accounts["coming"]
    return accounts


@pytest.mark.parametrize("name", [name for name, case in scenarios.CASES.items() if case.ns3])
def test_latency_is_at_most_that_of_docsis_ns3(name: str) -> None:
    case = scenarios.CASES[name]
    assert case.ns3 is not None
    result = simulate(case.scenario() | {"duration": 100}, name)
    assert delays(result)["p50"] <= 1.05 * case.ns3[0]
    assert delays(result)["p99"] <= 1.05 * case.ns3[1]
    accounts = check_balance(result)
    assert accounts["late_grants"] == accounts["discarded"] == 0
    assert result["requests"]["unanswered"] == 0


def test_light_flow_latency_is_sum_of_delays() -> None:
    """Latency of a light flow: all fixed delays, and up to one MAP interval and OFDMA frame
    more."""
    interval, lead, decoded = 2.025, 1.1485, 0.27  # ms
    fastest = 0.135 + 0.04 + decoded + lead + decoded
    delay = delays(simulate(scenarios.light(2)))
    assert fastest <= delay["min"] < fastest + 0.1
    assert delay["p50"] == pytest.approx(fastest + interval / 2 + 0.0675, abs=0.08)
    assert delay["max"] < fastest + interval + 0.135 + 0.07


@pytest.mark.parametrize("count", [300, 3000])
def test_load_of_90_percent_is_carried(count: int) -> None:
    scenario = scenarios.loaded(count, 0.90) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    accounts = check_balance(result)
    assert result["use"]["data_used"] > 0.95
    assert result["flows"][0]["mbps"] == pytest.approx(0.9 * 4e-6 * scenarios.OFDMA_RATE, rel=0.02)
    assert accounts["unused"] < 0.05 * accounts["granted"]
    if count == 300:
        assert delays(result)["p50"] < 5 and delays(result)["p99"] < 15
        assert accounts["discarded"] == 0


@pytest.mark.parametrize(("count", "load"), [(30, 0.6), (300, 0.3), (3000, 0.05), (3000, 0.6)])
def test_contention_stays_stable(count: int, load: float) -> None:
    scenario = scenarios.loaded(count, load) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    requests = result["requests"]
    assert requests["given_up"] == 0
    assert requests["collided"] < 0.4 * requests["contention"]
    assert result["accounts"]["waiting"] < 0.02 * result["accounts"]["queued"]
    assert delays(result)["p99"] < 20


def test_overload_is_shared_equally() -> None:
    """At a load of 120 %, flows share the whole capacity equally."""
    scenario = scenarios.loaded(100, 1.2) | {"duration": 3, "warmup": 1}
    result = simulate(scenario)
    flow = result["flows"][0]
    check_balance(result)
    assert result["use"]["data"] > 0.85 and result["use"]["data_used"] > 0.99
    assert flow["least_bytes"] > 0.95 * flow["most_bytes"]


def test_impairments_are_counted() -> None:
    scenario = scenarios.impaired(0.5) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    accounts = check_balance(result)
    assert 0 < accounts["lost_grants"] < 0.03 * accounts["bursts"]
    assert result["requests"]["lost"] > 0
    assert accounts["waiting"] < 0.02 * accounts["queued"]
    silent = {"count": 5, "rate": 1e6, "conduct": "silent"}
    result = simulate(scenario | {"flows": [scenarios.poisson_modems(10, 1e7), silent]})
    accounts = check_balance(result)
    assert result["flows"][1]["packets"] == 0 and accounts["silent_bytes"] == 0  # no requests


def recorded_events(scenario: scenarios.Scenario, folder: Path) -> Iterator[tuple[int, list[Any]]]:
    """Runs the simulation. Yields recorded requests and MAPs per time."""
    path = folder / "maps.jsonl"
    subprocess.run(
        [str(paths.program(NAME)), "-", "--maps", str(path)],
        input=json.dumps(scenario),
        check=True,
        capture_output=True,
        text=True,
    )
    with path.open() as file:
        yield from (
            (time, list(events))
            for time, events in groupby(map(json.loads, file), key=lambda line: line["at"])
        )


MANY_MODEMS = scenarios.poisson_modems(60, 60e6)
VALIDATED: dict[str, tuple[scenarios.Scenario, Channel]] = {
    "ofdma": (
        {"channels": scenarios.ofdma(4), "flows": [MANY_MODEMS | {"rate": 30e6}]},
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "some-channels": (
        {"channels": scenarios.ofdma(4), "flows": [MANY_MODEMS | {"channels": 3}]},
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "sc-qam": (
        {"channels": scenarios.sc_qam(3), "flows": [MANY_MODEMS]},
        Channel(42, 2, 1, 2, ucd_count=1),
    ),
    "maintenance": (
        {
            "channels": scenarios.sc_qam(2)
            | {"initial_minislots": 40, "initial_interval": 0.05, "max_burst_minislots": 60},
            "flows": [MANY_MODEMS | {"rate": 1e5}],
        },
        Channel(42, 2, 1, 2, 60, ucd_count=1),
    ),
    "impaired": (
        {
            "channels": scenarios.ofdma(2),
            "flows": [MANY_MODEMS | {"map_loss": 50_000, "request_loss": 50_000}],
        },
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "proactive": (
        {
            "channels": scenarios.ofdma(2),
            "flows": [
                MANY_MODEMS,
                scenarios.game(type="pgs", guaranteed_rate=1e6, grant_interval=0.001, count=4),
            ],
        },
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
}


def make_validator(scenario: scenarios.Scenario, channel: Channel) -> Validator:
    """A validator for the scenario. SIDs are numbers of flows, from 1, on all channels."""
    channels = range(1, scenario["channels"]["count"] + 1)
    types = [group.get("type") for group in scenario["flows"] for _ in range(group.get("count", 1))]
    flows = {
        (number, sid): Flow(str(sid), SEGMENT_HEADER, unsolicited=kind == "pgs")
        for sid, kind in enumerate(types, 1)
        for number in channels
    }
    return Validator(dict.fromkeys(channels, channel), flows)


def validate_events(validator: Validator, events: list[Any]) -> int:
    """Validates the records of one time: requests, then a round of MAPs. Returns bytes granted."""
    unsolicited = {flow.name for flow in validator.flows.values() if flow.unsolicited}
    granted = 0
    for event in events:
        if "request" in event:
            validator.ask(str(event["sid"]), event["request"])
    maps = [event for event in events if "map" in event]
    for event in maps:
        grants = validator.take(read(bytes.fromhex(event["map"]), event["version"]))
        granted += sum(grant.bytes for grant in grants)
    if maps:  # the witness keeps no balance of unsolicited grants
        assert set(validator.end_round()) <= unsolicited
    return granted


@pytest.mark.parametrize("name", VALIDATED)
def test_witness_accepts_each_map(name: str, tmp_path: Path) -> None:
    """MAPs are in order, grant no minislot twice, and grant only requested bytes."""
    scenario, channel = VALIDATED[name]
    validator = make_validator(scenario, channel)
    recorded = recorded_events(scenario | {"duration": 0.5, "seed": 7}, tmp_path)
    assert sum(validate_events(validator, events) for _, events in recorded) > 0
    assert validator.maps > 200 * len(validator.channels) and validator.gaps == 0
    assert validator.used["data"] > 0 and validator.used["request"] > 0
    assert ("initial" in validator.used) == (name == "maintenance")


def test_same_seed_gives_same_result() -> None:
    scenario = scenarios.loaded(50, 0.3) | {"duration": 0.5, "warmup": 0.1}
    first, second, other = (
        {key: value for key, value in simulate(s).items() if key != "took"}
        for s in (scenario, scenario, scenario | {"seed": 2})
    )
    assert first == second != other


def test_markdown_table_matches_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Rows of short scenarios equal those of the page."""
    stored, names = tmp_path / "all.json", ["light-1ms", "light-80km", "pgs-2ms", "300-50"]
    assert cli.main(["simulate", "--upstream", *names, "--json", str(stored), "--markdown"]) == 0
    head, _, *rows = capfd.readouterr().out.splitlines()
    assert head.startswith("| scenario | p50 | p99 | docsis-ns3 |")
    results = json.loads(stored.read_text())["scenarios"]
    assert list(results) == names
    assert rows[0].startswith(f"| light-1ms | {delays(results['light-1ms'])['p50']:.2f} |")
    page = (paths.CHECKOUT / "docs" / "upstream-scheduler.md").read_text()
    assert [line for line in rows if line not in page] == [], "the page has other rows"


def test_scenario_file_is_simulated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    flows = [{"label": "one", "rate": 1e6}, {"label": "none", "rate": 0}, {"label": "two"}]
    path.write_text(json.dumps({"duration": 1, "flows": flows}))
    assert cli.main(["simulate", "--upstream", str(path)]) == 0
    output = capfd.readouterr().out
    assert "mine.json one" in output and "mine.json two" in output and "none" not in output
    assert "s simulated in" in output


def test_plot_is_reproducible(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="devtools/install-deps plot")
    from vcmts.simulate import plots, upstream_plots

    results = {
        (count, load): simulate(scenarios.loaded(count, load) | {"duration": 0.3, "warmup": 0.1})
        for count in (20, 200)
        for load in (0.1, 0.9)
    }
    for name in ("a.svg", "b.svg"):
        plots.write(upstream_plots.over_load(results), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = (tmp_path / "a.svg").read_text()
    assert "200 modems" in text and all(area in text for area in upstream_plots.USES)
    longest = max(one["flows"][0]["latency_ms"]["max"] for one in results.values())
    assert longest < upstream_plots.most(results) <= 5 * longest
