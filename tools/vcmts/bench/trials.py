# SPDX-License-Identifier: BSD-3-Clause
"""Trials: a program that sends for a while at a rate, and says what came of it.

One JSON object a line goes to its stdin, one comes back by its stdout; the first line that it says
is what it runs on. What it says on stderr is shown when it ends without being asked to.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from vcmts.child import Stopped, converse
from vcmts.jsons import Json
from vcmts.paths import MistakeError, complain

START_SECONDS = 600.0  # tables of 30,000 modems take a minute
# Beside what a trial lasts: to fill and to drain the data plane, on a machine with other work.
ANSWER_SECONDS = 30.0
STOP_SECONDS = 10.0
LOOK_SECONDS = 0.2  # between two looks whether a signal came
MISTAKE = 2
LONGEST_LINE = 1 << 26


class StopError(Exception):
    """A signal asked to stop."""


class TroubleError(Exception):
    """A program ended, or does not answer: nobody's mistake. One line."""


class Server:
    """A program that makes trials, and the line of talk with it."""

    def __init__(
        self, name: str, process: subprocess.Popen[bytes], said: IO[bytes], stopped: Stopped
    ) -> None:
        self.name, self.ready = name, Json()
        self._process, self._said, self._stopped = process, said, stopped
        self._got = b""
        self._asked = False  # and not yet answered

    def messages(self) -> str:
        """What it said on stderr."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def _ended(self) -> Exception:
        """Why no more comes from it."""
        try:
            status = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return TroubleError(f"{self.name} closed its output, and goes on")
        print(self.messages(), end="", file=sys.stderr)
        if status == MISTAKE:
            return MistakeError(f"{self.name} found a mistake, which is told above")
        return TroubleError(f"{self.name} ended with status {status}; its messages are above")

    def line(self, seconds: float) -> Json:
        """The next one that it says."""
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        deadline = time.monotonic() + seconds
        while b"\n" not in self._got:
            if self._stopped.asked:
                raise StopError
            if time.monotonic() > deadline:
                raise TroubleError(f"{self.name} did not answer within {seconds:.0f} s")
            if select.select([out], [], [], LOOK_SECONDS)[0]:
                got = os.read(out, 65536)
                if not got:
                    raise self._ended()
                self._got += got
            if len(self._got) > LONGEST_LINE:
                raise TroubleError(f"{self.name} answers without an end")
        text, self._got = self._got.split(b"\n", 1)
        try:
            answer: Json = json.loads(text)
        except ValueError as error:
            raise TroubleError(f"{self.name} answered {text[:80]!r}: {error}") from error
        if not isinstance(answer, dict):
            raise TroubleError(f"{self.name} answered {text[:80]!r}: no JSON object")
        return answer

    def ask(self, request: Json) -> Json:
        """The answer to a request. Raises MistakeError with what the program says is wrong with it,
        TroubleError where there is no answer, StopError when a signal came."""
        self.begin(request)
        return self.answer(request)

    def begin(self, request: Json) -> None:
        """Asks, and does not wait: the answer to the same request is due next."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        self._asked = True

    def answer(self, request: Json) -> Json:
        answer = self.line(ANSWER_SECONDS + 2 * request["seconds"])
        self._asked = False
        if "error" in answer:
            raise MistakeError(answer["error"])
        if "trial" not in answer:
            raise TroubleError(f"{self.name} answered without the key trial")
        return answer

    def stop(self) -> None:
        """At the end of its input it ends by itself, in the midst of a trial by a signal."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        if at_once := self._asked or not self.ready:
            self._process.terminate()
        try:
            status = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            complain(f"{self.name} did not end by itself")
            return
        if status != 0 and not at_once:
            print(self.messages(), end="", file=sys.stderr)
            complain(f"{self.name} ended with status {status}; its messages are above")


@contextmanager
def server(command: Sequence[str], place: Path, stopped: Stopped) -> Iterator[Server]:
    """The program, ready for requests; its messages go to a file in `place`."""
    name = Path(command[0]).name
    with (place / f"{name}.said").open("w+b") as said:
        process = converse(command, said)
        serving = Server(name, process, said, stopped)
        try:
            serving.ready = serving.line(START_SECONDS)
            if not serving.ready.get("ready"):
                raise TroubleError(f"{name}: its first line has no key ready")
            yield serving
        finally:
            serving.stop()
