# SPDX-License-Identifier: BSD-3-Clause
"""Tests tables, fits, verdicts and messages that `vcmts bench` makes of stored results."""

import argparse
import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from python.conftest import ExpectError
from vcmts import results
from vcmts.bench import common as bench_common
from vcmts.bench import cost as bench_cost
from vcmts.bench import pipeline as bench_pipeline
from vcmts.bench import scheduler as bench_scheduler
from vcmts.child import Stopped
from vcmts.paths import MistakeError
from vcmts.profile.group import parse_name
from vcmts.progress import Progress
from vcmts.results import Measurement


def result(direction: str, mix: str, stages: dict[str, float]) -> dict[str, Any]:
    total = sum(stages.values())
    return {
        "direction": direction,
        "mix": mix,
        "threads": 1,
        "mean_bytes": float(mix) if mix.isdigit() else 998.2,
        "stages": stages,
        "cycles_per_packet": total,
        "min": total - 1,
        "max": total + 1,
        "cycles_without_accounting": total - 5,
        "cycles_latency": 21.0,
        "core_cycles_per_packet": total * 1.5,
        "gbps_per_core": 7.25,
        "crypto_bound_cycles": 100.0,
        "share_of_crypto_bound": 100 / total,
        "runs": 5,
    }


def show_pipeline(*results: dict[str, Any]) -> str:
    text = io.StringIO()
    report = {"results": list(results), "configuration": "group", "host": HOST}
    bench_pipeline.show(report, Console(file=text, width=60))
    return text.getvalue()


PROFILE = "6ofdm-0sc-qam_300cms_aes"
HOST = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": False}
DOWN = result("downstream", "imix", {"classify": 150.0, "frame": 50.0})
UP = result("upstream", "upstream-imix", {"extract": 300.0, "requests": 100.0})
UP_84 = result("upstream", "84", {"extract": 170.0, "requests": 30.0})


def test_directions_have_their_own_tables() -> None:
    text = show_pipeline(UP, DOWN, UP_84)
    down, up = text.split("upstream, group")
    assert "downstream, group" in down
    assert "classify" in down and "extract" not in down
    assert "extract" in up and "classify" not in up
    assert up.index("upstream-") < up.index("84")
    assert "0.50" in down and "0.25" in up and "0.50" in up


def test_title_is_on_one_line() -> None:
    """On any width of table and terminal."""
    titles = [line for line in show_pipeline(UP).splitlines() if line.startswith("upstream")]
    assert titles == ["upstream, group, reference cycles per packet"]


def test_unmeasured_direction_has_no_table() -> None:
    text = show_pipeline(UP)
    assert "downstream" not in text
    assert text.count("all stages") == 1


def test_host_is_printed() -> None:
    text = " ".join(show_pipeline(DOWN, UP).split())
    assert text.count("A core: TSC 2.00 GHz, core 3.00 GHz (1.50 core cycles") == 1
    assert "ordinary pages" in text and "median of 5 runs" in text


def results_by_size(fixed: float, per_byte: float) -> list[dict[str, Any]]:
    """Results whose stages cost `fixed` per packet and `per_byte` per byte."""
    return [
        result(
            "downstream",
            str(size),
            {
                "filter": fixed / 2,
                "encrypt": fixed / 2 + size * per_byte / 2,
                "depi": size * per_byte / 2,
            },
        )
        for size in (84, 256, 512, 1518)
    ]


def test_stages_are_fitted_by_packet_and_byte() -> None:
    """The mix is not a point of the fit."""
    fits = list(bench_pipeline.fits([DOWN, *results_by_size(300, 0.8)]))
    assert [(one["direction"], one["threads"], one["stage"]) for one in fits] == [
        ("downstream", 1, stage) for stage in ("filter", "encrypt", "depi", "all")
    ]
    for one, fixed, per_byte in zip(fits, (150, 150, 0, 300), (0, 0.4, 0.4, 0.8), strict=True):
        assert one["fixed"] == pytest.approx(fixed, abs=1e-9)
        assert one["per_byte"] == pytest.approx(per_byte, abs=1e-9)
        assert one["r2"] == pytest.approx(1)
        assert one["points"] == 4


def test_directions_and_threads_have_their_own_fits() -> None:
    two = [one | {"threads": 2} for one in results_by_size(100, 0.5)]
    up = [one | {"direction": "upstream"} for one in results_by_size(50, 0.25)]
    fits = list(bench_pipeline.fits([*results_by_size(300, 0.8), *two, *up]))
    all_stages = {
        (one["direction"], one["threads"]): one["fixed"] for one in fits if one["stage"] == "all"
    }
    assert all_stages == {
        ("downstream", 1): pytest.approx(300),
        ("downstream", 2): pytest.approx(100),
        ("upstream", 1): pytest.approx(50),
    }


