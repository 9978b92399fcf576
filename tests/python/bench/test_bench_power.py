# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts bench power` with a simulated data plane of known losses and latencies."""

import argparse
import copy
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from python import report_samples
from vcmts.bench import offered
from vcmts.bench import power as bench_power
from vcmts.bench.power import command, loaded, measured, steps, unloaded
from vcmts.bench.power import goals as power_goals
from vcmts.bench.power import results as power_results
from vcmts.bench.power.measured import Bench, Options
from vcmts.bench.power.plane import Plane
from vcmts.bench.power.steps import Case
from vcmts.paths import MistakeError
from vcmts.power.policy import down_seconds
from vcmts.progress import Progress
from vcmts.results import Measurement, violations

Json = dict[str, Any]
Answers = Callable[[Json, Json], Json]

RATES = {"downstream": 4e9, "upstream": 6e8}
SIZES = {"downstream": 1000, "upstream": 250}
GAP = {"count": 0, "longest_us": 0.0}


def sent_of(request: Json, direction: str) -> int:
    """Returns the number of packets of the request, with the shape of steps."""
    rate: float = request["rate" if direction == "downstream" else "upstream_rate"]
    seconds: float = request["seconds"]
    if "shape" in request:
        seconds *= steps.LOAD_SECONDS / steps.step_seconds("saving")
    return round(rate * seconds / 8 / SIZES[direction])


def answer_to(request: Json, *, lost: int = 0, latency: float = 40.0, gap: Json = GAP) -> Json:
    """Returns the answer to a trial. Losses are downstream."""
    answer: Json = {"trial": request, "drops": {}}
    answer["workers"] = [{"descheduled": gap, "busy_cycles": 1e6, "busy_share": 0.5}]
    for direction, key in (("downstream", "rate"), ("upstream", "upstream_rate")):
        if not request.get(key):
            continue
        sent = sent_of(request, direction)
        missing = lost if direction == "downstream" else 0
        part: Json = {"sent": sent, "lost": missing, "corrupted": 0, "descheduled": GAP}
        part["sent_bytes"] = sent * SIZES[direction]
        keys = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")
        part["latency_us"] = {key: latency for key in keys} | {"histogram": [[latency, 5]]}
        answer[direction] = part
    return answer


class FakePlane:
    """Answers with `answers(request, settings)`, and records requests and settings."""

    pid = 1
    ring = 1024
    host: Json = report_samples.HOST

    def __init__(self, answers: Answers) -> None:
        self.answers, self.now = answers, dict[str, Any]()
        self.requests: list[tuple[Json, Json]] = []
        self.clock = 0.0
        self.late: list[float] = []  # us, of each trial

    def ask(self, request: Json) -> Json:
        answer = self.answers(request, self.now)
        self.requests.append((request, dict(self.now)))
        return answer

    def set(self, **fields: Any) -> None:
        self.now |= fields

    def get(self) -> Json:
        late = sum(self.late[: len(self.requests)])
        cores = [{"hertz": 800_000_000}, {"hertz": 900_000_000}, {"hertz": None}]
        return {"longest_pause_us": 20, "latency_us": 100, "late_us": late, "cores": cores}

    def metrics(self, *names: str) -> dict[str, float]:
        return dict.fromkeys(names, 50.0 * len(self.requests))

    def counted(self, *names: str) -> dict[str, float]:
        self.clock += 1
        shares = {unloaded.PAUSED: 0.96, unloaded.IDLE: 0.99, unloaded.BUSY: 0.01}
        return {name: self.clock * shares[name] for name in names}

    def cpu_seconds(self) -> float:
        return 0.0


def bench_of(
    folder: Path, answers: Answers, *, runs: int = 5, count: int = 100
) -> tuple[Bench, FakePlane]:
    plane = FakePlane(answers)
    options = Options(
        where=offered.make_point("imix"),
        shares=offered.Split(0.8, 0.2),
        parts=tuple(command.PARTS),
        steps=count,
        runs=runs,
        seconds=0.25,
        policy="saving",
    )
    to = Measurement("power", ["vcmts"], "a group", {})
    progress = Progress("a test", 1.0, lambda _: None)
    kinds = ("poll", "spin", "sleep")
    stored = str(folder / "out.json")
    return Bench(options, cast(Plane, plane), kinds, RATES, to, stored, progress), plane


def without_loss(request: Json, now: Json) -> Json:
    return answer_to(request)


