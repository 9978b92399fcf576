# SPDX-License-Identifier: BSD-3-Clause
"""The upstream in a closed loop: latency beside docsis-ns3's, accounts to the byte, and each MAP
judged by the witness, which knows what was asked for."""

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
    delay: dict[str, float] = result["flows"][flow]["latency_ms"]
    return delay


def balanced(result: Result) -> dict[str, int]:
    """All bytes are somewhere: those that came, and those that were granted."""
    a: dict[str, int] = result["accounts"]
    assert a["queued"] == a["sent"] + a["discarded"] + a["waiting"]
    assert a["sent"] == a["used"] + a["beyond"]
    lost = a["silent_bytes"] + a["late_bytes"] + a["lost_bytes"]
    assert a["granted"] == a["used"] + a["unused"] + lost + a["coming"]
    return a


@pytest.mark.parametrize("name", [name for name, case in scenarios.CASES.items() if case.ns3])
def test_no_slower_than_docsis_ns3(name: str) -> None:
    case = scenarios.CASES[name]
    assert case.ns3 is not None
    result = simulate(case.scenario() | {"duration": 100}, name)
    assert delays(result)["p50"] <= 1.05 * case.ns3[0]
    assert delays(result)["p99"] <= 1.05 * case.ns3[1]
    accounts = balanced(result)
    assert accounts["late_grants"] == accounts["discarded"] == 0
    assert result["requests"]["unanswered"] == 0


def test_the_parts_of_a_light_flows_latency() -> None:
    """It waits for the frame in which it can ask, for the MAP, and is never faster than all the
    delays together."""
    interval, lead, decoded = 2.025, 1.1485, 0.27  # ms
    fastest = 0.135 + 0.04 + decoded + lead + decoded
    delay = delays(simulate(scenarios.light(2)))
    assert fastest <= delay["min"] < fastest + 0.1
    assert delay["p50"] == pytest.approx(fastest + interval / 2 + 0.0675, abs=0.08)
    assert delay["max"] < fastest + interval + 0.135 + 0.07


@pytest.mark.parametrize("count", [300, 3000])
def test_nine_tenths_of_four_channels(count: int) -> None:
    scenario = scenarios.loaded(count, 0.90) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    accounts = balanced(result)
    assert result["use"]["data_used"] > 0.95
    assert result["flows"][0]["mbps"] == pytest.approx(0.9 * 4e-6 * scenarios.OFDMA_RATE, rel=0.02)
    assert accounts["unused"] < 0.05 * accounts["granted"]
    if count == 300:
        assert delays(result)["p50"] < 5 and delays(result)["p99"] < 15
        assert accounts["discarded"] == 0


@pytest.mark.parametrize(("count", "load"), [(30, 0.6), (300, 0.3), (3000, 0.05), (3000, 0.6)])
def test_contention_does_not_collapse(count: int, load: float) -> None:
    scenario = scenarios.loaded(count, load) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    requests = result["requests"]
    assert requests["given_up"] == 0
    assert requests["collided"] < 0.4 * requests["contention"]
    assert result["accounts"]["waiting"] < 0.02 * result["accounts"]["queued"]
    assert delays(result)["p99"] < 20


def test_more_than_there_is() -> None:
    """At 120 % all that can be is sent, by flows that share it."""
    scenario = scenarios.loaded(100, 1.2) | {"duration": 3, "warmup": 1}
    result = simulate(scenario)
    flow = result["flows"][0]
    balanced(result)
    assert result["use"]["data"] > 0.85 and result["use"]["data_used"] > 0.99
    assert flow["least_bytes"] > 0.95 * flow["most_bytes"]


def test_impairments_are_counted() -> None:
    scenario = scenarios.impaired(0.5) | {"duration": 2, "warmup": 0.5}
    result = simulate(scenario)
    accounts = balanced(result)
    assert 0 < accounts["lost_grants"] < 0.03 * accounts["bursts"]
    assert result["requests"]["lost"] > 0
    assert accounts["waiting"] < 0.02 * accounts["queued"]
    silent = {"count": 5, "rate": 1e6, "conduct": "silent"}
    result = simulate(scenario | {"flows": [scenarios.modems(10, 1e7), silent]})
    accounts = balanced(result)
    assert result["flows"][1]["packets"] == 0 and accounts["silent_bytes"] == 0  # nobody asked


def lines(scenario: scenarios.Scenario, folder: Path) -> Iterator[tuple[int, list[Any]]]:
    """What was recorded, by the time at which it happened."""
    recorded = folder / "maps.jsonl"
    subprocess.run(
        [str(paths.program(NAME)), "-", "--maps", str(recorded)],
        input=json.dumps(scenario),
        check=True,
        capture_output=True,
        text=True,
    )
    with recorded.open() as file:
        yield from (
            (time, list(of_time))
            for time, of_time in groupby(map(json.loads, file), key=lambda line: line["at"])
        )


