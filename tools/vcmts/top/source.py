# SPDX-License-Identifier: BSD-3-Clause
"""Asks a vcmtsd, in a thread of its own: keys and screen do not wait for its answers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.control.metrics import METHOD, PartsError, complete
from vcmts.jsons import Json
from vcmts.top import model, modems
from vcmts.top.samples import Answer, OddAnswerError, answer_of

NO_SUCH_METHOD = -32601
RETRY_S = 0.2
Connect = Callable[[], Client]


@dataclass(frozen=True)
class Wish:
    """Beside the server: all modems of a group, or one of them."""

    group: str = ""
    modem: str = ""
    modems: bool = False

    def requests(self) -> list[tuple[str, Json]]:
        asked: list[tuple[str, Json]] = [(METHOD, {"names": list(model.NAMES)})]
        if self.modem:
            more: Json = {"modem": self.modem, "names": list(modems.NAMES)}
        elif self.modems:
            more = {"modems": True, "names": [modems.NAMES[0]]}
        else:
            return asked
        return [*asked, (METHOD, {"group": self.group, **more})]


@dataclass(frozen=True)
class Told:
    """`modems`: None: none were wished for, or they were refused for the reason in `trouble`."""

    wish: Wish
    server: Answer
    modems: Answer | None = None
    trouble: str = ""


@dataclass(frozen=True)
class Failed:
    """There was no answer this time."""

    trouble: str


@dataclass(frozen=True)
class Ended:
    """There will be none."""

    why: str


Event = Told | Failed | Ended


def answers_to(client: Client, wish: Wish) -> list[Any]:
    """Of each request all samples, or a RefusedError."""
    requests = wish.requests()
    answers = client.calls(requests)
    for index, (answer, (_, params)) in enumerate(zip(answers, requests, strict=False)):
        try:
            answers[index] = complete(client, answer, params)
        except RefusedError as refused:  # a group or a modem has gone meanwhile
            answers[index] = refused
    return answers


def ask(client: Client, wish: Wish) -> Told:
    """RefusedError, ClosedError, OSError or OddAnswerError where there is no answer."""
    try:
        answers = answers_to(client, wish)
    except PartsError as error:
        raise OddAnswerError(str(error)) from error
    except ValueError as error:  # no JSON
        raise OddAnswerError("what was answered is no JSON") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise OddAnswerError("what was answered is no JSON-RPC") from error
    if not answers:
        raise OddAnswerError("nothing was answered")
    if isinstance(answers[0], RefusedError):
        raise answers[0]
    server = answer_of(answers[0])
    if len(answers) < 2:
        return Told(wish, server)
    if isinstance(answers[1], RefusedError):
        return Told(wish, server, trouble=str(answers[1]))
    return Told(wish, server, answer_of(answers[1]))


@dataclass
class Source:
    """`wake` is called when there is something in `events`. `since`: when the request that is
    under way was made, by time.monotonic()."""

    connect: Connect
    interval: float
    wake: Callable[[], None]
    events: "SimpleQueue[Event]" = field(default_factory=SimpleQueue)
    since: float | None = None
    _wish: Wish = Wish()
    _changed: threading.Event = field(default_factory=threading.Event)
    _client: Client | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="asks vcmtsd", daemon=True).start()

    def want(self, wish: Wish) -> None:
        """From the next request on, which is made at once."""
        if wish != self._wish:
            self._wish = wish
            self._changed.set()

    def _ask(self) -> Event:
        try:
            if self._client is None:
                self._client = self.connect()
        except OSError:
            return Ended("vcmtsd has ended")
        try:
            return ask(self._client, self._wish)
        except RefusedError as refused:
            if refused.code == NO_SUCH_METHOD:
                return Ended(f"this vcmtsd has no {METHOD}: it is of an earlier version")
            return Failed(f"refused: {refused}")
        except (OddAnswerError, ClosedError, OSError) as error:
            self._client.close()
            self._client = None
            return Failed(str(error) if isinstance(error, OddAnswerError) else "")

    def _answer(self) -> Event:
        """A connection that was closed is made anew: vcmtsd may have let it go for others."""
        self.since = time.monotonic()
        event = self._ask()
        if event == Failed(""):
            time.sleep(RETRY_S)
            event = self._ask()
        self.since = None
        return Failed("vcmtsd closed the connection") if event == Failed("") else event

    def _run(self) -> None:
        while True:
            begun = time.monotonic()
            self._changed.clear()
            event = self._answer()
            self.events.put(event)
            self.wake()
            if isinstance(event, Ended):
                return
            self._changed.wait(max(0.0, begun + self.interval - time.monotonic()))