def test_steps_of_all_kinds_and_comparisons(tmp_path: Path) -> None:
    bench, plane = bench_of(tmp_path, without_loss)
    steps.measure(bench)
    cases = [
        (one["idle"], one["policy"], one["queues"], one["load"], one["steps"])
        for one in bench.to.results
    ]
    governed = [(kind, "saving", True, load, 100) for kind in bench.kinds for load in (0.9, 1.0)]
    compared = [("poll", "none", True, load, 25) for load in (0.9, 1.0)]
    compared += [("poll", "saving", False, load, 25) for load in (0.9, 1.0)]
    assert cases == governed + compared
    assert all(one["value"] == 0 and not one["disturbed"] for one in bench.to.results)
    request, now = plane.requests[2]
    assert now == {"idle": "poll", "policy": "saving", "queues": True, "latency_us": 2000}
    assert (request["shape"], request["drop"]) == ("bursts:on=9ms,off=24ms", True)
    assert request["rate"] == 4e9
    assert request["seconds"] == pytest.approx(steps.MOST_STEPS * 0.033)
    assert bench.to.results[0]["jumps_a_step"] == 1.0  # 50 per trial of 50 steps
    restored = {"idle": "poll", "policy": "none", "queues": True, "latency_us": 100}
    assert plane.now == restored


@pytest.mark.parametrize(("policy", "idle"), [("saving", 0.024), ("balanced", 0.104)])
def test_pause_between_steps_reaches_lowest_clock(policy: str, idle: float) -> None:
    """Policies keep a frequency for 10 and 50 ms, so a shorter pause is not sufficient."""
    assert down_seconds(policy) == pytest.approx(idle)
    assert steps.shape(policy) == f"bursts:on=9ms,off={1e3 * idle:g}ms"


def test_clock_before_steps_is_stored(tmp_path: Path) -> None:
    bench, _ = bench_of(tmp_path, without_loss)
    trials = steps.measure_case(bench, case())["trials"]
    assert {trial["hertz_before"] for trial in trials} == {900_000_000}
    assert steps.highest_clock({"cores": [{"hertz": None}]}) is None


def case(load: float = 0.9, count: int = 100) -> Case:
    return Case("spin", "saving", load, count)


def test_losses_are_per_1000_steps(tmp_path: Path) -> None:
    bench, _ = bench_of(tmp_path, lambda request, now: answer_to(request, lost=3))
    one = steps.measure_case(bench, case())
    assert (one["lost"], one["steps"], one["value"], one["repeated"]) == (6, 100, 60, 0)
    assert [trial["verdict"] for trial in one["trials"]] == ["failed"] * 2


def test_steps_with_gaps_are_repeated(tmp_path: Path) -> None:
    """Half a ring lasts 1.1 ms at 450,000 packets/s. A longer gap excuses losses."""
    gaps = iter([900.0, 2000.0, 2000.0])

    def lossy(request: Json, now: Json) -> Json:
        longest = next(gaps, None)
        if longest is None:
            return answer_to(request)
        return answer_to(request, lost=500, gap={"count": 1, "longest_us": longest})

    bench, _ = bench_of(tmp_path, lossy)
    one = steps.measure_case(bench, case())
    trials = [(trial["verdict"], trial["steps"]) for trial in one["trials"]]
    repeated = [("disturbed", 50), ("disturbed", 25)]
    repeated += [("passed", count) for count in (12, 24, 14)]
    assert trials == [("failed", 50), *repeated]  # shorter after disturbed trials, then longer
    assert (one["lost"], one["steps"], one["repeated"]) == (500, 100, 75)
    assert one["repeated_lost"] == 1000


def test_gap_excuses_only_its_packets(tmp_path: Path) -> None:
    gap = {"count": 1, "longest_us": 2000.0}
    bench, _ = bench_of(tmp_path, lambda request, now: answer_to(request, lost=1000, gap=gap))
    one = steps.measure_case(bench, case())
    assert (one["disturbed"], one["lost"], one["repeated_lost"]) == (False, 2000, 0)


def test_gaps_excuse_only_sent_packets() -> None:
    """1,000 gaps of up to 2 ms may be longer than ten steps with 9 ms of load."""
    gap = {"count": 1000, "longest_us": 2000.0}
    rates = {"downstream": 4e9}
    for more, verdict in ((0, "disturbed"), (1, "failed")):
        answer: Json = {"workers": [{"descheduled": gap}]}
        answer["downstream"] = {"sent": 45000, "sent_bytes": 45_000_000, "corrupted": 0}
        answer["downstream"]["lost"] = 45000 + more
        assert steps.evaluate(answer, rates, 10, 1024) == verdict


