# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts bench all`: steps that run, their options and their results."""

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from python import report_samples
from vcmts.bench import all as bench_all
from vcmts.paths import MistakeError
from vcmts.run import plane

Json = dict[str, Any]


def parse(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench_all.add_arguments(parser)
    return parser.parse_args(list(argv))


@pytest.fixture
def steps_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that ran. Each stores a sample; a stub makes the report."""
    steps: list[str] = []
    samples = report_samples.all_kinds()
    monkeypatch.setattr(plane, "facts_of", lambda config: {})
    for step in bench_all.STEPS:
        module = importlib.import_module(f"vcmts.bench.{step}")

        def main(arguments: argparse.Namespace, step: str = step) -> int:
            steps.append(step)
            Path(arguments.json).write_text(json.dumps(samples[step]))
            return 0

        monkeypatch.setattr(module, "main", main)
    monkeypatch.setattr("vcmts.report.command.main", lambda arguments: 0)
    return steps


@pytest.mark.parametrize("config", [[], ["--config", "own.yaml"], ["--quick"]])
def test_steps_accept_their_options(config: list[str], tmp_path: Path) -> None:
    """Also with a configuration file."""
    options = parse("--folder", str(tmp_path), *config)
    for step in bench_all.selected_steps(options):
        parser = argparse.ArgumentParser()
        importlib.import_module(f"vcmts.bench.{step}").add_arguments(parser)
        parsed = parser.parse_args(bench_all.step_arguments(step, options))
        assert parsed.json == str(tmp_path / f"bench-{step}.json")


def test_steps_use_stored_results(tmp_path: Path) -> None:
    """Goals use four kinds of results. Missing results are not passed."""

    def files(step: str) -> list[str]:
        return bench_all.step_arguments(step, parse("--folder", str(tmp_path)))[2:]

    assert files("goals") == []
    for kind in ("throughput", "scheduler", "latency", "power", "cost"):
        (tmp_path / f"bench-{kind}.json").touch()
    kinds = ("scheduler", "throughput", "latency", "power")
    assert files("goals") == [w for k in kinds for w in (f"--{k}", f"{tmp_path}/bench-{k}.json")]
    assert files("latency")[-2:] == ["--throughput", f"{tmp_path}/bench-throughput.json"]
    assert not any("bench-" in word for word in files("throughput"))


def test_configuration_file_omits_cost(capsys: pytest.CaptureFixture[str]) -> None:
    steps = bench_all.selected_steps(parse("--config", "own.yaml"))
    assert steps == ["pipeline", "scheduler", "throughput", "latency", "power", "goals"]
    assert "cost changes one number of a profile" in capsys.readouterr().err
    with pytest.raises(MistakeError, match="it needs --profile"):
        bench_all.selected_steps(parse("--config", "own.yaml", "--only", "cost"))


def test_steps_run_in_order_of_dependencies(tmp_path: Path, steps_run: list[str]) -> None:
    assert bench_all.main(parse("--folder", str(tmp_path / "new"))) == 0
    assert steps_run == list(bench_all.STEPS)


def test_old_results_are_kept(
    tmp_path: Path, steps_run: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bench_all.main(parse("--folder", str(tmp_path)))
    before = (tmp_path / "bench-throughput.json").read_text()
    steps_run.clear()
    bench_all.main(parse("--folder", str(tmp_path), "--only", "latency"))
    assert steps_run == ["latency"]
    assert (tmp_path / "bench-throughput.json").read_text() == before
    assert "bench-throughput.json" in capsys.readouterr().err


def test_wrong_option_keeps_old_results(
    tmp_path: Path, steps_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench_all.main(parse("--folder", str(tmp_path)))
    steps_run.clear()
    with pytest.raises(MistakeError, match="no such file"):
        bench_all.main(parse("--folder", str(tmp_path), "--config", "own.yaml"))
    assert steps_run == []
    assert (tmp_path / "bench-pipeline.json").exists()


def test_interrupted_run_makes_a_report(
    tmp_path: Path, steps_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(arguments: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    reported: list[str] = []

    def report(arguments: argparse.Namespace) -> int:
        reported.extend(arguments.files)
        return 0

    monkeypatch.setattr("vcmts.bench.cost.main", stopped)
    monkeypatch.setattr("vcmts.report.command.main", report)
    assert bench_all.main(parse("--folder", str(tmp_path))) == 130
    assert steps_run == ["pipeline"]
    assert reported == [str(tmp_path / "bench-pipeline.json")]


def test_failed_step_does_not_stop_others(
    tmp_path: Path, steps_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(arguments: argparse.Namespace) -> int:
        raise OSError(28, "No space left on device", arguments.json)

    monkeypatch.setattr("vcmts.bench.cost.main", full)
    assert bench_all.main(parse("--folder", str(tmp_path))) == 2
    assert steps_run == ["pipeline", "scheduler", "throughput", "latency", "power", "goals"]


@pytest.mark.parametrize(("repeats", "measured"), [([], False), ([{"gbps": 1}], True)])
def test_quick_run_continues_without_confirmed_rate(
    repeats: list[Json],
    measured: bool,
    steps_run: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Without a confirmed rate, latencies are not measured."""
    monkeypatch.setattr("vcmts.results.read", lambda path: {"results": [{"repeats": repeats}]})
    assert bench_all.main(parse("--quick", "--folder", str(tmp_path))) == 0
    assert ("latency" in steps_run) == measured and steps_run[-1] == "goals"


@pytest.mark.parametrize(("complete", "status"), [(True, 0), (False, 1)])
def test_missed_goals_do_not_fail_the_measurement(
    complete: bool,
    status: int,
    steps_run: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def missed(arguments: argparse.Namespace) -> int:
        Path(arguments.json).write_text("")
        return 1

    monkeypatch.setattr("vcmts.bench.goals.main", missed)
    monkeypatch.setattr("vcmts.results.read", lambda path: {"complete": complete, "results": []})
    assert bench_all.main(parse("--folder", str(tmp_path))) == status
