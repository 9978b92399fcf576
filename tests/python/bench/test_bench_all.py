# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench all`: which steps it takes, with which words, and what becomes of their results."""

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


def given(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench_all.add_arguments(parser)
    return parser.parse_args(list(words))


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that were taken: each stores a sample, none measures. A report is made of them."""
    taken: list[str] = []
    samples = report_samples.all_kinds()
    monkeypatch.setattr(plane, "facts_of", lambda config: {})
    for step in bench_all.STEPS:
        module = importlib.import_module(f"vcmts.bench.{step}")

        def main(arguments: argparse.Namespace, step: str = step) -> int:
            taken.append(step)
            Path(arguments.json).write_text(json.dumps(samples[step]))
            return 0

        monkeypatch.setattr(module, "main", main)
    monkeypatch.setattr("vcmts.report.command.main", lambda arguments: 0)
    return taken


@pytest.mark.parametrize("config", [[], ["--config", "own.yaml"], ["--quick"]])
def test_every_step_knows_its_words(config: list[str], tmp_path: Path) -> None:
    """Those that it is called with are its own, of a configuration file too."""
    asked = given("--folder", str(tmp_path), *config)
    for step in bench_all.chosen(asked):
        parser = argparse.ArgumentParser()
        importlib.import_module(f"vcmts.bench.{step}").add_arguments(parser)
        parsed = parser.parse_args(bench_all.words(step, asked))
        assert parsed.json == str(tmp_path / f"bench-{step}.json")


def test_steps_take_what_others_have_stored(tmp_path: Path) -> None:
    """Goals are of four of them; what was not measured is not asked for."""

    def files(step: str) -> list[str]:
        return bench_all.words(step, given("--folder", str(tmp_path)))[2:]

    assert files("goals") == []
    for kind in ("throughput", "scheduler", "latency", "power", "cost"):
        (tmp_path / f"bench-{kind}.json").touch()
    kinds = ("scheduler", "throughput", "latency", "power")
    assert files("goals") == [w for k in kinds for w in (f"--{k}", f"{tmp_path}/bench-{k}.json")]
    assert files("latency")[-2:] == ["--throughput", f"{tmp_path}/bench-throughput.json"]
    assert not any("bench-" in word for word in files("throughput"))


def test_a_configuration_file_has_no_sizes_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    steps = bench_all.chosen(given("--config", "own.yaml"))
    assert steps == ["pipeline", "scheduler", "throughput", "latency", "power", "goals"]
    assert "cost changes one number of a profile" in capsys.readouterr().err
    with pytest.raises(MistakeError, match="choose --profile"):
        bench_all.chosen(given("--config", "own.yaml", "--only", "cost"))


def test_all_steps_in_the_order_of_their_needs(tmp_path: Path, done: list[str]) -> None:
    assert bench_all.main(given("--folder", str(tmp_path / "new"))) == 0
    assert done == list(bench_all.STEPS)


def test_what_is_not_measured_again_stays(
    tmp_path: Path, done: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bench_all.main(given("--folder", str(tmp_path)))
    before = (tmp_path / "bench-throughput.json").read_text()
    done.clear()
    bench_all.main(given("--folder", str(tmp_path), "--only", "latency"))
    assert done == ["latency"]
    assert (tmp_path / "bench-throughput.json").read_text() == before
    assert "bench-throughput.json" in capsys.readouterr().err


def test_a_mistake_is_told_once_and_costs_no_results(
    tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench_all.main(given("--folder", str(tmp_path)))
    done.clear()
    with pytest.raises(MistakeError, match="no such file"):
        bench_all.main(given("--folder", str(tmp_path), "--config", "own.yaml"))
    assert done == []
    assert (tmp_path / "bench-pipeline.json").exists()


def test_a_signal_between_two_programs_ends_in_a_report(
    tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(arguments: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    reported: list[str] = []

    def report(arguments: argparse.Namespace) -> int:
        reported.extend(arguments.files)
        return 0

    monkeypatch.setattr("vcmts.bench.cost.main", stopped)
    monkeypatch.setattr("vcmts.report.command.main", report)
    assert bench_all.main(given("--folder", str(tmp_path))) == 130
    assert done == ["pipeline"]
    assert reported == [str(tmp_path / "bench-pipeline.json")]


def test_a_step_that_fails_leaves_the_others(
    tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(arguments: argparse.Namespace) -> int:
        raise OSError(28, "No space left on device", arguments.json)

    monkeypatch.setattr("vcmts.bench.cost.main", full)
    assert bench_all.main(given("--folder", str(tmp_path))) == 2
    assert done == ["pipeline", "scheduler", "throughput", "latency", "power", "goals"]


@pytest.mark.parametrize(("repeats", "taken"), [([], False), ([{"gbps": 1}], True)])
def test_a_quick_one_goes_on_on_a_busy_machine(
    repeats: list[Json],
    taken: bool,
    done: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Where no rate was confirmed there are no latencies at shares of it."""
    monkeypatch.setattr("vcmts.results.read", lambda path: {"results": [{"repeats": repeats}]})
    assert bench_all.main(given("--quick", "--folder", str(tmp_path))) == 0
    assert ("latency" in done) == taken and done[-1] == "goals"