def test_single_size_has_no_fit() -> None:
    assert list(bench_pipeline.fits([DOWN, UP_84])) == []


def test_fits_are_printed() -> None:
    text = show_pipeline(*results_by_size(300, 0.8))
    rows = [" ".join(line.replace("│", " ").split()) for line in text.splitlines()]
    assert "linear fit of 4 sizes (Theil-Sen)" in text
    assert "encrypt 150.0 0.4000 1.00" in rows
    assert "all stages 300.0 0.8000 1.00" in rows


def test_two_threads_have_their_own_table() -> None:
    pair = {"upper_mac": 150.0, "lower_mac": 51.0, "gbps": 25.5, "gbps_per_core": 12.75}
    text = show_pipeline(DOWN, DOWN | {"threads": 2, "pair": pair | {"bound_by": "upper_mac"}})
    one, two = text.split("downstream, group, two concurrent threads")
    assert "Gbps per core" in one and "Gbps of the pair" not in one
    rows = [" ".join(line.replace("│", " ").split()) for line in two.splitlines()]
    for row in ("upper MAC, own core 150", "lower MAC, own core 51", "Gbps of the pair 25.5"):
        assert row in rows
    assert not any(row.startswith("Gbps per core") for row in rows)


def threads_measured(*options: str) -> tuple[int, ...]:
    parser = argparse.ArgumentParser()
    bench_pipeline.add_arguments(parser)
    return bench_pipeline.thread_counts(parser.parse_args(options))


def test_two_threads_need_two_cores(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3})
    assert threads_measured() == (1,)
    assert capfd.readouterr().err == ""
    assert threads_measured("--threads", "both") == (1,)
    assert capfd.readouterr().err == (
        "vcmts: --threads both: found 1 usable core, needed: 2; measuring only --threads 1\n"
    )
    with pytest.raises(MistakeError, match="found 1 usable core, needed: 2; choose"):
        threads_measured("--threads", "2")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5})
    assert threads_measured("--threads", "2") == (2,)
    assert threads_measured("--threads", "both") == (1, 2)


def test_upstream_has_one_thread() -> None:
    with pytest.raises(MistakeError, match="upstream, which has one thread"):
        threads_measured("--threads", "2", "--direction", "upstream")


def stop_of(requested: bool) -> Stopped:
    stop = Stopped()
    stop.by_signal = requested
    return stop


def test_interruption_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_common.no_results(stop_of(True), 0) == 130
    assert capfd.readouterr().err == "vcmts: stopped by Ctrl-C: nothing was measured\n"
    assert bench_common.no_results(stop_of(False), 2) == 2
    assert capfd.readouterr().err == ""
    for requested, status, ended, complete in (
        (True, 0, 130, False),
        (True, 130, 130, False),
        (False, 1, 1, False),
        (False, 0, 0, True),
    ):
        path = tmp_path / "bench.json"
        measurement = Measurement("pipeline", ["./vcmts"], "group", HOST, results=[DOWN])
        assert bench_common.store(measurement, str(path), stop_of(requested), status) == ended
        assert results.read(path)["complete"] == complete
        message = (
            f"vcmts: stopped by Ctrl-C: the results so far are in {path}\n" if requested else ""
        )
        assert capfd.readouterr().err == message


def figures(cycles: float) -> dict[str, Any]:
    return {
        "enqueue": cycles / 4,
        "dequeue": cycles * 3 / 4,
        "cycles_per_packet": cycles,
        "core_cycles_per_packet": cycles * 1.5,
        "min": cycles - 1,
        "max": cycles + 1,
        "runs": 5,
        "idle_call": 0.0,
        "offered_gbps": 12.0,
        "gbps": 10.0,
        "dropped": 0.125,
    }


def scheduler_result(case: str, load: int, cycles: float, other: float) -> dict[str, Any]:
    return {
        "case": case,
        "flows": 2400,
        "modems": 300,
        "channels": 6,
        "load": load,
        **figures(cycles),
        "rte_sched": figures(other),
        "rte_sched_turns": figures(other * 2),
        "priorities": figures(cycles * 1.5),
        "ratio": cycles / other,
        "ratio_turns": cycles / other / 2,
    }


def show_scheduler(*results: dict[str, Any]) -> str:
    text = io.StringIO()
    bench_scheduler.show({"results": list(results), "host": HOST}, Console(file=text, width=100))
    return text.getvalue()


