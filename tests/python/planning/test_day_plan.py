# SPDX-License-Identifier: BSD-3-Clause
"""Tests how a run of a day starts the programs, and what it refuses before it starts them."""

import argparse
import io
from pathlib import Path

import pytest

from planning.day import picture, plan
from python.conftest import ExpectError
from vcmts.paths import MistakeError
from vcmts.power.measured import Joules, Sampler
from vcmts.run import command, planner, power, rates
from vcmts.run.plane import Ends
from vcmts.run.planner import PUBLISHED_DAY
from vcmts.simulate import plots


def parse(*args: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(args)


def make_plan(folder: Path, *args: str) -> tuple[plan.Plan, argparse.Namespace]:
    options = parse(*args)
    result = planner.plan_day(options, folder)
    assert isinstance(result, plan.Plan)
    result.output.close()
    return result, options


def test_day_sets_options_of_a_run(tmp_path: Path) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("0:00 10% 50%\n12:00 100% 100%\n")
    day, options = make_plan(tmp_path, "--day", str(own), "--duration", "1.5min", "--plot", "a.png")
    assert (day.seconds, day.picture) == (90, Path("a.png"))
    assert (options.duration, options.latency, options.idle) == ("90000ms", True, "auto")
    for direction, first in (("downstream", "0ms 10."), ("upstream", "0ms 50.")):
        assert (tmp_path / f"{direction}.day").read_text().startswith(first)
    assert options.shape == f"day:@{tmp_path / 'downstream.day'}"
    assert options.upstream_shape == f"day:@{tmp_path / 'upstream.day'}"
    assert "2 x Intel" in day.machine.name


def test_default_day_is_the_published_one(tmp_path: Path) -> None:
    day, options = make_plan(tmp_path, "--day", "--policy", "saving", "--idle", "spin")
    assert day.day.name == PUBLISHED_DAY.name
    assert (day.seconds, options.duration) == (120, "120000ms")
    assert power.options(options) == ["--idle", "spin", "--policy", "saving"]
    assert parse().duration is None and planner.plan_day(parse(), tmp_path) is None


def test_no_upstream_traffic_has_no_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vcmts-traffic would refuse a shape without a rate."""
    monkeypatch.setattr(command, "program", lambda name: Path(name))
    ends = [Ends("", "a"), Ends("", "b")]
    facts = {"cores": [0], "capacity": 1e9, "upstream_capacity": 0}
    _, options = make_plan(tmp_path, "--day")
    args = command.traffic_command(tmp_path, ends, tmp_path, facts, options)
    assert "--shape" in args and "--upstream-shape" not in args
    options.upstream_rate = "1Mbps"
    args = command.traffic_command(tmp_path, ends, tmp_path, facts, options)
    assert args[args.index("--upstream-shape") + 1] == options.upstream_shape
    assert args[args.index("--duration") + 1] == "120000ms"
    assert rates.rates_of(facts, options).upstream == "1Mbps"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--day", "--shape", "ramp"), "--shape: not allowed with --day"),
        (("--day", "--upstream-shape", "ramp"), "--upstream-shape: not allowed with --day"),
        (("--day", "--impair", "psp-loss=1%"), "--impair: not allowed with --day"),
        (("--day", "--rate", "max"), "--rate max: not allowed with --day; give the rate"),
        (("--day", "--upstream-rate", "max"), "--upstream-rate max: not allowed with --day"),
        (("--day", "--control-socket", "none"), "--control-socket none: not allowed with --day"),
        (("--day", "--duration", "1s"), "--duration: found 1s, allowed with --day: a time from 2s"),
        (("--day", "--duration", "49h"), "--duration: found 49h"),
        (("--day", "--duration", "2 weeks"), "--duration: found 2 weeks"),
        (("--day", "--plot", "day.jpg"), "--plot: found day.jpg"),
        (("--day", "--plot", "/proc/none/day.svg"), "--plot /proc/none/day.svg: No such file"),
        (("--day", "--machine", "/nonexistent.yaml"), "/nonexistent.yaml: No such file"),
        (("--day", "--watts-command", "'"), "--watts-command: found"),
        (("--day", "/nonexistent.txt"), "--day /nonexistent.txt: No such file"),
        (("--plot", "day.svg"), "--plot: works with --day only"),
        (("--machine", "m.yaml"), "--machine: works with --day only"),
        (("--watts-command", "true"), "--watts-command: works with --day only"),
    ],
)
def test_invalid_options_are_refused(
    args: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, expect_error: ExpectError
) -> None:
    monkeypatch.setattr(command, "run_programs", lambda *_: pytest.fail("something was started"))
    expect_error(f"vcmts: {message}", "run", *args)


def test_day_runs_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no picture then; `--plot` is refused."""

    def missing() -> None:
        raise ModuleNotFoundError(name="matplotlib")

    monkeypatch.setattr(plots, "load", missing)
    day, _ = make_plan(tmp_path, "--day")
    assert day.picture is None
    assert "no picture: --plot: Python package matplotlib is missing" in capsys.readouterr().err
    with pytest.raises(MistakeError, match="install-deps plot"):
        picture.check(tmp_path / "day.svg")


def test_progress_lines_of_traffic_are_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """Other lines go to stderr."""
    second = "  12 s  1.00 Gbps down,  0.10 Gbps up;      1,234 proven, 0 lost\n"
    plan.print_output(
        io.BytesIO(f"{second}vcmts-traffic: ordinary pages\n{second}".encode() + b"\xff\n")
    )
    assert capsys.readouterr().err == "vcmts-traffic: ordinary pages\n\ufffd\n"


@pytest.mark.parametrize("command", [None, "no-such-command"])
def test_reason_of_missing_watts_is_printed(
    command: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each reason once. Watts that were not requested are not missing."""
    monkeypatch.setattr("planning.day.show.show", lambda day, console: None)
    day, _ = make_plan(tmp_path, "--day")
    day.joules, day.picture = Joules(Sampler(command, tmp_path / "none")), None
    for _ in range(3):
        assert day.joules() == {}
    day.show({})
    err = capsys.readouterr().err
    assert err.count("not all watts of cpu were measured: ") == 1 and "no energy counters" in err
    assert err.count("watts of platform") == (1 if command else 0)
