# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench goals` around service groups of known cost."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import pytest

from python import report_samples
from python.bench.simulated_bench import Bench, Json
from python.bench.simulated_bench import bench as bench
from vcmts import results
from vcmts.bench import goals_list as goals
from vcmts.bench import goals_measure, goals_stored
from vcmts.bench.goals_measure import BASE, CHANNELS
from vcmts.paths import MistakeError
from vcmts.profile.group import write_profile
from vcmts.simulate.upstream_scenarios import CASES

WHAT = "goals"
STORED = ("latency", "scheduler", "throughput", "power")
QUICK = ("--milliseconds", "10")
FEW = "6ofdm-0sc-qam_30cms_aes"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals_measure, "MODEMS", FEW)
    monkeypatch.setattr(goals_measure, "SET_UP_SECONDS", 0.0)
    monkeypatch.setattr(goals_measure, "siblings", lambda one, other: False)


def by_goal(bench: Bench) -> dict[str, Json]:
    return {one["goal"]: one for one in bench.stored()["results"]}


def sample(folder: Path, option: str, **what: object) -> list[str]:
    """The words for a stored measurement, which is the sample of its kind but for `what`."""
    path = folder / f"{option}.json"
    path.write_text(json.dumps(report_samples.all_kinds()[option] | what))
    return [f"--{option}", str(path)]


def recorded(cores: list[Any]) -> Callable[..., None]:
    """write_profile(), which tells the cores that it was asked for."""

    def written(name: str, out: TextIO, **more: Any) -> None:
        cores.append(more["cores"])
        write_profile(name, out, **more)

    return written


def carried(down: float, up: float, **what: object) -> Json:
    """Of `bench throughput`: million packets per second of both directions."""
    sizes = {"downstream": 1000.0, "upstream": 250.0}
    gbps = {"downstream": down * 8, "upstream": up * 2, "total": down * 8 + up * 2}
    one = report_samples.throughput()["results"][0]
    one |= {"gbps": gbps, "mean_bytes": sizes, **what}
    return {"results": [one], "transport": "rings"}


def test_every_goal_is_measured(bench: Bench) -> None:
    cycles = {f"{BASE} imix": 600, f"{BASE} upstream-imix": 699, f"{CHANNELS} imix": 900}
    words = [word for kind in STORED for word in sample(bench.folder, kind)]
    assert bench(*QUICK, *words, cycles=cycles, loses=2, pair=10.0) == 0
    file = results.read(bench.path)
    assert (file["kind"], file["complete"], file["not_measured"]) == ("goals", True, {})
    found = by_goal(bench)
    assert list(found) and set(found) == set(goals.load())
    assert 600 <= found["downstream"]["value"] <= 602
    assert found["downstream"]["runs"] == len(found["downstream"]["values"]) == 5
    assert found["downstream"]["crypto_bound_cycles"] == 400
    assert found["downstream"]["core_hz"] == 3e9
    assert found["downstream.core-cycles"]["value"] == 1.5 * found["downstream"]["value"]
    assert found["downstream.over-crypto"]["value"] == pytest.approx(601 / 400, rel=0.01)
    assert found["downstream.encrypt"]["value"] == 500 / 400
    assert found["downstream.encrypt"]["remark"] == "500 over 400 reference cycles"
    assert found["downstream.scheduler"]["value"] == found["channels.scheduler"]["value"] == 110
    assert found["stage.64"]["stage"] == "classify"
    assert 90 <= found["stage.64"]["min"] <= found["stage.64"]["max"] <= 92
    assert found["channels"]["value"] == pytest.approx(1.5, rel=0.01)
    assert len(found["channels"]["pairs"]) == 5
    assert found["memory"]["value"] == 96
    # the base has core 1, and loses 2 of 10 Gbps there
    assert found["cores"]["cores"] == [1, 0]
    assert found["cores"]["rates_gbps"] == [[8, 10, 8, 10]] * 5
    assert found["cores"]["value"] == 18 / 8
    assert found["threads"]["threads_gbps"] == [[10, 8]] * 5
    assert found["threads"]["value"] == 10 / 8
    assert found["threads"]["remark"].endswith("upper MAC 250, lower MAC 500 cycles")
    printed = bench.told()[0]
    assert "1,652 core cycles" in printed and "not measured" not in printed
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "…" not in printed
    row, _ = [line for line in lines if line.startswith("32 SC-QAM + 2 OFDM / 6 OFDM")]
    assert "<= 1.1" in row and row.endswith("missed")
    assert any(line.startswith("memory of 300 modems, MiB 768 MiB <= 128 96") for line in lines)


