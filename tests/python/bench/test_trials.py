# SPDX-License-Identifier: BSD-3-Clause
"""Programs that make trials: good ones, ones that die, ones that say nothing."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vcmts.bench import trials
from vcmts.bench.trials import StopError, TroubleError
from vcmts.child import Stopped, stoppable
from vcmts.jsons import Json
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


@dataclass
class Trying:
    """Programs in a folder of the test's own, and a signal that may come."""

    folder: Path
    stopped: Stopped

    def program(self, script: str = "", ready: str = "dict(ready=True)", status: int = 0) -> Path:
        """That answers; or another one, a script of the shell's."""
        path = self.folder / "vcmts-fake"
        text = PROGRAM.format(python=sys.executable, ready=ready, status=status)
        path.write_text(f"#!/bin/sh\n{script}\n" if script else text)
        path.chmod(0o755)
        return path

    def server(self, script: str = "", **how: Any) -> AbstractContextManager[trials.Server]:
        return trials.server([str(self.program(script, **how))], self.folder, self.stopped)

    def ask(self, do: str) -> Json:
        with self.server() as serving:
            return serving.ask({"seconds": 0.1, "do": do})


@pytest.fixture
def trying(tmp_path: Path) -> Iterator[Trying]:
    with stoppable() as stopped:
        yield Trying(tmp_path, stopped)


Said = pytest.CaptureFixture[str]


def test_one_request_one_answer(trying: Trying) -> None:
    with trying.server(ready="dict(ready=True, host=dict(cpu='A core'))") as serving:
        assert serving.ready["host"] == {"cpu": "A core"}
        for seconds in (0.1, 0.2):
            assert serving.ask({"seconds": seconds})["trial"]["seconds"] == seconds
        process = serving._process
    assert process.returncode == 0


def test_an_answer_in_pieces(trying: Trying) -> None:
    assert len(trying.ask("pieces")["long"]) == 100000


def test_a_refused_request_is_a_mistake_and_the_program_goes_on(trying: Trying) -> None:
    with trying.server() as serving:
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
def test_trouble(do: str, message: str, trying: Trying, capsys: Said) -> None:
    with pytest.raises(TroubleError, match=message):
        trying.ask(do)
    assert capsys.readouterr().err == ("out of memory\n" if do == "die" else "")


def test_no_answer(trying: Trying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "ANSWER_SECONDS", 0.2)
    with pytest.raises(TroubleError, match="did not answer within 0 s"):
        trying.ask("sleep")


def test_a_program_that_finds_a_mistake_at_its_start(trying: Trying, capsys: Said) -> None:
    script = "echo 'vcmts-fake: --core: found 99' >&2\nexit 2"
    with pytest.raises(MistakeError, match="found a mistake"), trying.server(script):
        pass
    assert capsys.readouterr().err == "vcmts-fake: --core: found 99\n"


def test_a_program_that_is_never_ready(trying: Trying, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TroubleError, match="no key ready"), trying.server(ready="dict(hello=1)"):
        pass
    monkeypatch.setattr(trials, "START_SECONDS", 0.2)
    never = trying.server("exec sleep 3600")
    with pytest.raises(TroubleError, match="did not answer"), never:
        pass


def test_a_bad_end_is_said(trying: Trying, capsys: Said) -> None:
    with trying.server(status=4) as serving:
        serving.ask({"seconds": 0.1})
    assert "vcmts: vcmts-fake ended with status 4" in capsys.readouterr().err


def test_a_signal_ends_a_trial(trying: Trying) -> None:
    with pytest.raises(StopError):
        trying.ask("interrupt")
    assert trying.stopped.asked


def test_a_program_that_does_not_end_is_killed(
    trying: Trying, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.setattr(trials, "STOP_SECONDS", 0.2)
    with trying.server("echo '{\"ready\": true}'\nexec sleep 3600") as serving:
        process = serving._process
    assert process.returncode == -9
    assert "did not end by itself" in capsys.readouterr().err
