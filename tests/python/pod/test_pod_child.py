# SPDX-License-Identifier: BSD-3-Clause
"""Tests that lines of vcmtsd and of `vcmts pod` do not mix in a container's log, and that errors of
vcmtsd are kept for the termination message."""

import os
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from vcmts.pod import child
from vcmts.pod.child import Child
from vcmts.pod.voice import Voice

ERROR = '{"level":"error","message":"port x: no driver"}'  # of vcmtsd with JSON logs


class ChildStub(Child):
    """A child without a process: a pipe takes the place of vcmtsd's stderr."""

    def __init__(self) -> None:
        reader, self.writer = os.pipe()
        os.set_blocking(reader, False)
        stderr = os.fdopen(reader, "rb")
        process = cast("subprocess.Popen[bytes]", SimpleNamespace(stderr=stderr))
        super().__init__(process, Voice(True))
        self.close = stderr.close

    def write(self, text: str) -> None:
        """Writes to the pipe as vcmtsd would, and passes on the complete lines."""
        os.write(self.writer, text.encode())
        self.pass_on()


@pytest.fixture
def stub() -> Iterator[ChildStub]:
    stub = ChildStub()
    yield stub
    stub.close()
    if stub.open:
        os.close(stub.writer)


def test_own_line_does_not_split_a_line_of_vcmtsd(
    stub: ChildStub, capfd: pytest.CaptureFixture[str]
) -> None:
    stub.write("first\n" + ERROR[:20])
    stub.pass_on()  # no more data yet
    stub.voice.say("notice", "ours")
    stub.write(ERROR[20:] + "\n")
    first, own_line, error = capfd.readouterr().err.splitlines()
    assert first == "first" and own_line.startswith("{") and '"ours"' in own_line and error == ERROR
    assert stub.voice.errors == ["first", "port x: no driver"]


def test_partial_line_is_printed_when_the_pipe_closes(
    stub: ChildStub, capfd: pytest.CaptureFixture[str]
) -> None:
    stub.write("cut sho")
    os.close(stub.writer)
    stub.finish()
    assert not stub.open
    assert capfd.readouterr().err == "cut sho\n" and stub.voice.errors == ["cut sho"]


def test_partial_line_is_printed_once_if_another_process_has_the_pipe(
    stub: ChildStub, capfd: pytest.CaptureFixture[str]
) -> None:
    """vcmtsd has ended, but a process that it started still has its stderr."""
    stub.write("cut sho")
    stub.finish()
    stub.finish()
    assert stub.open
    assert capfd.readouterr().err == "cut sho\n" and stub.voice.errors == ["cut sho"]


def test_long_line_is_printed_in_pieces(
    stub: ChildStub, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LINE_MOST limits the memory for a line that does not end."""
    monkeypatch.setattr(child, "LINE_MOST", 8)
    stub.write("12345678")
    assert capfd.readouterr().err == ""
    stub.write("9")
    stub.write("end\n")
    assert capfd.readouterr().err == "123456789\nend\n"
    assert stub.voice.errors == ["123456789", "end"]
