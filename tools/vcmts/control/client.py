# SPDX-License-Identifier: BSD-3-Clause
"""JSON-RPC 2.0 over the Unix socket of a vcmtsd in service."""

import itertools
import json
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from vcmts.control import trust
from vcmts.jsons import Json
from vcmts.paths import MistakeError

PIECE = 65536
# Codes of a request that was wrong whatever is in service: no such method, or wrong parameters.
WRONG_PARAMS = (-32601, -32602)


class RefusedError(Exception):
    """What was asked for was not done; the text says why, and nothing has changed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class ClosedError(Exception):
    """vcmtsd ended, or let this client go, before it answered."""


class Client:
    """A connection. Requests are answered in their order."""

    def __init__(
        self, path: Path, timeout: float | None = None, go_on: Callable[[], bool] = lambda: False
    ) -> None:
        """Raises OSError where nobody listens, or a user whom trust.py does not know. `timeout`:
        seconds that an answer may take, again and again while `go_on` says so."""
        self._go_on = go_on
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ids = itertools.count(1)
        self._heard = b""
        self._events: deque[Json] = deque()
        try:
            self._socket.connect(str(path))  # which waits where many come at a time
            trust.check_peer(self._socket, path)
            self._socket.settimeout(timeout)
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def hear(self) -> None:
        """Takes what has come next, and keeps it."""
        while True:
            try:
                piece = self._socket.recv(PIECE)
                break
            except TimeoutError:
                if not self._go_on():
                    raise
        if not piece:
            raise ClosedError("vcmtsd ended the connection")
        self._heard += piece

    def _line(self) -> Any:
        """The next line: an answer, a list of them, or an event."""
        while b"\n" not in self._heard:
            self.hear()
        line, self._heard = self._heard.split(b"\n", 1)
        return json.loads(line)

    def _answer(self) -> Any:
        """The next answer; events that come before it are kept."""
        while is_event(line := self._line()):
            self._events.append(line["params"])
        return line

    def events(self) -> Iterator[Json]:
        """What events.subscribe asked for, one after the other: the params of each notification.
        ClosedError when vcmtsd ends the connection."""
        while True:
            if self._events:
                yield self._events.popleft()
            elif is_event(line := self._line()):
                yield line["params"]

    def _request(self, method: str, params: Json) -> Json:
        return {"jsonrpc": "2.0", "method": method, "params": params, "id": next(self._ids)}

    def call(self, method: str, /, **params: Any) -> Any:
        """The result of one method; RefusedError where there is none."""
        request = self._request(method, params)
        self._socket.sendall(json.dumps(request).encode())
        return result(self._answer())

    def calls(self, wanted: Iterable[tuple[str, Json]]) -> list[Any]:
        """Several methods in one request, each answered by its result or a RefusedError."""
        requests = [self._request(method, params) for method, params in wanted]
        self._socket.sendall(json.dumps(requests).encode())
        answers = self._answer()
        if isinstance(answers, dict):  # the request as a whole was none
            return [result(answers)]
        return [result_or_error(answer) for answer in answers]


def connected(path: Path) -> Client:
    """A connection; a mistake of the user's where nobody listens, or who must not be believed."""
    try:
        return Client(path)
    except OSError as error:
        raise MistakeError(f"{path}: {trust.connect_fault(path, error)}") from error


def is_event(line: Any) -> bool:
    return isinstance(line, dict) and line.get("method") == "event"


def result(answer: Json) -> Any:
    if "error" in answer:
        raise RefusedError(answer["error"]["code"], answer["error"]["message"])
    return answer["result"]


def result_or_error(answer: Json) -> Any:
    try:
        return result(answer)
    except RefusedError as error:
        return error
