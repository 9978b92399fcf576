# SPDX-License-Identifier: BSD-3-Clause
"""A drain before the end, and a vcmtsd that lets it wait."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import TIMEOUT
from vcmts.pod import drain


@pytest.fixture
def other_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[socket.socket]]:
    """Of the connection to a vcmtsd that says nothing by itself."""
    monkeypatch.setattr(drain, "ANSWER_S", 0.02)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        ends: list[socket.socket] = []
        accepts = threading.Thread(target=lambda: ends.append(listener.accept()[0]))
        accepts.start()
        yield ends
        accepts.join(TIMEOUT)
        for end in ends:
            end.close()


def test_who_waits_for_a_drain_can_be_called_off(
    tmp_path: Path, other_end: list[socket.socket]
) -> None:
    asked = 0

    def go_on() -> bool:
        nonlocal asked
        asked += 1
        return asked < 3

    with pytest.raises(TimeoutError):
        drain.drained(tmp_path / "s", TIMEOUT, go_on)
    assert asked == 3


def test_an_answer_that_comes_late(tmp_path: Path, other_end: list[socket.socket]) -> None:
    pieces = [b'{"jsonrpc": "2.0", "id": 1, ', b'"result": {"groups": []}}\n']

    def go_on() -> bool:
        if other_end and pieces:
            other_end[0].sendall(pieces.pop(0))
        return True

    assert drain.drained(tmp_path / "s", TIMEOUT, go_on) == {}
    assert pieces == []


def test_a_drain_has_its_end(tmp_path: Path, other_end: list[socket.socket]) -> None:
    times = iter([0.0, 1.0, 4.9, 5.0])
    with pytest.raises(TimeoutError):
        drain.drained(tmp_path / "s", 5.0, lambda: True, lambda: next(times))
    assert list(times) == []