def test_steps_with_late_governor_are_repeated(tmp_path: Path) -> None:
    losses = iter([600, 600])
    bench, plane = bench_of(tmp_path, lambda r, now: answer_to(r, lost=next(losses, 0)))
    plane.late = [1000.0, 1500.0]
    one = steps.measure_case(bench, case())
    assert [trial["verdict"] for trial in one["trials"][:3]] == ["failed", "disturbed", "passed"]
    assert (one["lost"], one["trials"][1]["late_us"]) == (600, 1500.0)


def test_unsent_steps_do_not_count(tmp_path: Path) -> None:
    def short(request: Json, now: Json) -> Json:
        answer = answer_to(request)
        answer["upstream"]["sent_bytes"] *= 0.98
        return answer

    bench, _ = bench_of(tmp_path, short)
    one = steps.measure_case(bench, case())
    assert one["disturbed"] and {trial["verdict"] for trial in one["trials"]} == {"traffic"}
    lengths = [trial["steps"] for trial in one["trials"]]
    assert lengths[:6] == [50, 25, 12, 6, 5, 5] and sum(lengths) == 203


def test_latency_is_the_difference_of_pairs(tmp_path: Path) -> None:
    """Three pairs are disturbed and repeated."""
    latency_of = {"poll": 40.0, "spin": 41.5, "sleep": 90.0}
    number = 0

    def answers(request: Json, now: Json) -> Json:
        nonlocal number
        number += 1
        gap = {"count": 1, "longest_us": 5000.0} if number in (1, 4, 5) else GAP
        more = 1000.0 if gap["count"] else 0.0
        return answer_to(request, latency=latency_of[now["idle"]] + more, gap=gap)

    bench, plane = bench_of(tmp_path, answers)
    loaded.latency(bench)
    assert [now["idle"] for _, now in plane.requests[:4]] == ["poll", "spin"] * 2
    assert len(plane.requests) == 2 * 5 * 2 * 3 + 2 * 3
    result = {(r["what"], r["idle"], r["load"], r["direction"]): r for r in bench.to.results}
    assert len(result) == 2 * 2 * 3 * 2
    for (_, kind, _, _), one in result.items():
        assert one["values"] == [latency_of[kind] - 40.0] * 5 and not one["disturbed"]
        assert one["pairs"] == [[40.0, latency_of[kind]]] * 5


def test_always_disturbed_pairs_are_marked(tmp_path: Path) -> None:
    gap = {"count": 1, "longest_us": 5000.0}
    bench, plane = bench_of(tmp_path, lambda request, now: answer_to(request, gap=gap), runs=2)
    loaded.cost(bench)
    assert all(one["disturbed"] and one["runs"] == 2 for one in bench.to.results)
    assert len(plane.requests) == 2 * 2 * measured.ATTEMPTS * 2


def test_cost_is_cycles_of_busy_rounds(tmp_path: Path) -> None:
    def answers(request: Json, now: Json) -> Json:
        answer = answer_to(request)
        answer["workers"][0]["busy_cycles"] = 1.02e6 if now["idle"] == "spin" else 1e6
        return answer

    bench, plane = bench_of(tmp_path, answers)
    loaded.cost(bench)
    assert [one["value"] for one in bench.to.results] == [pytest.approx(1.02), 1.0]
    sent = sum(sent_of(plane.requests[0][0], direction) for direction in RATES)
    assert bench.to.results[0]["pairs"][0] == [
        pytest.approx(1e6 / sent),
        pytest.approx(1.02e6 / sent),
    ]


def test_shares_without_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    bench, plane = bench_of(tmp_path, without_loss)
    unloaded.paused(bench)
    assert [(one["idle"], one["value"]) for one in bench.to.results] == [
        ("spin", pytest.approx(0.96)),
        ("sleep", pytest.approx(0.96)),
    ]
    assert plane.now == {"idle": "poll", "longest_pause_us": 20}
    unloaded.cpu(bench)
    assert [(one["idle"], one["value"]) for one in bench.to.results[2:]] == [
        (kind, 0.0) for kind in bench.kinds
    ]


