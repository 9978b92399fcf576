# SPDX-License-Identifier: BSD-3-Clause
"""Tests how a container's first process applies or refuses changed files."""

import os
import resource
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
class RecordingPod(Pod):
    """A pod without a vcmtsd. Records the methods that it calls."""

    methods: list[str] = field(default_factory=list)
    silent: bool = False
    error: Exception | None = None

    def call(self, method: str) -> dict[str, object]:
        self.methods.append(method)
        if self.silent:
            raise TimeoutError("timed out")
        if self.error is not None:
            raise self.error
        return {}


def source(folder: Path, **environment: str) -> Source:
    core = frozenset({0})
    machine = Machine(core, core, core, core, None, None, {}, ())
    run = folder / "run"
    run.mkdir(exist_ok=True)
    return Source(
        folder / "vcmts.yaml", run / "vcmts.yaml", machine, Files(folder), environment, assign=False
    )


@pytest.fixture
def pod(tmp_path: Path) -> RecordingPod:
    control = tmp_path / "control.sock"
    return RecordingPod(source(tmp_path), [tmp_path], control, 1.0, Voice(False), NOW, ())


def mount(monkeypatch: pytest.MonkeyPatch, result: Rendered | Exception) -> None:
    """Makes rendering the mounted files return the result, or raise it."""

    def rendered(*_: Any) -> Rendered:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(supervise, "rendered", rendered)


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("a\nb"), KeyError("x")])
def test_invalid_file_keeps_configuration(
    pod: RecordingPod,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mount(monkeypatch, error)
    pod.update()
    assert pod.methods == ["config.refuse"] and pod.now is NOW
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[1].endswith("refused: nothing was changed")
    assert lines[0].startswith(f"vcmts pod: {type(error).__name__}: ")


def test_same_result_is_not_reloaded(pod: RecordingPod, monkeypatch: pytest.MonkeyPatch) -> None:
    mount(monkeypatch, replace(NOW, facts={"other": 1}))
    pod.update()
    assert pod.methods == []
    assert pod.seen == mounted.file_states(pod.folders)
    pod.update(forced=True)
    assert pod.methods == ["config.reload"]
    mount(monkeypatch, replace(NOW, contents=("2",)))
    pod.update()
    assert pod.methods == ["config.reload"] * 2 and pod.now.contents == ("2",)
    mount(monkeypatch, replace(NOW, text="name: y\n", contents=("2",)))
    pod.update()
    assert pod.methods == ["config.reload"] * 3 and pod.now.text == "name: y\n"


def test_missing_answer_reloads_again(pod: RecordingPod, monkeypatch: pytest.MonkeyPatch) -> None:
    pod.silent = True
    mount(monkeypatch, replace(NOW, text="name: y\n"))
    pod.update()
    pod.silent = False
    mount(monkeypatch, NOW)
    pod.update()
    assert pod.methods == ["config.reload"] * 2
    pod.update()
    assert len(pod.methods) == 2


@pytest.mark.parametrize(("code", "reloads"), [(-32000, 1), (-32603, 2)])
def test_refused_reload_is_not_a_lost_answer(
    pod: RecordingPod, monkeypatch: pytest.MonkeyPatch, code: int, reloads: int
) -> None:
    pod.error = RefusedError(code, "the request was done, but no memory is left for the result")
    mount(monkeypatch, replace(NOW, text="name: y\n"))
    pod.update()
    assert pod.certain == (code == -32000) and pod.now is NOW
    refused = pod.source.written.read_text(encoding="utf-8") == NOW.text
    assert refused == (code == -32000)
    pod.error = None
    mount(monkeypatch, NOW)
    pod.update()
    assert pod.methods == ["config.reload"] * reloads and pod.certain


def accept_checks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Makes `vcmtsd check` succeed. Returns mode and text of the files that it checked."""
    checked: list[tuple[int, str]] = []

    def run(command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        trial = Path(command[-1])
        checked.append((stat.S_IMODE(trial.stat().st_mode), trial.read_text(encoding="utf-8")))
        return subprocess.CompletedProcess(command, 0, '{"placement": {"refused": []}}', "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(render, "program", lambda name: name)
    return checked


def test_trial_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = accept_checks(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text("name: x\n")
    before = os.umask(0o022)
    try:
        render.rendered(source(tmp_path))
    finally:
        os.umask(before)
    assert checked == [(0o600, "name: x\n")]
    assert list((tmp_path / "run").iterdir()) == []


def test_byte_order_mark_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_checks(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text("\ufeffname: ${A}\nb: 1\n", encoding="utf-8")
    assert render.rendered(source(tmp_path, A="abc")).text == "name: abc\nb: 1\n"


def test_group_files_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_checks(monkeypatch)
    (tmp_path / "vcmts.yaml").write_text(
        "service_groups: [{file: a.yaml}, {file: b.yaml}, {name: x}]\n"
    )
    results = []
    for a, b, other in (("1", "2", "3"), ("1", "2", "4"), ("1", "5", "4")):
        for name, text in (("a.yaml", a), ("b.yaml", b), ("c.yaml", other)):
            (tmp_path / name).write_text(text)
        results.append(render.rendered(source(tmp_path)))
    assert results[0] == results[1] and results[1].contents[0] == results[2].contents[0]
    assert results[1].contents[1] != results[2].contents[1]


def test_invalid_file_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vcmts.yaml").write_text('service_groups:\n  - {file: "a\\0b"}\n')
    with pytest.raises(render.RefusedError) as error:
        render.rendered(source(tmp_path))
    assert error.value.mistakes[0].startswith("vcmts.yaml:2: file: ")
    assert ": embedded null byte; is the Secret or ConfigMap" in error.value.mistakes[0]


PROFILE = "1ofdm-0sc-qam_1cms_aes"


def test_interrupted_start_leaves_no_part_of_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restarted container finds the folder of the killed one, and keeps the profiles in it."""
    accept_checks(monkeypatch)
    path = tmp_path / "run" / "profiles" / PROFILE / "sg-1.yaml"
    text = f"service_groups:\n  - {{service_group: 1, file: {path}}}\n"
    (tmp_path / "vcmts.yaml").write_text(text)
    made = source(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            render.rendered(made)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not path.exists()
    render.rendered(made)
    assert path.stat().st_size > 1000
