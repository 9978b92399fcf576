# SPDX-License-Identifier: BSD-3-Clause
"""Programs that make trials: good ones, ones that die, ones that say nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vcmts.bench import trials
from vcmts.bench.trials import StopError, TroubleError
from vcmts.child import Stopped, stoppable
from vcmts.paths import MistakeError

# A program that answers by what it is asked for.
PROGRAM = """#!{python}
import json, os, sys, time
print(json.dumps({ready}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    do = asked.get("do")
    if do == "die":
        print("out of memory", file=sys.stderr, flush=True)
        sys.exit(3)
    if do == "killed":
        os.kill(os.getpid(), 9)
    if do == "interrupt":
        os.kill(os.getppid(), 2)
    if do in ("sleep", "interrupt"):
        time.sleep(3600)
    if do == "refuse":
        print(json.dumps(dict(error="rate: found -1, allowed: 0 and more")), flush=True)
    elif do == "talk":
        print("hello", flush=True)
    elif do == "list":
        print("[]", flush=True)
    elif do == "other":
        print(json.dumps(dict(other=1)), flush=True)
    elif do == "pieces":
        text = json.dumps(dict(trial=asked, long="x" * 100000)) + chr(10)
        for start in range(0, len(text), 7777):
            sys.stdout.write(text[start:start + 7777])
            sys.stdout.flush()
    else:
        print(json.dumps(dict(trial=asked)), flush=True)
sys.exit({status})
"""


@pytest.fixture
def stopped() -> Iterator[Stopped]:
    with stoppable() as stopped:
        yield stopped


def program(folder: Path, ready: str = "dict(ready=True)", status: int = 0) -> list[str]:
    path = folder / "vcmts-fake"
    path.write_text(PROGRAM.format(python=sys.executable, ready=ready, status=status))
    path.chmod(0o755)
    return [str(path)]


def ask(folder: Path, stopped: Stopped, do: str) -> trials.Json:
    with trials.server(program(folder), folder, stopped) as serving:
        return serving.ask({"seconds": 0.1, "do": do})


def test_one_request_one_answer(tmp_path: Path, stopped: Stopped) -> None:
    command = program(tmp_path, "dict(ready=True, host=dict(cpu='A core'))")
    with trials.server(command, tmp_path, stopped) as serving:
        assert serving.ready["host"] == {"cpu": "A core"}
        for seconds in (0.1, 0.2):
            assert serving.ask({"seconds": seconds})["trial"]["seconds"] == seconds
        process = serving._process
    assert process.returncode == 0


def test_an_answer_in_pieces(tmp_path: Path, stopped: Stopped) -> None:
    assert len(ask(tmp_path, stopped, "pieces")["long"]) == 100000


def test_a_refused_request_is_a_mistake_and_the_program_goes_on(
    tmp_path: Path, stopped: Stopped
) -> None:
    with trials.server(program(tmp_path), tmp_path, stopped) as serving:
        with pytest.raises(MistakeError, match=r"^rate: found -1, allowed: 0 and more$"):
            serving.ask({"seconds": 0.1, "do": "refuse"})
        assert serving.ask({"seconds": 0.1})["trial"]


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("die", "vcmts-fake ended with status 3; its messages are above"),
        ("killed", "vcmts-fake ended with status -9"),
        ("talk", "vcmts-fake answered b'hello'"),
        ("list", "no JSON object"),
        ("other", "without the key trial"),
    ],
)
def test_trouble(
    do: str, message: str, tmp_path: Path, stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TroubleError, match=message):
        ask(tmp_path, stopped, do)
    assert capsys.readouterr().err == ("out of memory\n" if do == "die" else "")


def test_no_answer(tmp_path: Path, stopped: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "ANSWER_SECONDS", 0.2)
    with pytest.raises(TroubleError, match="did not answer within 0 s"):
        ask(tmp_path, stopped, "sleep")


def test_a_program_that_finds_a_mistake_at_its_start(
    tmp_path: Path, stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vcmts-fake"
    path.write_text("#!/bin/sh\necho 'vcmts-fake: --core: found 99' >&2\nexit 2\n")
    path.chmod(0o755)
    with (
        pytest.raises(MistakeError, match="found a mistake"),
        trials.server([str(path)], tmp_path, stopped),
    ):
        pass
    assert capsys.readouterr().err == "vcmts-fake: --core: found 99\n"


def test_a_program_that_is_never_ready(
    tmp_path: Path, stopped: Stopped, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vcmts-fake"
    path.write_text("#!/bin/sh\nexec sleep 3600\n")
    path.chmod(0o755)
    with monkeypatch.context() as impatient:
        impatient.setattr(trials, "START_SECONDS", 0.2)
        with (
            pytest.raises(TroubleError, match="did not answer"),
            trials.server([str(path)], tmp_path, stopped),
        ):
            pass
    with (
        pytest.raises(TroubleError, match="no key ready"),
        trials.server(program(tmp_path, "dict(hello=1)"), tmp_path, stopped),
    ):
        pass


def test_a_bad_end_is_said(
    tmp_path: Path, stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    with trials.server(program(tmp_path, status=4), tmp_path, stopped) as serving:
        serving.ask({"seconds": 0.1})
    assert "vcmts: vcmts-fake ended with status 4" in capsys.readouterr().err


def test_a_signal_ends_a_trial(tmp_path: Path, stopped: Stopped) -> None:
    with pytest.raises(StopError):
        ask(tmp_path, stopped, "interrupt")
    assert stopped.asked


def test_a_program_that_does_not_end_is_killed(
    tmp_path: Path,
    stopped: Stopped,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(trials, "STOP_SECONDS", 0.2)
    path = tmp_path / "vcmts-fake"
    path.write_text("#!/bin/sh\necho '{\"ready\": true}'\nexec sleep 3600\n")
    path.chmod(0o755)
    with trials.server([str(path)], tmp_path, stopped) as serving:
        process = serving._process
    assert process.returncode == -9
    assert "did not end by itself" in capsys.readouterr().err
