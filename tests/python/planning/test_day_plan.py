# SPDX-License-Identifier: BSD-3-Clause
"""What a run of a day asks of the programs, and what it refuses before they are started."""

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
from vcmts.run.planner import PUBLISHED
from vcmts.simulate import plots


def given(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def planned(folder: Path, *words: str) -> tuple[plan.Plan, argparse.Namespace]:
    asked = given(*words)
    found = planner.planned(asked, folder)
    assert isinstance(found, plan.Plan)
    found.said.close()
    return found, asked


def test_in_the_words_of_a_run(tmp_path: Path) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("0:00 10% 50%\n12:00 100% 100%\n")
    found, asked = planned(tmp_path, "--day", str(own), "--duration", "1.5min", "--plot", "a.png")
    assert (found.seconds, found.picture) == (90, Path("a.png"))
    assert (asked.duration, asked.latency, asked.idle) == ("90000ms", True, "auto")
    for way, first in (("downstream", "0ms 10."), ("upstream", "0ms 50.")):
        assert (tmp_path / f"{way}.day").read_text().startswith(first)
    assert asked.shape == f"day:@{tmp_path / 'downstream.day'}"
    assert asked.upstream_shape == f"day:@{tmp_path / 'upstream.day'}"
    assert "2 x Intel" in found.machine.name


def test_without_a_file_it_is_ours(tmp_path: Path) -> None:
    found, asked = planned(tmp_path, "--day", "--policy", "saving", "--idle", "spin")
    assert found.day.name == PUBLISHED.name
    assert (found.seconds, asked.duration) == (120, "120000ms")
    assert power.options(asked) == ["--idle", "spin", "--policy", "saving"]
    assert given().duration is None and planner.planned(given(), tmp_path) is None


def test_nothing_upstream_has_no_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which vcmts-traffic would refuse."""
    monkeypatch.setattr(command, "program", lambda name: Path(name))
    ends = [Ends("", "a"), Ends("", "b")]
    facts = {"cores": [0], "capacity": 1e9, "upstream_capacity": 0}
    _, asked = planned(tmp_path, "--day")
    words = command.traffic_command(tmp_path, ends, tmp_path, facts, asked)
    assert "--shape" in words and "--upstream-shape" not in words
    asked.upstream_rate = "1Mbps"
    words = command.traffic_command(tmp_path, ends, tmp_path, facts, asked)
    assert words[words.index("--upstream-shape") + 1] == asked.upstream_shape
    assert words[words.index("--duration") + 1] == "120000ms"
    assert rates.rates_of(facts, asked).upstream == "1Mbps"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--day", "--shape", "ramp"), "--shape: found beside --day"),
        (("--day", "--upstream-shape", "ramp"), "--upstream-shape: found beside --day"),
        (("--day", "--impair", "psp-loss=1%"), "--impair: found beside --day"),
        (("--day", "--rate", "max"), "--rate: found max, allowed with --day: a rate"),
        (("--day", "--upstream-rate", "max"), "--upstream-rate: found max"),
        (("--day", "--control-socket", "none"), "--control-socket: found none"),
        (("--day", "--duration", "1s"), "--duration: found 1s, allowed with --day: a time from 2s"),
        (("--day", "--duration", "49h"), "--duration: found 49h"),
        (("--day", "--duration", "2 weeks"), "--duration: found 2 weeks"),
        (("--day", "--plot", "day.jpg"), "--plot: found day.jpg"),
        (("--day", "--plot", "/nonexistent/day.svg"), "--plot /nonexistent/day.svg: No such file"),
        (("--day", "--machine", "/nonexistent.yaml"), "/nonexistent.yaml: No such file"),
        (("--day", "--watts-command", "'"), "--watts-command: found"),
        (("--day", "/nonexistent.txt"), "--day /nonexistent.txt: No such file"),
        (("--plot", "day.svg"), "--plot: found without --day, allowed: beside it"),
        (("--machine", "m.yaml"), "--machine: found without --day"),
        (("--watts-command", "true"), "--watts-command: found without --day"),
    ],
)
def test_mistakes(
    words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, expect_error: ExpectError
) -> None:
    monkeypatch.setattr(command, "carry", lambda *_: pytest.fail("something was started"))
    expect_error(f"vcmts: {message}", "run", *words)


def test_a_picture_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it was not asked for, the day goes by without one."""

    def missing() -> None:
        raise ModuleNotFoundError(name="matplotlib")

    monkeypatch.setattr(plots, "load", missing)
    found, _ = planned(tmp_path, "--day")
    assert found.picture is None
    assert "no picture: --plot: Python package matplotlib is missing" in capsys.readouterr().err
    with pytest.raises(MistakeError, match="install-deps plot"):
        picture.check(tmp_path / "day.svg")


def test_what_the_traffic_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Each second it says the same, which the progress has told already."""
    second = "  12 s  down   1.000 Gbps sent   1234 proven  0 lost  up   0.100 Gbps sent\n"
    plan.repeat(io.BytesIO(f"{second}vcmts-traffic: ordinary pages\n{second}".encode() + b"\xff\n"))
    assert capsys.readouterr().err == "vcmts-traffic: ordinary pages\n\ufffd\n"


@pytest.mark.parametrize("command", [None, "no-such-command-there"])
def test_why_watts_are_missing_is_told(
    command: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Once each; what nobody asked for is not missing."""
    monkeypatch.setattr("planning.day.show.show", lambda day, console: None)
    found, _ = planned(tmp_path, "--day")
    found.joules, found.picture = Joules(Sampler(command, tmp_path / "none")), None
    for _ in range(3):
        assert found.joules() == {}
    found.tell({})
    said = capsys.readouterr().err
    assert said.count("not all watts of cpu were measured: ") == 1 and "tells no energy" in said
    assert said.count("watts of platform") == (1 if command else 0)
