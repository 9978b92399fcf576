# SPDX-License-Identifier: BSD-3-Clause
"""Tests the protocol of programs that run trials: they answer, refuse, die, or hang."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vcmts.bench import trials
from vcmts.bench.trials import ProgramError, StopError
from vcmts.child import Stopped, stoppable
from vcmts.jsons import Json
from vcmts.paths import MistakeError

# A program that answers by the key `do` of the request.
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
        print(json.dumps(dict(error="rate: found -1, allowed: 0 or more")), flush=True)
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


@dataclass
class Trials:
    """Starts programs in the folder of a test, and stops trials on a signal."""

    folder: Path
    stopped: Stopped

    def program(self, script: str = "", ready: str = "dict(ready=True)", status: int = 0) -> Path:
        """Writes PROGRAM, or a shell script instead."""
        path = self.folder / "vcmts-fake"
        text = PROGRAM.format(python=sys.executable, ready=ready, status=status)
        path.write_text(f"#!/bin/sh\n{script}\n" if script else text)
        path.chmod(0o755)
        return path

    def server(self, script: str = "", **options: Any) -> AbstractContextManager[trials.Server]:
        return trials.start_server(
            [str(self.program(script, **options))], self.folder, self.stopped
        )

    def ask(self, do: str) -> Json:
        with self.server() as serving:
            return serving.ask({"seconds": 0.1, "do": do})


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Trials]:
    with stoppable() as stopped:
        yield Trials(tmp_path, stopped)


Capture = pytest.CaptureFixture[str]


def test_requests_are_answered(programs: Trials) -> None:
    with programs.server(ready="dict(ready=True, host=dict(cpu='A core'))") as serving:
        assert serving.ready["host"] == {"cpu": "A core"}
        for seconds in (0.1, 0.2):
            assert serving.ask({"seconds": seconds})["trial"]["seconds"] == seconds
        process = serving._process
    assert process.returncode == 0


def test_answer_in_pieces_is_read(programs: Trials) -> None:
    assert len(programs.ask("pieces")["long"]) == 100000


def test_program_continues_after_refused_request(programs: Trials) -> None:
    with programs.server() as serving:
        with pytest.raises(MistakeError, match=r"^rate: found -1, allowed: 0 or more$"):
            serving.ask({"seconds": 0.1, "do": "refuse"})
        assert serving.ask({"seconds": 0.1})["trial"]


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("die", "vcmts-fake ended with status 3; its messages are printed above"),
        ("killed", "vcmts-fake ended with status -9"),
        ("talk", "vcmts-fake answered b'hello'"),
        ("list", "not a JSON object"),
        ("other", "without the key trial"),
    ],
)
def test_bad_answer_is_an_error(do: str, message: str, programs: Trials, capsys: Capture) -> None:
    with pytest.raises(ProgramError, match=message):
        programs.ask(do)
    assert capsys.readouterr().err == ("out of memory\n" if do == "die" else "")


def test_missing_answer_times_out(programs: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "ANSWER_SECONDS", 0.2)
    with pytest.raises(ProgramError, match="did not answer within 0 s"):
        programs.ask("sleep")


def test_error_at_start_is_reported(programs: Trials, capsys: Capture) -> None:
    script = "echo 'vcmts-fake: --core: found 99' >&2\nexit 2"
    with pytest.raises(MistakeError, match="found an error"), programs.server(script):
        pass
    assert capsys.readouterr().err == "vcmts-fake: --core: found 99\n"


def test_program_must_become_ready(programs: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(ProgramError, match="key ready is missing"),
        programs.server(ready="dict(hello=1)"),
    ):
        pass
    monkeypatch.setattr(trials, "START_SECONDS", 0.2)
    never = programs.server("exec sleep 3600")
    with pytest.raises(ProgramError, match="did not answer"), never:
        pass


def test_bad_exit_status_is_reported(programs: Trials, capsys: Capture) -> None:
    with programs.server(status=4) as serving:
        serving.ask({"seconds": 0.1})
    assert "vcmts: vcmts-fake ended with status 4" in capsys.readouterr().err


def test_signal_stops_a_trial(programs: Trials) -> None:
    with pytest.raises(StopError):
        programs.ask("interrupt")
    assert programs.stopped.by_signal


def test_hanging_program_is_killed(
    programs: Trials, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(trials, "STOP_SECONDS", 0.2)
    with programs.server("echo '{\"ready\": true}'\nexec sleep 3600") as serving:
        process = serving._process
    assert process.returncode == -9
    assert "did not end within" in capsys.readouterr().err
