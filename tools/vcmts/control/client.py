# SPDX-License-Identifier: BSD-3-Clause
"""A JSON-RPC 2.0 client of vcmtsd's control socket."""

import itertools
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from vcmts.control import trust
from vcmts.jsons import Json
from vcmts.paths import MistakeError, RefusalError

PIECE = 65536
WAIT_S = 10.0  # after this time without an answer, a user is informed
# Error codes that do not depend on the server's state: unknown method, invalid parameters.
WRONG_PARAMS = (-32601, -32602)


class RefusedError(RefusalError):
    """vcmtsd refused the request and changed nothing; the text is the reason."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.status = 2 if code in WRONG_PARAMS else 1


class ClosedError(RefusalError):
    """vcmtsd ended, or disconnected this client, before it answered."""


class Client:
    """A connection. Answers come in the order of requests."""

    def __init__(
        self,
        path: Path,
        timeout: float | None = None,
        go_on: Callable[[], bool] = lambda: False,
    ) -> None:
        """Raises OSError if there is no server, or one of an untrusted user (trust.py). `timeout`:
        seconds per answer; each time it expires, `go_on` decides whether to wait again."""
        self._go_on = go_on
        self._ids = itertools.count(1)
        self._received = b""
        self._events: deque[Json] = deque()
        self._socket = trust.connect(path)
        self._socket.settimeout(timeout)

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

    def receive(self) -> None:
        """Receives data into the buffer."""
        while True:
            try:
                piece = self._socket.recv(PIECE)
                break
            except TimeoutError:
                if not self._go_on():
                    raise
        if not piece:
            raise ClosedError("vcmtsd ended the connection")
        self._received += piece

    def _line(self) -> Any:
        """The next line: an answer, a list of them, or an event."""
        while b"\n" not in self._received:
            self.receive()
        line, self._received = self._received.split(b"\n", 1)
        return json.loads(line)

    def _answer(self) -> Any:
        """The next answer. Queues events that come before it."""
        while is_event(line := self._line()):
            self._events.append(line["params"])
        return line

    def events(self) -> Iterator[Json]:
        """Yields the params of each event after events.subscribe. Raises ClosedError when vcmtsd
        ends the connection."""
        self._socket.settimeout(None)
        while True:
            if self._events:
                yield self._events.popleft()
            elif is_event(line := self._line()):
                yield line["params"]

    def _request(self, method: str, params: Json) -> Json:
        return {"jsonrpc": "2.0", "method": method, "params": params, "id": next(self._ids)}

    def call(self, method: str, /, **params: Any) -> Any:
        """Calls a method and returns its result. Raises RefusedError, ClosedError, OSError such as
        TimeoutError, and ValueError for an answer that is not JSON."""
        request = self._request(method, params)
        self._socket.sendall(json.dumps(request).encode())
        return result(self._answer())

    def calls(self, wanted: Iterable[tuple[str, Json]]) -> list[Any]:
        """Calls several methods in one batch. Each element is a result or a RefusedError. Raises as
        call(), and RefusedError if the whole batch is refused."""
        requests = [self._request(method, params) for method, params in wanted]
        self._socket.sendall(json.dumps(requests).encode())
        answers = self._answer()
        if isinstance(answers, dict):  # an error of the whole batch
            return [result(answers)]
        return [result_or_error(answer) for answer in answers]


def connected(path: Path) -> Client:
    """Connects. Prints a line for each WAIT_S without an answer. Raises MistakeError if there is no
    server, or an untrusted one."""

    def report_wait() -> bool:
        print(f"vcmts: {path}: no answer for {WAIT_S:g} s, waiting", file=sys.stderr)
        return True

    try:
        return Client(path, WAIT_S, report_wait)
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
