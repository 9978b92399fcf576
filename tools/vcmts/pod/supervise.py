# SPDX-License-Identifier: BSD-3-Clause
"""Supervises vcmtsd: reloads changed files, handles signals, drains at the end."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.pod import drain, mounted
from vcmts.pod.child import Child, ready
from vcmts.pod.mounted import FileStates
from vcmts.pod.render import RefusedError as WrongFilesError
from vcmts.pod.render import Rendered, Source, rendered, write
from vcmts.pod.voice import Voice

CHECK_S = 1.0  # between two checks for changed files
REFUSED = -32000  # JSON-RPC error: the change was refused, nothing was changed
RELOAD_S = 120.0  # timeout: tables of many modems take long
END_S = 10.0  # from SIGTERM to SIGKILL; the grace period must exceed --drain by more
STOPS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(BaseException):
    """A signal asks to stop. A BaseException, so that no handler of errors catches it."""


@dataclass
class Signals:
    """The signals received so far. `wake` becomes readable with each."""

    wake: socket.socket
    stops: int = 0
    reload: bool = False
    interrupts: bool = False  # a stop raises StoppedError

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if number in STOPS:
            self.stops += 1
            self.interrupt()
        elif number == signal.SIGHUP:
            self.reload = True

    def interrupt(self) -> None:
        """Raises StoppedError after a stop, but only once, so as not to interrupt the cleanup."""
        if self.interrupts and self.stops:
            self.interrupts = False
            raise StoppedError

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """A context of long work that a stop, also an earlier one, interrupts with StoppedError."""
        try:
            self.interrupts = True
            self.interrupt()
            yield
        finally:
            self.interrupts = False

    def forget(self) -> None:
        with suppress(BlockingIOError):
            while self.wake.recv(4096):
                pass


@contextmanager
def caught() -> Iterator[Signals]:
    """Installs handlers for the context. The first process of a container gets only signals that it
    has a handler for, so SIGCHLD needs one too."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    signals = Signals(reader)
    numbers = (*STOPS, signal.SIGHUP, signal.SIGCHLD)
    before = {number: signal.signal(number, signals.on_signal) for number in numbers}
    wakes = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(wakes)
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()


@dataclass
class Pod:
    """The state of the supervision."""

    source: Source
    folders: list[Path]  # watched for changes
    control: Path
    drain_s: float
    voice: Voice
    now: Rendered  # in service
    seen: FileStates  # state of the mounted files at the last reload
    clock: Callable[[], float] = time.monotonic
    checked_at: float = 0.0  # time of the last check for changed files
    certain: bool = True  # `now` is known to be in service
    asked_to_end: float = 0.0  # time of SIGTERM

    def changed(self) -> bool:
        """Whether mounted files have changed; checks once per CHECK_S."""
        if self.clock() - self.checked_at < CHECK_S:
            return False
        self.checked_at = self.clock()
        return mounted.file_states(self.folders) != self.seen

    def is_in_service(self, following: Rendered) -> bool:
        """Whether a rendering equals the one in service: the change concerned other pods only."""
        then, now = following, self.now
        return self.certain and (then.text, then.contents) == (now.text, now.contents)

    def update(self, *, forced: bool = False) -> None:
        """Reloads the mounted files if they differ, or if `forced`. Invalid files change
        nothing."""
        self.seen = mounted.file_states(self.folders)
        try:
            following = rendered(self.source, self.now.placement)
            if forced or not self.is_in_service(following):
                self.reload(following)
        except WrongFilesError as wrong:
            for mistake in wrong.mistakes:
                self.voice.say("error", mistake)
            self.refused(mistakes_text(len(wrong.mistakes)))
        except OSError as error:
            self.voice.say("error", f"{error.filename}: {error.strerror}")
            self.refused("nothing was changed")
        except Exception as error:  # no file may stop the service
            self.voice.say("error", unforeseen(error))
            self.refused("nothing was changed")

    def refused(self, what: str) -> None:
        """Reports a refused change; vcmtsd counts it in vcmts_changes_total{result="refused"}."""
        self.voice.say("error", f"{self.source.config}: refused: {what}")
        with suppress(OSError, ClosedError, RefusedError, ValueError):
            self.call("config.refuse")

    def call(self, method: str) -> dict[str, object]:
        with Client(self.control, timeout=RELOAD_S) as client:
            answer: dict[str, object] = client.call(method)
        return answer

    def reload(self, following: Rendered) -> None:
        """Writes the file and has vcmtsd reload it. After a refusal, restores the old file."""
        try:
            write(self.source.written, following.text)
            self.call("config.reload")
        except RefusedError as error:
            if error.code != REFUSED:  # such as no memory for the answer: it may be applied
                self.retry_later(error)
                return
            write(self.source.written, self.now.text)
            self.voice.say("error", f"{self.source.config}: refused: nothing was changed")
        except (OSError, ClosedError, ValueError) as error:
            self.retry_later(error)
        else:
            self.now = following
            self.certain = True

    def retry_later(self, error: Exception) -> None:
        """Handles a reload whose result is unknown: the next check repeats it."""
        self.voice.say("error", f"{self.source.config}: reload failed: {error}")
        self.seen = ()
        self.certain = False

    def end(self, child: Child, signals: Signals) -> None:
        """Drains all groups, then sends SIGTERM. A second stop signal ends the draining."""
        stops = signals.stops
        self.voice.say(
            "notice", f"stopping: draining all service groups for up to {self.drain_s:g} s"
        )

        def go_on() -> bool:
            child.reap()
            return signals.stops == stops and child.status is None

        try:
            pending = drain.drain_all(self.control, self.drain_s, go_on)
        except (OSError, ClosedError, RefusedError, ValueError) as error:
            self.voice.say("warning", f"not drained: {error}")
        else:
            self.voice.say(
                "warning" if drain.moves(pending) else "notice", drain.result_text(pending)
            )
        child.send(signal.SIGTERM)
        self.asked_to_end = self.clock()

    def overdue(self, child: Child) -> None:
        """Kills vcmtsd END_S after SIGTERM, with a message; the kubelet would do so without one."""
        if child.status is None and self.clock() - self.asked_to_end > END_S:
            self.voice.overdue = f"vcmtsd did not end within {END_S:g} s of SIGTERM: killed"
            child.send(signal.SIGKILL)

    def serve(self, child: Child, signals: Signals) -> int:
        """Runs until vcmtsd has ended. Returns its status, negative for a signal."""
        stopping = False
        while child.status is None:
            files = [signals.wake.fileno()] + ([child.pipe()] if child.open else [])
            for file in ready(files, CHECK_S):
                if file == signals.wake.fileno():
                    signals.forget()
                else:
                    child.pass_on()
            child.reap()
            if stopping:
                self.overdue(child)
            if stopping or child.status is not None:
                continue
            if signals.stops:
                stopping = True
                self.end(child, signals)
            elif signals.reload or self.changed():
                forced, signals.reload = signals.reload, False
                with suppress(StoppedError), signals.interrupting():
                    self.update(forced=forced)
        child.finish()
        asked_for = signals.stops > 0 and child.status == -signal.SIGTERM
        return 0 if asked_for else child.status  # SIGTERM came before it had a handler


def unforeseen(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def mistakes_text(count: int) -> str:
    return f"{count} error{'' if count == 1 else 's'}, nothing was changed"
