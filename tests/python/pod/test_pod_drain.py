# SPDX-License-Identifier: BSD-3-Clause
"""Tests the drain before a pod ends, also with a vcmtsd that answers late or not at all."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import TIMEOUT
from vcmts.pod import drain
from vcmts.pod.child import summary_lines


@pytest.fixture
def vcmtsd_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[socket.socket]]:
    """The accepted control connection, once there is one. The test answers instead of vcmtsd."""
    monkeypatch.setattr(drain, "ANSWER_S", 0.02)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        ends: list[socket.socket] = []
        thread = threading.Thread(target=lambda: ends.append(listener.accept()[0]))
        thread.start()
        yield ends
        thread.join(TIMEOUT)
        for end in ends:
            end.close()


def test_drain_can_be_cancelled(tmp_path: Path, vcmtsd_sockets: list[socket.socket]) -> None:
    calls = 0

    def keep_waiting() -> bool:
        nonlocal calls
        calls += 1
        return calls < 3

    with pytest.raises(TimeoutError):
        drain.drain_all(tmp_path / "s", TIMEOUT, keep_waiting)
    assert calls == 3


def test_late_answer_in_pieces_is_read(tmp_path: Path, vcmtsd_sockets: list[socket.socket]) -> None:
    pieces = [b'{"jsonrpc": "2.0", "id": 1, ', b'"result": {"groups": []}}\n']

    def keep_waiting() -> bool:
        if vcmtsd_sockets and pieces:
            vcmtsd_sockets[0].sendall(pieces.pop(0))
        return True

    assert drain.drain_all(tmp_path / "s", TIMEOUT, keep_waiting) == {}
    assert pieces == []


def test_drain_times_out(tmp_path: Path, vcmtsd_sockets: list[socket.socket]) -> None:
    times = iter([0.0, 1.0, 4.9, 5.0])
    with pytest.raises(TimeoutError):
        drain.drain_all(tmp_path / "s", 5.0, lambda: True, lambda: next(times))
    assert list(times) == []


def test_drain_does_not_wait_for_missing_parts(
    tmp_path: Path, vcmtsd_sockets: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only group 2 has packets that leave, so only it is requested a second time."""
    rounds = iter(
        [
            ([1, 2, 3], {1: drain.Pending(10, 10), 2: drain.Pending(7, 2), 3: drain.Pending(0, 0)}),
            ([2], {2: drain.Pending(3, 2)}),
            ([2], {2: drain.Pending(2, 2)}),
        ]
    )

    def request(_: object, groups: list[int], limit: str) -> drain.PendingByGroup:
        expected, answer = next(rounds)
        assert groups == expected
        return answer

    monkeypatch.setattr(drain, "group_ids", lambda _: [1, 2, 3])
    monkeypatch.setattr(drain, "drain_groups", request)
    left = drain.drain_all(tmp_path / "s", TIMEOUT, lambda: True)
    assert left == {1: (10, 10), 2: (2, 2)}
    assert next(rounds, None) is None


@pytest.mark.parametrize(
    ("left", "message"),
    [
        ({}, "drained: nothing is pending"),
        (
            {1: drain.Pending(10, 10), 2: drain.Pending(2, 2)},
            "drained: only 12 incomplete packets are pending, whose missing parts did not arrive",
        ),
        (
            {1: drain.Pending(10, 10), 2: drain.Pending(3, 2)},
            "drained in part, still pending: service group 1 has 10, service group 2 has 3",
        ),
    ],
)
def test_remaining_packets_are_reported(left: drain.PendingByGroup, message: str) -> None:
    assert drain.result_text(left) == message


def test_account_has_drop_reasons(tmp_path: Path) -> None:
    counts = {"received": 9, "transmitted": 6, "dropped": 3, "held": 0}
    up = counts | {"drops": {"stopped": 1, "crc_error": 0, "no_control_port": 2}}
    down = {"received": 4, "transmitted": 4, "dropped": 0, "held": 0, "drops": {"stopped": 0}}
    summary = {"groups": [{"id": 7, "downstream": down, "upstream": up}]}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    assert summary_lines(tmp_path / "summary.json") == [
        "service group 7 downstream: received 4, transmitted 4, dropped 0, held 0",
        "service group 7 upstream: received 9, transmitted 6, dropped 3, held 0; "
        "drops: stopped 1, no_control_port 2",
    ]
    assert summary_lines(tmp_path / "none.json") == []
