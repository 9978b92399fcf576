# SPDX-License-Identifier: BSD-3-Clause
"""Makes trials with a program that sends at a rate for some time and reports the result.

The program reads a request per line from stdin, and writes an answer per line to stdout, both JSON
objects. Its first line describes the host. Its stderr is shown only if it fails.
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

from vcmts.child import Stopped, start_piped
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify

START_SECONDS = 600.0  # tables of 30,000 modems take a minute
# Timeout in addition to the duration of a trial: to fill and drain the data plane.
ANSWER_SECONDS = 30.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.2  # between two checks for a signal
MISTAKE = 2
LONGEST_LINE = 1 << 26


class StopError(Exception):
    """A signal asked to stop; the text says which (Stopped.text)."""


class ProgramError(Exception):
    """A program ended or does not answer; not the user's error. One line."""


class Server:
    """A program that makes trials, with its pipes. `ready`: its first line."""

    def __init__(
        self, name: str, process: subprocess.Popen[bytes], stderr: IO[bytes], stopped: Stopped
    ) -> None:
        self.name, self.ready = name, Json()
        self._process, self._stderr, self._stopped = process, stderr, stopped
        self._got = b""  # output that is not yet parsed
        self._asked = False  # a request is pending

    def messages(self) -> str:
        """The program's messages on stderr."""
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")

    def _ended(self) -> Exception:
        """The exception for the end of the program's output."""
        try:
            status = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return ProgramError(f"{self.name} closed its output, but still runs")
        print(self.messages(), end="", file=sys.stderr)
        if status == MISTAKE:
            return MistakeError(f"{self.name} found an error, which is printed above")
        return ProgramError(
            f"{self.name} ended with status {status}; its messages are printed above"
        )

    def line(self, seconds: float) -> Json:
        """Reads the next line, with a timeout. Raises as ask()."""
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        deadline = time.monotonic() + seconds
        while b"\n" not in self._got:
            if self._stopped.by_signal:
                raise StopError(self._stopped.text)
            if time.monotonic() > deadline:
                raise ProgramError(f"{self.name} did not answer within {seconds:.0f} s")
            if select.select([out], [], [], POLL_SECONDS)[0]:
                got = os.read(out, 65536)
                if not got:
                    raise self._ended()
                self._got += got
            if len(self._got) > LONGEST_LINE:
                raise ProgramError(
                    f"{self.name}: found an answer of more than {LONGEST_LINE} bytes"
                )
        text, self._got = self._got.split(b"\n", 1)
        try:
            answer: Json = json.loads(text)
        except ValueError as error:
            raise ProgramError(f"{self.name} answered {text[:80]!r}: {error}") from error
        if not isinstance(answer, dict):
            raise ProgramError(f"{self.name} answered {text[:80]!r}: not a JSON object")
        return answer

    def ask(self, request: Json) -> Json:
        """Sends a request and returns the answer. Raises MistakeError with the program's message
        for an invalid request, ProgramError without an answer, StopError after a signal."""
        self.begin(request)
        return self.answer(request)

    def begin(self, request: Json) -> None:
        """Sends a request. The caller must call answer() with the same request next."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        self._asked = True

    def answer(self, request: Json) -> Json:
        """Reads the answer to the request of begin(). Raises as ask()."""
        answer = self.line(ANSWER_SECONDS + 2 * request["seconds"])
        self._asked = False
        if "error" in answer:
            raise MistakeError(answer["error"])
        if "trial" not in answer:
            raise ProgramError(f"{self.name} answered without the key trial")
        return answer

    def stop(self) -> None:
        """Closes stdin, which ends the program; during a trial sends SIGTERM."""
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
            notify(f"{self.name} did not end within {STOP_SECONDS:.0f} s and was killed")
            return
        if status != 0 and not at_once:
            print(self.messages(), end="", file=sys.stderr)
            notify(f"{self.name} ended with status {status}; its messages are printed above")


@contextmanager
def start_server(command: Sequence[str], folder: Path, stopped: Stopped) -> Iterator[Server]:
    """Runs a program, ready for requests, in a context. Its messages go to a file in `folder`."""
    name = Path(command[0]).name
    with (folder / f"{name}.said").open("w+b") as stderr:
        process = start_piped(command, stderr)
        serving = Server(name, process, stderr, stopped)
        try:
            serving.ready = serving.line(START_SECONDS)
            if not serving.ready.get("ready"):
                raise ProgramError(f"{name}: the key ready is missing in its first line")
            yield serving
        finally:
            serving.stop()
