# SPDX-License-Identifier: BSD-3-Clause
"""The interactive loop of `vcmts top`: draws screens, handles keys, signals and answers."""

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty
from types import FrameType

from rich.console import Console, Group
from rich.control import Control
from rich.screen import Screen

from vcmts.top import model, modems, screens
from vcmts.top.keys import Keys, unbuffered
from vcmts.top.screens import Scene, Terminal
from vcmts.top.source import Connect, Ended, Failed, Reply, Request, Source
from vcmts.top.view import Level, View, press_key

LATE_S = 2.0  # an answer that is later than interval + LATE_S is reported
TICK_S = 1.0  # s between checks for a late answer
SIZE = (80, 24)  # columns and lines of a terminal of unknown size


def size_of(fd: int) -> tuple[int, int]:
    try:
        found = os.get_terminal_size(fd)
    except OSError:
        return SIZE
    return (found.columns or SIZE[0], found.lines or SIZE[1])


def request_of(view: View) -> Request:
    if view.level is Level.MODEM:
        return Request(view.group, modem=view.modem)
    if view.level is Level.MODEMS:
        return Request(view.group, modems=True)
    return Request()


@dataclass
class Answers:
    """The last answer and the one before, from which rates are calculated."""

    reply: Reply | None = None
    before: Reply | None = None

    def add(self, reply: Reply) -> None:
        self.before, self.reply = self.reply or reply, reply

    def scene(self, scene: Scene) -> Scene:
        """The scene with the answers' figures; modems only if the answer has those of the view."""
        if self.reply is None or self.before is None:
            return scene
        figures = model.figures(self.before.server, self.reply.server)
        scene = replace(scene, figures=figures, modems=None, flows=None)
        after = self.reply.modems
        if after is None or self.reply.request != request_of(scene.view):
            return scene
        same = self.before.request == self.reply.request and self.before.modems is not None
        before = self.before.modems if same and self.before.modems is not None else after
        scene = replace(scene, modems=modems.modems(before, after))
        if self.reply.request.modem:
            scene = replace(scene, flows=modems.flows(before, after, self.reply.request.modem))
        return scene


class Top:
    """The live view of a vcmtsd, until the user quits or vcmtsd ends."""

    def __init__(self, connect: Connect, scene: Scene, console: Console) -> None:
        self.scene, self.console = scene, console
        self.ended: str | None = None  # why vcmtsd gives no more answers; None: it does
        self._memory = Answers()
        self._wake_reader, self._wake_writer = os.pipe()
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        self._source = Source(connect, scene.interval, self._wake)
        self._stop = False
        self._trouble = ""  # problem with the last answer

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # the pipe is full, so the loop will wake
            os.write(self._wake_writer, b"\0")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stop |= number != signal.SIGWINCH

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Installs handlers: each signal wakes the loop; all but SIGWINCH end it."""
        numbers = (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        fd = signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _process_events(self) -> bool:
        """Processes events. Returns whether the screen changes; paused: only for a new view."""
        changed_view = False
        while True:
            try:
                event = self._source.events.get_nowait()
            except Empty:
                return changed_view
            if isinstance(event, Ended):
                self.ended = event.why
                continue
            self._trouble = event.trouble
            if isinstance(event, Failed):
                continue
            reply = self._memory.reply
            if not self.scene.view.paused or reply is None or reply.request != event.request:
                self._memory.add(event)
                changed_view = True

    def _update_trouble(self) -> bool:
        """Updates the problem that the screen shows. Returns whether it changed."""
        trouble, since = self._trouble, self._source.since
        late = 0.0 if since is None else time.monotonic() - since
        if late > self.scene.interval + LATE_S:
            trouble = f"no answer for {late:.0f} s"
        changed = trouble != self.scene.trouble
        self.scene = replace(self.scene, trouble=trouble)
        return changed

    def _press(self, names: list[str]) -> None:
        for key in names:
            view = press_key(self.scene.view, key, screens.shown(self.scene))
            self.scene = replace(self.scene, view=view)
            self._source.set_request(request_of(view))

    def _draw(self) -> None:
        terminal = Terminal(*size_of(self.console.file.fileno()), blocks=blocks(self.console))
        self.console.size = (terminal.width, terminal.height)
        if self.console.is_dumb_terminal:
            for line in [*screens.screen(self.scene, terminal, hints=False), ""]:
                self.console.print(line, markup=False, highlight=False)
            return
        drawn = screens.screen(self.scene, terminal)
        with self.console:  # one write
            self.console.control(Control.home())
            self.console.print(Screen(Group(*drawn)), end="")

    def _loop(self, keys: Keys | None) -> str:
        """Runs until a key or signal ends it. Returns "suspend" or "end"."""
        while True:
            self._draw()
            changed = False
            while not changed:
                fds = [self._wake_reader] + (
                    [keys.fd] if keys is not None and not keys.ended else []
                )
                ready = select.select(fds, [], [], TICK_S)[0]
                if self._wake_reader in ready:
                    changed |= any(os.read(self._wake_reader, 4096))  # signal numbers; 0: an event
                changed |= self._process_events()
                changed |= self._update_trouble()
                if keys is not None and keys.fd in ready:
                    names = keys.read()
                    self._press(names)
                    changed = True
                    if "suspend" in names:
                        return "suspend"
                if self.scene.view.quit or self._stop or self.ended is not None:
                    return "end"
            self.scene = self._memory.scene(self.scene)

    def run(self) -> None:
        """Runs the view; sets `ended` if vcmtsd ended."""
        keys = Keys(sys.stdin.fileno()) if sys.stdin.isatty() else None
        self._source.set_request(request_of(self.scene.view))
        self._source.start()
        with self._signals():
            while self._once_on_screen(keys) == "suspend":
                os.kill(os.getpid(), signal.SIGSTOP)

    def _once_on_screen(self, keys: Keys | None) -> str:
        with ExitStack() as stack:
            if keys is not None:
                stack.enter_context(unbuffered(keys.fd))
            if not self.console.is_dumb_terminal:
                stack.enter_context(self.console.screen())
            return self._loop(keys)


def blocks(console: Console) -> bool:
    return not console.options.ascii_only and not console.is_dumb_terminal