def test_scheduler_table_per_case_and_column_per_load() -> None:
    text = show_scheduler(
        scheduler_result("2ofdm-32sc-qam", 95, 96, 500),
        scheduler_result("6ofdm", 50, 80, 400),
        scheduler_result("6ofdm", 120, 88, 404),
    )
    first, second = text.split("2ofdm-32sc-qam: 2,400 flows of 300 modems, 6 channels")
    assert "6ofdm: 2,400 flows" in first
    assert first.index("50 %") < first.index("120 %") and "95 %" not in first
    rows = [" ".join(line.replace("│", " ").split()) for line in first.splitlines()]
    both = [row for row in rows if row.startswith("both")]
    assert both == ["both 80 88", "both 400 404", "both 800 808", "both 120 132"]
    assert "vcmts / rte_sched 0.20 0.22" in rows
    assert "dropped 12.5% 12.5%" in rows
    assert "call without a packet - -" in rows
    assert "TSC 2.00 GHz" in second


def verdicts(*results: dict[str, Any]) -> list[str]:
    return list(bench_scheduler.verdicts(list(results)))


def test_scheduler_verdicts_by_goals() -> None:
    """The ratio is that to rte_sched with round-robin pipes, whose cycles are doubled here."""
    assert verdicts(
        scheduler_result("6ofdm", 50, 80, 200),
        scheduler_result("6ofdm", 120, 120, 100),
        scheduler_result("2ofdm-32sc-qam", 50, 121, 200),
        scheduler_result("8ofdm-192sc-qam", 50, 128, 1000),
        scheduler_result("8ofdm-192sc-qam", 120, 193, 1000),
    ) == [
        "reached: vcmts / rte_sched, 6 OFDM, 50 %: 0.200, goal <= 0.3",
        "missed: vcmts / rte_sched, 6 OFDM, 120 %: 0.600, goal <= 0.45",
        "missed: vcmts / rte_sched, 32 + 2, 50 %: 0.302, goal <= 0.3",
        "reached: 80,000 flows / 2,400, 50 %: 1.60, goal <= 1.6",
        "missed: 80,000 flows / 2,400, 120 %: 1.61, goal <= 1.6",
    ]


def test_scheduler_without_goal_has_no_verdict() -> None:
    """The large case has a goal relative to the first case. Other loads have no goal."""
    assert verdicts(scheduler_result("8ofdm-192sc-qam", 95, 90, 300)) == []
    assert verdicts(scheduler_result("6ofdm", 70, 80, 100)) == []
    text = show_scheduler(scheduler_result("6ofdm", 95, 80, 200))
    assert "reached: vcmts / rte_sched, 6 OFDM, 95 %: 0.200, goal <= 0.3" in text.splitlines()


def test_measurement_starts_with_a_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Results come at the end; the stored start is that of the first program."""
    clock = datetime(2026, 1, 2, tzinfo=UTC)

    def minute(*_: Any) -> tuple[int, dict[str, Any]]:
        nonlocal clock
        clock += timedelta(seconds=60)
        report = {"configuration": "a", "host": HOST, "results": [DOWN]}
        return 0, report | {"memory": {"total": 1, "per_modem": 1}, "start": {"total": 1}}

    for module in (results, bench_pipeline, bench_cost):
        monkeypatch.setattr(module, "now", lambda: clock)
    monkeypatch.setattr(bench_common, "run_benchmark", minute)
    monkeypatch.setattr(bench_pipeline, "command_of", lambda *_: [])
    monkeypatch.setattr(bench_pipeline, "thread_counts", lambda _: (1, 2))
    _, both = bench_pipeline.measure(argparse.Namespace(), tmp_path, tmp_path, Stopped())
    assert both is not None
    assert both.as_json()["seconds"] == 120
    monkeypatch.setattr(bench_cost, "measure", minute)
    arguments = argparse.Namespace(profile="a", cipher=None)
    points = bench_cost.points(parse_name(PROFILE), ["modems"], full=False)
    progress = Progress("", 1, lambda _: None)
    _, sizes = bench_cost.measure_all(arguments, points, progress, tmp_path, Stopped())
    assert sizes is not None
    assert sizes.as_json()["seconds"] == 60 * len(points)


@pytest.mark.parametrize("what", ["pipeline", "cost", "scheduler"])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--runs", "0"], "vcmts: --runs: found 0, allowed: 1 to 101"),
        (["--milliseconds", "9"], "vcmts: --milliseconds: found 9, allowed: 10 to 600000"),
        (["--json", "/nonexistent/out.json"], "vcmts: --json /nonexistent/out.json: No such"),
    ],
)
def test_wrong_options_are_refused(
    what: str, options: list[str], error: str, expect_error: ExpectError
) -> None:
    expect_error(error, "bench", what, *options)
