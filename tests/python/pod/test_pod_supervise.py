# SPDX-License-Identifier: BSD-3-Clause
"""Files that change below the first process of a container, and how they are read."""

import os
import stat
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from vcmts.control.client import RefusedError
from vcmts.layout.machine import Machine
from vcmts.pod import mounted, render, supervise
from vcmts.pod.render import Rendered, Source
from vcmts.pod.supervise import Pod
from vcmts.pod.voice import Voice
from vcmts.system.files import Files

NOW = Rendered("name: x\n", {}, None, ("1",))


@dataclass
class Asked(Pod):
    """Has no vcmtsd: what that would be asked for."""

    methods: list[str] = field(default_factory=list)
    silent: bool = False
    error: Exception | None = None

    def called(self, method: str) -> dict[str, object]:
        self.methods.append(method)
        if self.silent:
            raise TimeoutError("timed out")
        if self.error is not None:
            raise self.error
        return {}


def source(place: Path, **environment: str) -> Source:
    core = frozenset({0})
    machine = Machine(core, core, core, core, None, None, {}, ())
    run = place / "run"
    run.mkdir(exist_ok=True)
    return Source(
        place / "vcmts.yaml", run / "vcmts.yaml", machine, Files(place), environment, place=False
    )


@pytest.fixture
def pod(tmp_path: Path) -> Asked:
    control = tmp_path / "control.sock"
    return Asked(source(tmp_path), [tmp_path], control, 1.0, Voice(False), NOW, ())


def mount(monkeypatch: pytest.MonkeyPatch, found: Rendered | Exception) -> None:
    def rendered(*_: Any) -> Rendered:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(supervise, "rendered", rendered)


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("a\nb"), KeyError("x")])
def test_no_file_ends_what_serves(
    pod: Asked,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mount(monkeypatch, error)
    pod.take()
    assert pod.methods == ["config.refuse"] and pod.now is NOW
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and said[1].endswith("refused: all stays as it was")
    assert said[0].startswith(f"vcmts pod: {type(error).__name__}: ")


def test_files_of_other_pods_change_nothing(pod: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    mount(monkeypatch, replace(NOW, facts={"other": 1}))
    pod.take()
    assert pod.methods == []
    assert pod.seen == mounted.seen(pod.folders)
    pod.take(asked=True)
    assert pod.methods == ["config.reload"]
    mount(monkeypatch, replace(NOW, contents=("2",)))
    pod.take()
    assert pod.methods == ["config.reload"] * 2 and pod.now.contents == ("2",)
    mount(monkeypatch, replace(NOW, text="name: y\n", contents=("2",)))
    pod.take()
    assert pod.methods == ["config.reload"] * 3 and pod.now.text == "name: y\n"


def test_without_an_answer_nobody_knows_what_is_in_service(
    pod: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod.silent = True
    mount(monkeypatch, replace(NOW, text="name: y\n"))
    pod.take()
    pod.silent = False
    mount(monkeypatch, NOW)  # as it was before
    pod.take()
    assert pod.methods == ["config.reload"] * 2
    pod.take()
    assert len(pod.methods) == 2


@pytest.mark.parametrize(("code", "asked"), [(-32000, 1), (-32603, 2)])
def test_a_refusal_is_told_from_an_answer_that_was_lost(
    pod: Asked, monkeypatch: pytest.MonkeyPatch, code: int, asked: int
) -> None:
    pod.error = RefusedError(code, "it was done, but no memory is left for the result")
    mount(monkeypatch, replace(NOW, text="name: y\n"))
    pod.take()
    assert pod.certain == (code == -32000) and pod.now is NOW
    refused = pod.source.written.read_text(encoding="utf-8") == NOW.text
    assert refused == (code == -32000)
    pod.error = None
    mount(monkeypatch, NOW)
    pod.take()
    assert pod.methods == ["config.reload"] * asked and pod.certain


def facts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """All is well with `vcmtsd check`; what it was given, with the rights."""
    given: list[tuple[int, str]] = []

    def run(command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        trial = Path(command[-1])
        given.append((stat.S_IMODE(trial.stat().st_mode), trial.read_text(encoding="utf-8")))
        return subprocess.CompletedProcess(command, 0, '{"placement": {"refused": []}}', "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(render, "program", lambda name: name)
    return given


def test_what_is_tried_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = facts(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text("name: x\n")
    before = os.umask(0o022)
    try:
        render.rendered(source(tmp_path))
    finally:
        os.umask(before)
    assert given == [(0o600, "name: x\n")]
    assert list((tmp_path / "run").iterdir()) == []


def test_a_byte_order_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text("\ufeffname: ${A}\nb: 1\n", encoding="utf-8")
    assert render.rendered(source(tmp_path, A="abc")).text == "name: abc\nb: 1\n"


def test_contents_of_groups_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text(
        "service_groups: [{file: a.yaml}, {file: b.yaml}, {name: x}]\n"
    )
    found = []
    for a, b, other in (("1", "2", "3"), ("1", "2", "4"), ("1", "5", "4")):
        for name, text in (("a.yaml", a), ("b.yaml", b), ("c.yaml", other)):
            (tmp_path / name).write_text(text)
        found.append(render.rendered(source(tmp_path)))
    assert found[0] == found[1] and found[1].contents[0] == found[2].contents[0]
    assert found[1].contents[1] != found[2].contents[1]


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "vcmts.yaml").write_text('service_groups:\n  - {file: "a\\0b"}\n')
    with pytest.raises(render.RefusedError) as wrong:
        render.rendered(source(tmp_path))
    assert wrong.value.mistakes[0].startswith("vcmts.yaml:2: file: ")
    assert ": embedded null byte; is the Secret or ConfigMap" in wrong.value.mistakes[0]