def test_latency_is_that_of_nine_tenths(bench: Bench) -> None:
    assert bench(*QUICK, "--only", "latency", *sample(bench.folder, "latency")) == 0
    found = by_goal(bench)
    (at,) = [
        one
        for one in report_samples.latency()["results"]
        if (one["load"], one["direction"]) == (0.9, "downstream")
    ]
    assert found["latency.mean"]["value"] == at["pipeline_us"]["mean"]
    assert found["latency.p99_9"]["value"] == at["pipeline_us"]["p99_9"]
    assert found["latency.end-to-end.p99_9"]["value"] == at["end_to_end_us"]["p99_9"]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"configuration": "another"}, "configuration: found another"),
        ({"kind": "throughput", "results": []}, "kind: found throughput"),
        ({"results": []}, "was not measured at 90 %"),
    ],
)
def test_a_latency_of_something_else(what: Json, said: str, bench: Bench) -> None:
    words = ("--only", "latency", "--only", "memory", *sample(bench.folder, "latency", **what))
    assert bench(*QUICK, *words) == 1
    assert said in bench.told()[1]
    assert said in bench.stored()["not_measured"]["latency.mean"]


def test_the_scheduler_is_beside_pipes_in_turns(bench: Bench) -> None:
    """At each load that was measured and has a goal, and the large case beside the first one."""
    results = [r for r in report_samples.scheduler()["results"] if r["load"] != 95]
    odd = [r | {"load": 70} for r in results if r["load"] == 50]
    words = sample(bench.folder, "scheduler", results=results + odd)
    assert bench(*QUICK, "--only", "scheduler", *words) == 0
    found = by_goal(bench)
    cases = ("6ofdm", "2ofdm-32sc-qam", "growth")
    assert set(found) == {f"scheduler.{case}.{load}" for case in cases for load in (50, 120)}
    assert found["scheduler.6ofdm.50"]["value"] == pytest.approx(127 / 365)
    assert found["scheduler.2ofdm-32sc-qam.120"]["value"] == pytest.approx(151 * 1.5 / 190)
    assert found["scheduler.growth.120"]["value"] == pytest.approx(229 / 127)
    assert found["scheduler.growth.120"]["remark"] == "344 over 190 reference cycles"
    assert not {
        goal
        for goal in bench.stored()["not_measured"]
        if goal.startswith("scheduler.") and ".50" in goal
    }


def test_the_rate_without_loss_beside_what_the_cycles_allow(bench: Bench) -> None:
    """Two million packets take 600 cycles and one takes 400, of a core that has 2e9."""
    cycles = {f"{BASE} imix": 600, f"{BASE} upstream-imix": 400}
    words = ("--only", "zero-loss", *sample(bench.folder, "throughput", **carried(2, 1)))
    assert bench(*QUICK, *words, cycles=cycles) == 0
    (one,) = bench.stored()["results"]
    assert one["value"] == pytest.approx(0.8, abs=0.005) and one["runs"] == 5
    assert (one["remark"], one["disturbed"]) == ("18.00 Gbps, bound by data plane", False)


