# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd as a child of the container's first process: passes on its messages, and reaps it."""

import json
import os
import selectors
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vcmts.child import die_with_parent
from vcmts.pod.voice import Voice

PIECE = 65536
COUNTS = ("received", "transmitted", "dropped", "held")
LINE_MOST = 1 << 20  # bytes: a longer line is passed on in pieces


@dataclass
class Child:
    process: subprocess.Popen[bytes]
    voice: Voice
    status: int | None = None  # exit status, negative: a signal's number; None: it runs
    partial: bytes = b""  # an incomplete line
    open: bool = True  # its stderr
    reaped: list[int] = field(default_factory=list)  # IDs of orphans

    def pipe(self) -> int:
        assert self.process.stderr is not None, "start() opens a pipe"
        return self.process.stderr.fileno()

    def pass_on(self) -> None:
        """Passes on whole lines of the child's stderr; keeps an incomplete one."""
        try:
            piece = os.read(self.pipe(), PIECE)
        except BlockingIOError:
            return
        self.open = bool(piece)
        *lines, self.partial = (self.partial + piece).split(b"\n")
        self.write_lines(lines)
        if not self.open or len(self.partial) > LINE_MOST:
            self.write_partial()

    def write_lines(self, lines: list[bytes]) -> None:
        """Writes lines to stderr, and reports each to the voice."""
        left = b"".join(line + b"\n" for line in lines)
        with suppress(OSError):  # stderr is closed: continue without messages
            while left:
                left = left[os.write(2, left) :]
        for line in filter(None, lines):
            self.voice.record(line.decode(errors="replace"))

    def write_partial(self) -> None:
        if self.partial:
            self.write_lines([self.partial])
            self.partial = b""

    def reap(self) -> None:
        """Reaps all ended processes: the first process of a container is the parent of orphans."""
        while self.status is None:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.process.pid:
                self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
            else:
                self.reaped.append(pid)

    def send(self, number: int) -> None:
        if self.status is None:
            self.process.send_signal(number)

    def finish(self) -> None:
        """Passes on the last messages, even if another process still has the pipe open."""
        while self.open and ready([self.pipe()], 0.0):
            self.pass_on()
        self.write_partial()


def ready(files: Iterable[int], seconds: float) -> list[int]:
    """Waits up to `seconds` until files are readable; returns those that are."""
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        return [key.fd for key, _ in selector.select(seconds)]


def start(command: Sequence[str], cores: frozenset[int], voice: Voice, folder: str) -> Child:
    """Starts vcmtsd with affinity `cores` and RUNTIME_DIRECTORY `folder`."""

    def prepare() -> None:
        die_with_parent()
        os.sched_setaffinity(0, cores)

    process = subprocess.Popen(
        command,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        env=os.environ | {"RUNTIME_DIRECTORY": folder},
    )
    child = Child(process, voice)
    os.set_blocking(child.pipe(), False)
    return child


def reasons(drops: dict[str, int]) -> str:
    named = [f"{name} {packets}" for name, packets in drops.items() if packets]
    return f"; drops: {', '.join(named)}" if named else ""


def summary_lines(summary: Path) -> list[str]:
    """A line per group and direction, from the summary that vcmtsd writes; empty without one."""
    try:
        parsed = json.loads(summary.read_text(encoding="utf-8"))
        return [
            f"service group {group['id']} {direction}: "
            + ", ".join(f"{word} {group[direction][word]}" for word in COUNTS)
            + reasons(group[direction]["drops"])
            for group in parsed["groups"]
            for direction in ("downstream", "upstream")
            if group.get(direction) is not None
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def why_ended(status: int, voice: Voice) -> str:
    """Explains an exit status other than 0."""
    if status == -signal.SIGILL:
        return "vcmtsd ended by SIGILL: it was built for instructions that this node's CPU lacks"
    if voice.overdue:
        return voice.overdue
    if status == -signal.SIGKILL:
        return "vcmtsd was killed: did it exceed the pod's memory limit?"
    if status < 0:
        return f"vcmtsd ended by {signal.Signals(-status).name}"
    if not voice.errors:
        return f"vcmtsd ended with status {status}"
    return voice.errors[-1]  # libraries print theirs first


def exit_status(status: int) -> int:
    """The exit status of this process for that of vcmtsd."""
    return 128 - status if status < 0 else status
