# SPDX-License-Identifier: BSD-3-Clause
"""While vcmtsd serves: other files are taken over, signals passed on, and it is ended gently."""

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
from vcmts.pod.mounted import Seen
from vcmts.pod.render import RefusedError as WrongFilesError
from vcmts.pod.render import Rendered, Source, rendered, write
from vcmts.pod.voice import Voice

LOOK_S = 1.0
REFUSED = -32000  # nothing was changed
RELOAD_S = 120.0  # tables of many modems take their time
END_S = 10.0  # between SIGTERM and SIGKILL: less than the grace period is longer than --drain
STOPS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(BaseException):
    """A signal asks for the end: no handler of mistakes takes it for one."""


@dataclass
class Signals:
    """What came since it was looked at; `wake` can be read then."""

    wake: socket.socket
    stops: int = 0
    reload: bool = False
    interrupts: bool = False  # what is being done, by a StoppedError

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if number in STOPS:
            self.stops += 1
            self.interrupt()
        elif number == signal.SIGHUP:
            self.reload = True

    def interrupt(self) -> None:
        """Once, so that what cleans up is not interrupted as well."""
        if self.interrupts and self.stops:
            self.interrupts = False
            raise StoppedError

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """What is done here may take longer than the grace period: a stop ends it by a
        StoppedError, also one that came before."""
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
    """All signals that concern us, SIGCHLD too, as the first process of a container gets those
    only that it has a handler for."""
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
    source: Source
    folders: list[Path]  # whose files are looked at
    control: Path
    drain_s: float
    voice: Voice
    now: Rendered  # in service
    seen: Seen
    clock: Callable[[], float] = time.monotonic
    looked: float = 0.0
    certain: bool = True  # that `now` is in service
    asked_to_end: float = 0.0

    def changed(self) -> bool:
        """Whether other files are mounted; looked at once a second."""
        if self.clock() - self.looked < LOOK_S:
            return False
        self.looked = self.clock()
        return mounted.seen(self.folders) != self.seen

    def same(self, following: Rendered) -> bool:
        """As what is in service: files changed that are other pods'."""
        then, now = following, self.now
        return self.certain and (then.text, then.contents) == (now.text, now.contents)

    def take(self, *, asked: bool = False) -> None:
        """Takes over what is mounted now, the same again only where it is asked for; what is wrong
        changes nothing."""
        self.seen = mounted.seen(self.folders)
        try:
            following = rendered(self.source, self.now.placing)
            if asked or not self.same(following):
                self.reload(following)
        except WrongFilesError as wrong:
            for mistake in wrong.mistakes:
                self.voice.say("error", mistake)
            self.refused(mistakes_text(len(wrong.mistakes)))
        except OSError as error:
            self.voice.say("error", f"{error.filename}: {error.strerror}")
            self.refused("all stays as it was")
        except Exception as error:  # no file may end what serves
            self.voice.say("error", unforeseen(error))
            self.refused("all stays as it was")

    def refused(self, what: str) -> None:
        """Counts it where it is seen: vcmts_changes_total{result="refused"}."""
        self.voice.say("error", f"{self.source.config}: refused: {what}")
        with suppress(OSError, ClosedError, RefusedError, ValueError):
            self.called("config.refuse")

    def called(self, method: str) -> dict[str, object]:
        with Client(self.control, timeout=RELOAD_S) as client:
            answer: dict[str, object] = client.call(method)
        return answer

    def reload(self, following: Rendered) -> None:
        """vcmtsd says itself what came of it. The file stays the one that is in service."""
        try:
            write(self.source.written, following.text)
            self.called("config.reload")
        except RefusedError as error:
            if error.code != REFUSED:  # no memory for the answer: it may have been done
                self.doubt(error)
                return
            write(self.source.written, self.now.text)
            self.voice.say("error", f"{self.source.config}: refused: all stays as it was")
        except (OSError, ClosedError, ValueError) as error:
            self.doubt(error)
        else:
            self.now = following
            self.certain = True

    def doubt(self, error: Exception) -> None:
        """Nobody knows whether it is in service: it is asked for once more, at the next look."""
        self.voice.say("error", f"{self.source.config}: not taken over: {error}")
        self.seen = ()
        self.certain = False

    def end(self, child: Child, signals: Signals) -> None:
        """Drains all groups, then ends vcmtsd. A second signal is a wish to wait no longer."""
        stops = signals.stops
        self.voice.say(
            "notice", f"stopping: all service groups drain, for at most {self.drain_s:g} s"
        )

        def go_on() -> bool:
            child.reap()
            return signals.stops == stops and child.status is None

        try:
            held = drain.drained(self.control, self.drain_s, go_on)
        except (OSError, ClosedError, RefusedError, ValueError) as error:
            self.voice.say("warning", f"not drained: {error}")
        else:
            self.voice.say("warning" if drain.moves(held) else "notice", drain.told(held))
        child.send(signal.SIGTERM)
        self.asked_to_end = self.clock()

    def overdue(self, child: Child) -> None:
        """The kubelet would kill us as well, without a word of why."""
        if child.status is None and self.clock() - self.asked_to_end > END_S:
            self.voice.overdue = f"vcmtsd did not end within {END_S:g} s of SIGTERM: killed"
            child.send(signal.SIGKILL)

    def serve(self, child: Child, signals: Signals) -> int:
        """Until vcmtsd has ended. Returns its status, negative for a signal."""
        stopping = False
        while child.status is None:
            files = [signals.wake.fileno()] + ([child.pipe()] if child.open else [])
            for file in ready(files, LOOK_S):
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
                asked, signals.reload = signals.reload, False
                with suppress(StoppedError), signals.interrupting():
                    self.take(asked=asked)
        child.finish()
        asked_for = signals.stops > 0 and child.status == -signal.SIGTERM
        return 0 if asked_for else child.status  # it had no handler yet


def unforeseen(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def mistakes_text(count: int) -> str:
    return f"{count} mistake{'' if count == 1 else 's'}, all stays as it was"