CROWD = scenarios.modems(60, 60e6)
JUDGED: dict[str, tuple[scenarios.Scenario, Channel]] = {
    "ofdma": (
        {"channels": scenarios.ofdma(4), "flows": [CROWD | {"rate": 30e6}]},
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "some-channels": (
        {"channels": scenarios.ofdma(4), "flows": [CROWD | {"channels": 3}]},
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "sc-qam": (
        {"channels": scenarios.sc_qam(3), "flows": [CROWD]},
        Channel(42, 2, 1, 2, ucd_count=1),
    ),
    "maintenance": (
        {
            "channels": scenarios.sc_qam(2)
            | {"initial_minislots": 40, "initial_interval": 0.05, "max_burst_minislots": 60},
            "flows": [CROWD | {"rate": 1e5}],
        },
        Channel(42, 2, 1, 2, 60, ucd_count=1),
    ),
    "impaired": (
        {
            "channels": scenarios.ofdma(2),
            "flows": [CROWD | {"map_loss": 50_000, "request_loss": 50_000}],
        },
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
    "proactive": (
        {
            "channels": scenarios.ofdma(2),
            "flows": [
                CROWD,
                scenarios.game(type="pgs", guaranteed_rate=1e6, grant_interval=0.001, count=4),
            ],
        },
        Channel(scenarios.MINISLOT, 0, scenarios.MINISLOTS, 1, ucd_count=1),
    ),
}


def witness(scenario: scenarios.Scenario, channel: Channel) -> Validator:
    """SIDs are flows from 1 on, on all channels."""
    numbers = range(1, scenario["channels"]["count"] + 1)
    types = [group.get("type") for group in scenario["flows"] for _ in range(group.get("count", 1))]
    flows = {
        (number, sid): Flow(str(sid), SEGMENT_HEADER, unsolicited=kind == "pgs")
        for sid, kind in enumerate(types, 1)
        for number in numbers
    }
    return Validator(dict.fromkeys(numbers, channel), flows)


def judge(validator: Validator, of_time: list[Any]) -> int:
    """What is recorded at one time: requests, and then a round of MAPs. Returns bytes granted."""
    unsolicited = {flow.name for flow in validator.flows.values() if flow.unsolicited}
    granted = 0
    for line in of_time:
        if "request" in line:
            validator.ask(str(line["sid"]), line["request"])
    maps = [line for line in of_time if "map" in line]
    for line in maps:
        grants = validator.take(read(bytes.fromhex(line["map"]), line["version"]))
        granted += sum(grant.bytes for grant in grants)
    if maps:  # of what is granted unasked, too, the witness keeps no account
        assert set(validator.end_round()) <= unsolicited
    return granted


@pytest.mark.parametrize("name", JUDGED)
def test_the_witness_judges_each_map(name: str, tmp_path: Path) -> None:
    """In order, no minislot twice, nothing granted that nobody asked for."""
    scenario, channel = JUDGED[name]
    validator = witness(scenario, channel)
    recorded = lines(scenario | {"duration": 0.5, "seed": 7}, tmp_path)
    assert sum(judge(validator, of_time) for _, of_time in recorded) > 0
    assert validator.maps > 200 * len(validator.channels) and validator.gaps == 0
    assert validator.used["data"] > 0 and validator.used["request"] > 0
    assert ("initial" in validator.used) == (name == "maintenance")


def test_the_same_seed_gives_the_same_run() -> None:
    scenario = scenarios.loaded(50, 0.3) | {"duration": 0.5, "warmup": 0.1}
    first, second, other = (
        {key: value for key, value in simulate(s).items() if key != "took"}
        for s in (scenario, scenario, scenario | {"seed": 2})
    )
    assert first == second != other


def test_the_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And that of docs/, as far as it is computed at once."""
    stored, names = tmp_path / "all.json", ["light-1ms", "light-80km", "pgs-2ms", "300-50"]
    assert cli.main(["simulate", "--upstream", *names, "--json", str(stored), "--markdown"]) == 0
    head, _, *lines = capfd.readouterr().out.splitlines()
    assert head.startswith("| scenario | p50 | p99 | docsis-ns3 |")
    results = json.loads(stored.read_text())
    assert list(results) == names
    assert lines[0].startswith(f"| light-1ms | {delays(results['light-1ms'])['p50']:.2f} |")
    page = (paths.CHECKOUT / "docs" / "upstream-scheduler.md").read_text()
    assert [line for line in lines if line not in page] == [], "the page has another table"


def test_a_file_of_ones_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.json"
    flows = [{"label": "one", "rate": 1e6}, {"label": "none", "rate": 0}, {"label": "two"}]
    mine.write_text(json.dumps({"duration": 1, "flows": flows}))
    assert cli.main(["simulate", "--upstream", str(mine)]) == 0
    said = capfd.readouterr().out
    assert "mine.json one" in said and "mine.json two" in said and "none" not in said
    assert "s simulated in" in said


def test_picture(tmp_path: Path) -> None:
    """Drawn twice it is the same."""
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
    assert "200 modems" in (tmp_path / "a.svg").read_text()