def test_the_machine_may_bound_the_rate_without_loss(bench: Bench) -> None:
    what = carried(2, 1, bound_by="machine")
    assert bench(*QUICK, "--only", "zero-loss", *sample(bench.folder, "throughput", **what)) == 0
    (one,) = bench.stored()["results"]
    assert goals.load()["zero-loss"].verdict(one | {"value": 0.1}) == "disturbed"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (carried(2, 1, confirmed=False), "no rate was confirmed"),
        ({"transport": "ports"}, "transport: found ports, needed: rings"),
        (carried(2, 1, upstream_mix="84"), "imix and upstream-imix were not measured at once"),
        (carried(2, 1, gbps={"downstream": 1.0, "total": 1.0}), "were not measured at once"),
        ({"kind": "latency", "results": []}, "kind: found latency, needed: throughput"),
    ],
)
def test_a_throughput_of_something_else(what: Json, said: str, bench: Bench) -> None:
    words = ("--only", "memory", "--only", "zero-loss", *sample(bench.folder, "throughput", **what))
    assert bench(*QUICK, *words) == 1
    assert said in bench.stored()["not_measured"]["zero-loss"]


def test_two_threads_have_the_cores_of_one_and_another(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lower MAC, which has more to do, where the one thread is."""
    given: list[Any] = []
    monkeypatch.setattr(goals_measure, "write_profile", recorded(given))
    assert bench(*QUICK, "--only", "threads", "--runs", "1") == 0
    _, cores = given
    wanted = {"main": "0", "upper_mac": "0", "lower_mac": "1", "upstream": "1"}
    assert cores == {"downstream": "1ds2t"} | {f"{key}_core": at for key, at in wanted.items()}


def test_what_is_left_out_says_so(bench: Bench) -> None:
    assert bench(*QUICK, "--only", "upstream", "--runs", "2") == 0
    file = bench.stored()
    assert [one["goal"] for one in file["results"]] == ["upstream"]
    assert file["not_measured"]["downstream"] == "left out"
    assert set(file["not_measured"]) == set(goals.load()) - {"upstream"}
    assert bench.told()[0].count("not measured") == len(goals.load()) - 1


def test_the_upstream_is_beside_what_others_measured(bench: Bench) -> None:
    """Of docsis-ns3 at most 5 % more; what costs more than it may is told as missed."""
    assert bench(*QUICK, "--only", "grants", "--runs", "3") == 0
    found = by_goal(bench)
    for name in goals_stored.LIGHT:
        ns3 = CASES[name].ns3
        assert ns3 is not None
        for quantile, value in zip(("p50", "p99"), ns3, strict=True):
            goal = goals.load()[f"grants.{name}.{quantile}"]
            assert goal.at_most is not None
            assert 1.05 * value - 0.01 < goal.at_most <= 1.05 * value + 1e-9
            assert f"docsis-ns3: {value}" in goal.published_words
    assert found["grants.300-90.used"]["value"] == 0.97
    assert found["grants.light-1ms.p50"]["value"] == 2.5
    assert found["grants.light-1ms.p99"]["value"] == 14.0
    assert found["grants.request.300"]["values"] == [60.0] * 3
    assert found["grants.core.3000"]["value"] == 0.03
    lines = [" ".join(line.split()) for line in bench.told()[0].splitlines()]
    (fits,) = [line for line in lines if line.startswith("granted request, 300 modems - ")]
    (misses,) = [line for line in lines if line.startswith("granted request, 3,000 modems - ")]
    assert fits.endswith("reached") and misses.endswith("missed")
    (row,) = [line for line in lines if line.startswith("request, 1 ms MAPs, median")]
    assert "docsis-ns3: <= 3.48 2.50" in row and row.endswith("reached")


def test_a_cost_of_grants_that_fails_leaves_their_latency(bench: Bench) -> None:
    assert bench(*QUICK, "--only", "grants", maps=1) == 1
    file = bench.stored()
    assert "ended with status 1" in file["not_measured"]["grants.core.300"]
    assert len(file["results"]) == 2 * len(goals_stored.LIGHT) + 3


def test_what_bounds_a_missed_goal_is_printed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = replace(goals.load()["memory"], at_most=95, bound="its 300 modems")
    monkeypatch.setattr(goals, "load", lambda: {"memory": bound})
    assert bench(*QUICK, "--only", "memory") == 0
    assert "memory of 300 modems is bound by its 300 modems" in bench.told()[0].splitlines()


def test_without_a_second_core(bench: Bench) -> None:
    assert bench(*QUICK, "--only", "cores", "--only", "memory", cores=1) == 1
    file = bench.stored()
    assert "needs two cores" in file["not_measured"]["cores"]
    assert [one["goal"] for one in file["results"]] == ["memory"]
    assert not file["complete"]


def test_what_lacks_is_no_failure_where_it_was_not_asked_for(bench: Bench) -> None:
    """As in `bench all`, on one core and with another profile's latency."""
    other = sample(bench.folder, "latency", configuration="another")
    assert bench(*QUICK, "--runs", "1", *other, cores=1) == 0
    file = bench.stored()
    assert file["complete"] and "needs two cores" in file["not_measured"]["cores"]
    assert "found another" in file["not_measured"]["latency.mean"]
    assert file["not_measured"]["zero-loss"] == "no --throughput FILE"
    assert file["not_measured"]["scheduler.growth.50"] == "no --scheduler FILE"


def test_runs_that_were_not_at_one_time_do_not_count(bench: Bench) -> None:
    assert bench(*QUICK, "--only", "cores", "--only", "memory", late=2000) == 1
    assert "no two runs were measured at one time" in bench.told()[1]
    assert bench(*QUICK, "--only", "cores", late=500) == 0


def test_overlap() -> None:
    one = {"begin_us": 0, "end_us": 100}
    assert goals_measure.overlap(one, one) == 1
    assert goals_measure.overlap(one, {"begin_us": 5, "end_us": 100}) == 0.95
    assert goals_measure.overlap(one, {"begin_us": 50, "end_us": 150}) == pytest.approx(1 / 3)
    assert goals_measure.overlap(one, {"begin_us": 200, "end_us": 300}) < 0


def test_a_group_that_does_not_start_leaves_the_others(bench: Bench) -> None:
    words = [word for part in ("channels", "modems", "memory") for word in ("--only", part)]
    assert bench(*QUICK, *words, expect_error=[FEW]) == 1
    file = bench.stored()
    assert [one["goal"] for one in file["results"]] == ["channels", "channels.scheduler", "memory"]
    assert "ended with status 1" in file["not_measured"]["modems"]
    assert "modems: vcmts-bench ended with status 1" in bench.told()[1]


def test_a_base_that_does_not_start(bench: Bench) -> None:
    assert bench(*QUICK, expect_error=[BASE]) == 1
    assert "vcmts-bench ended with status 1" in bench.told()[1]
    assert not bench.path.exists()


def test_what_was_measured_before_a_signal_is_kept(bench: Bench) -> None:
    """The second run of the base in the part with the channels."""
    words = [word for part in ("upstream", "channels", "modems") for word in ("--only", part)]
    assert bench(*QUICK, *words, interrupts=goals_measure.WARM_UP + 6) == 130
    file = bench.stored()
    assert [one["goal"] for one in file["results"]] == ["upstream"]
    assert not file["complete"]
    assert file["not_measured"]["channels"] == file["not_measured"]["modems"] == "interrupted"
    assert "interrupted" in bench.told()[1]


def test_hyper_threads_of_one_core_are_not_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(goals_measure, "siblings", lambda one, other: one % 2 == other % 2)
    assert (goals_measure.own_core(), goals_measure.second_core()) == (1, 0)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 3})
    with pytest.raises(MistakeError, match="no hyper-threads"):
        goals_measure.second_core()
