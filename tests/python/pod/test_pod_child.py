# SPDX-License-Identifier: BSD-3-Clause
"""Lines of vcmtsd's in the log of a container, where ours stand too."""

import os
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from vcmts.pod import child
from vcmts.pod.child import Child
from vcmts.pod.voice import Voice

ERROR = '{"level":"error","message":"port x: no driver"}'


class Talking(Child):
    """Has no process: what that would say."""

    def __init__(self) -> None:
        reader, self.writer = os.pipe()
        os.set_blocking(reader, False)
        stderr = os.fdopen(reader, "rb")
        process = cast("subprocess.Popen[bytes]", SimpleNamespace(stderr=stderr))
        super().__init__(process, Voice(True))
        self.close = stderr.close

    def says(self, text: str) -> None:
        os.write(self.writer, text.encode())
        self.pass_on()


@pytest.fixture
def talking() -> Iterator[Talking]:
    made = Talking()
    yield made
    made.close()
    if made.open:
        os.close(made.writer)


def test_no_line_of_ours_stands_in_one_of_its(
    talking: Talking, capfd: pytest.CaptureFixture[str]
) -> None:
    talking.says("first\n" + ERROR[:20])
    talking.pass_on()  # nothing more as yet
    talking.voice.say("notice", "ours")
    talking.says(ERROR[20:] + "\n")
    first, ours, error = capfd.readouterr().err.splitlines()
    assert first == "first" and ours.startswith("{") and '"ours"' in ours and error == ERROR
    assert talking.voice.worst == ["first", "port x: no driver"]


def test_an_end_within_a_line(talking: Talking, capfd: pytest.CaptureFixture[str]) -> None:
    talking.says("cut sho")
    os.close(talking.writer)
    talking.finish()
    assert not talking.open
    assert capfd.readouterr().err == "cut sho\n" and talking.voice.worst == ["cut sho"]


def test_an_end_within_a_line_while_another_has_the_pipe(
    talking: Talking, capfd: pytest.CaptureFixture[str]
) -> None:
    talking.says("cut sho")
    talking.finish()
    talking.finish()
    assert talking.open
    assert capfd.readouterr().err == "cut sho\n" and talking.voice.worst == ["cut sho"]


def test_a_line_without_end_goes_on_in_pieces(
    talking: Talking, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "LINE_MOST", 8)
    talking.says("12345678")
    assert capfd.readouterr().err == ""
    talking.says("9")
    talking.says("end\n")
    assert capfd.readouterr().err == "123456789\nend\n"
    assert talking.voice.worst == ["123456789", "end"]
