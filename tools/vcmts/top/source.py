# SPDX-License-Identifier: BSD-3-Clause
"""Requests metrics from a vcmtsd in a separate thread, so that keys and screen do not wait."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.control.metrics import METHOD, PartsError, add_parts
from vcmts.jsons import Json
from vcmts.top import model, modems
from vcmts.top.samples import Answer, OddAnswerError, answer_of

NO_SUCH_METHOD = -32601
RETRY_S = 0.2
Connect = Callable[[], Client]


@dataclass(frozen=True)
class Request:
    """What to request besides the server's metrics: all modems of a group, or one of them."""

    group: str = ""
    modem: str = ""
    modems: bool = False

    def requests(self) -> list[tuple[str, Json]]:
        calls: list[tuple[str, Json]] = [(METHOD, {"names": list(model.NAMES)})]
        if self.modem:
            more: Json = {"modem": self.modem, "names": list(modems.NAMES)}
        elif self.modems:
            more = {"modems": True, "names": [modems.NAMES[0]]}
        else:
            return calls
        return [*calls, (METHOD, {"group": self.group, **more})]


@dataclass(frozen=True)
class Reply:
    """An answer. `modems`: None if not requested, or refused for the reason in `trouble`."""

    request: Request
    server: Answer
    modems: Answer | None = None
    trouble: str = ""


@dataclass(frozen=True)
class Failed:
    """A request without an answer."""

    trouble: str


@dataclass(frozen=True)
class Ended:
    """There will be no more answers."""

    why: str


Event = Reply | Failed | Ended


def send_requests(client: Client, request: Request) -> list[Any]:
    """The result of each request with all parts of it, or a RefusedError."""
    requests = request.requests()
    answers = client.calls(requests)
    for index, (answer, (_, params)) in enumerate(zip(answers, requests, strict=False)):
        try:
            answers[index] = add_parts(client, answer, params)
        except RefusedError as refused:  # the group or modem was removed
            answers[index] = refused
    return answers


def ask(client: Client, request: Request) -> Reply:
    """The answer. Raises RefusedError, ClosedError, OSError or OddAnswerError."""
    try:
        answers = send_requests(client, request)
    except PartsError as error:
        raise OddAnswerError(str(error)) from error
    except ValueError as error:
        raise OddAnswerError("the response is not JSON") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise OddAnswerError("the response is not JSON-RPC") from error
    if not answers:
        raise OddAnswerError("the response is empty")
    if isinstance(answers[0], RefusedError):
        raise answers[0]
    server = answer_of(answers[0])
    if len(answers) < 2:
        return Reply(request, server)
    if isinstance(answers[1], RefusedError):
        return Reply(request, server, trouble=str(answers[1]))
    return Reply(request, server, answer_of(answers[1]))


@dataclass
class Source:
    """The thread that requests metrics. It calls `wake` after each event in `events`. `since`: the
    time.monotonic() of the pending request; None: no request is pending."""

    connect: Connect
    interval: float
    wake: Callable[[], None]
    events: "SimpleQueue[Event]" = field(default_factory=SimpleQueue)
    since: float | None = None
    _request: Request = Request()
    _changed: threading.Event = field(default_factory=threading.Event)
    _client: Client | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="asks vcmtsd", daemon=True).start()

    def set_request(self, request: Request) -> None:
        """Changes what is requested; the next request is sent at once."""
        if request != self._request:
            self._request = request
            self._changed.set()

    def _ask(self) -> Event:
        try:
            if self._client is None:
                self._client = self.connect()
        except OSError:
            return Ended("vcmtsd ended")
        try:
            return ask(self._client, self._request)
        except RefusedError as refused:
            if refused.code == NO_SUCH_METHOD:
                return Ended(f"this vcmtsd does not have {METHOD}: it is an older version")
            return Failed(f"refused: {refused}")
        except (OddAnswerError, ClosedError, OSError) as error:
            self._client.close()
            self._client = None
            return Failed(str(error) if isinstance(error, OddAnswerError) else "")

    def _answer(self) -> Event:
        """Reconnects once if the connection was closed: vcmtsd limits its clients."""
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