def test_latency_of_first_packets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Percentiles are those of the 25 packets of all runs, of which the last five are late."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    numbers = iter(range(100))

    def answers(request: Json, now: Json) -> Json:
        late = next(numbers) % 5 == 4
        return answer_to(request, latency=140.0 if late else 30.0)

    bench, plane = bench_of(tmp_path, answers)
    unloaded.first(bench)
    request, _ = plane.requests[0]
    assert request["rate"] == 81920 and request["seconds"] == pytest.approx(1.5)
    by_key = {(one["what"], one["idle"], one["apart_seconds"]): one for one in bench.to.results}
    assert {key[1:] for key in by_key} == {
        *(("poll", 0.1), ("spin", 0.1), ("sleep", 0.1), ("sleep", 1.5))
    }
    assert 30 <= by_key["first.p50", "sleep", 1.5]["value"] < 40
    assert by_key["first.p99", "sleep", 1.5]["value"] == 140
    assert by_key["first.max", "sleep", 1.5]["values"] == [30, 30, 30, 30, 140]


def test_file_follows_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    bench, _ = bench_of(tmp_path, without_loss, runs=1, count=2)
    for part in command.PARTS.values():
        part(bench)
    assert list(violations(bench.to.as_json() | {"host": report_samples.HOST})) == []
    assert json.loads((tmp_path / "out.json").read_text())["results"] == bench.to.results


def test_goals_of_a_file() -> None:
    result = {one.goal: one for one in power_goals.goals_of(report_samples.power())}
    assert set(result) == {
        *(f"power.steps.{load}{end}" for load in (90, 100) for end in ("", ".busyness")),
        *(f"power.latency.{k}.{load}" for k in ("mean", "p99_9") for load in (10, 50, 90)),
        *(f"power.{part}" for part in ("cost", "paused", "cpu", "first", "first.long")),
    }
    assert result["power.steps.90"].values == [3]
    assert result["power.steps.90"].remark == "poll 0, spin 3; 1,000 steps"
    assert result["power.steps.100.busyness"].values == [4000]
    assert (
        result["power.latency.mean.90"].disturbed
        and result["power.latency.mean.10"].values[2] == 1.5
    )
    assert (result["power.cpu"].remark, result["power.paused"].remark) == ("sleep", "spin")
    assert result["power.first"].values == [140]


def test_goals_use_the_best_kind_of_pauses() -> None:
    file = copy.deepcopy(report_samples.power())
    assert power_goals.best_pause(file) == "spin"
    file["kinds"].append("tpause-c0.2")
    assert power_goals.best_pause(file) == "tpause-c0.2"
    goals = {one.goal for one in power_goals.goals_of(file)}
    assert "power.cost" not in goals and "power.first" in goals


def test_tables_of_a_file() -> None:
    out = io.StringIO()
    power_results.show(report_samples.power(), Console(file=out, width=100))
    printed = out.getvalue()
    lines = [" ".join(line.replace("│", " ").split()) for line in printed.splitlines()]
    assert "poll saving, busy share only 90% 250 4,000.0 1.00 50 7" in lines
    assert "poll none 100% 250 0.0 - 50 7" in lines
    assert any(line.startswith("spin 10% downstream 40.0 +1.5") for line in lines)
    assert "sleep 90.0% 1.0%" in lines
    assert "sleep 1.5 s 120 140 145" in lines
    assert "…" not in printed and printed.rstrip().endswith("in some trials")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--ring", "1000"), "--ring: found 1000, allowed: a power of two"),
        (("--ring", "32"), "--ring: found 32"),
        (("--steps", "0"), "--steps: found 0"),
        (("--runs", "0"), "--runs: found 0"),
        (("--trial-seconds", "0"), "--trial-seconds: found 0"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...], error: str) -> None:
    parser = argparse.ArgumentParser()
    bench_power.add_arguments(parser)
    with pytest.raises(MistakeError, match=error):
        parsed = parser.parse_args(arguments)
        command.check_arguments(parsed, {"upstream_capacity": 1e9, "capacity": 1e10})


def test_invalid_rate_is_refused() -> None:
    parser = argparse.ArgumentParser()
    bench_power.add_arguments(parser)
    facts = {"upstream_capacity": 1e9, "capacity": 1e10}
    options = command.check_arguments(parser.parse_args([]), facts)
    assert sum(command.parse_rates("4Gbps", options).values()) == pytest.approx(4e9)
    for wrong in ("4", "max", "0bps"):
        with pytest.raises(MistakeError, match="--rate: found"):
            command.parse_rates(wrong, options)


def test_table_of_one_measurement() -> None:
    file = report_samples.power()
    file["results"] = [one for one in file["results"] if one["what"] == "paused"]
    [table] = power_results.tables(file)
    assert list(table.rows) == [("spin", "97.0%", "-"), ("sleep", "90.0%", "-")]
