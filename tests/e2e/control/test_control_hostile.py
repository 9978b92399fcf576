# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the control socket that mean no good: they harm neither others nor the traffic."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from e2e.control.controlled import (
    code_of,
    connection,
    controlled,
    heard,
    is_served,
    place,
    received,
    request,
)
from e2e.control.test_telemetry import CPUS, memif, traffic
from e2e.control.test_telemetry import config_text as traffic_config
from e2e.machine import heard_out
from e2e.ports import serve
from patience import TIMEOUT, until
from vcmts.control.client import Client, ClosedError

CLIENTS = 32
FLOOD = 500
HALF = b'{"jsonrpc": "2.0", "method": "gro'


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    """One for all of these: each leaves it as it was."""
    with pytest.MonkeyPatch.context() as patch, place() as folder:
        patch.setenv("VCMTS_CORE_DUMPS", "yes")  # else its descriptors are root's to count
        with controlled(folder) as (run, made):
            yield made
            assert run.stop().status == 0


def a_byte_at_a_time(path: Path) -> None:
    with connection(path) as slow:
        for byte in request():
            slow.sendall(bytes([byte]))
        assert b'"groups"' in heard(slow)


def requests_without_reading(path: Path) -> None:
    """It gets all of its answers when it comes for them, and others theirs meanwhile."""
    with connection(path) as flood:
        sender = threading.Thread(target=flood.sendall, args=(request("server.info") * FLOOD,))
        sender.start()
        assert is_served(path)
        answers = 0
        while answers < FLOOD:
            part = received(flood)
            assert part, "it was cut off"
            answers += part.count(b"\n")
        sender.join(TIMEOUT)
    assert answers == FLOOD


def what_is_no_request(path: Path) -> None:
    for sent, code in (
        (b"GET / HTTP/1.1\r\n\r\n", -32700),
        (b"[" * 33, -32700),
        (b'{"a":' * 33, -32700),
        (b'{"a": "\xff"}', -32700),
        (b"\x00" * 100, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
        (b"[" + b"{}," * 64 + b"{}]", -32600),
        (request("modem.list", first=[[[[{}]]]]), -32602),
        (request("modem.list", first=2**70), -32700),
        (request("modem.list", **{"x" * 10_000: 1}), -32602),
        (request("x" * 10_000), -32601),
    ):
        with connection(path) as made:
            made.sendall(sent)
            assert code_of(heard(made)) == code, sent[:40]


def too_much(path: Path) -> None:
    """It is cut at a MiB and told so, however much it goes on to send."""
    with connection(path) as made:
        sent = 0
        try:
            made.sendall(b"{")
            while sent < 1 << 22:
                sent += made.send(b" " * 65536)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 1 << 22
    with connection(path) as made:
        made.sendall(b'{"a":"' + b"x" * (1 << 20))
        assert code_of(heard(made)) == -32600
        assert received(made) == b""


def one_more_than_there_are_places(path: Path) -> None:
    """It takes the place of one that was idle."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(path, TIMEOUT)) for _ in range(CLIENTS + 1)]
        assert clients[-1].call("group.list")["groups"]
        served = sum(map(answered, clients))
        assert served == CLIENTS


def answered(client: Client) -> bool:
    try:
        return bool(client.call("group.list")["groups"])
    except (ClosedError, BrokenPipeError, ConnectionResetError):
        return False


def all_places_half_open(path: Path) -> None:
    """Others are served beside all but one; then nobody is until they are let go, which comes by
    itself."""
    with ExitStack() as stack:
        halves = []
        for number in range(CLIENTS):
            assert number < CLIENTS - 1 or is_served(path)
            halves.append(stack.enter_context(connection(path)))
            halves[-1].sendall(HALF)
        until(lambda: served_at_last(path), "a place")
        assert all(received(half) == b"" for half in halves)


def served_at_last(path: Path) -> bool:
    with connection(path) as made:
        try:
            made.sendall(request())
        except (BrokenPipeError, ConnectionResetError):
            return False
        return b'"groups"' in heard(made)


SENDER = """
import socket, sys, time
made = socket.socket(socket.AF_UNIX)
made.connect(sys.argv[1])
made.sendall(sys.stdin.buffer.read())
print("sent", flush=True)
time.sleep(3600)
"""


def killed_in_the_midst(path: Path) -> None:
    """Of a request, of one that is answered, and of many."""
    for sent in (HALF, request("config.reload"), request("server.info") * 100):
        command = [sys.executable, "-c", SENDER, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            assert client.stdin is not None and client.stdout is not None
            client.stdin.write(sent)
            client.stdin.close()
            assert client.stdout.readline() == b"sent\n"
            client.send_signal(signal.SIGKILL)


def gone_before_the_answer(path: Path) -> None:
    for _ in range(20):
        with connection(path) as made:
            made.sendall(request("config.reload"))
        assert is_served(path)


def half_closed(path: Path) -> None:
    """Who says no more still gets the answer to what was said."""
    with connection(path) as made:
        made.sendall(request())
        made.shutdown(socket.SHUT_WR)
        assert b'"groups"' in heard(made)
        assert received(made) == b""


HOSTILE: list[Callable[[Path], None]] = [
    a_byte_at_a_time,
    requests_without_reading,
    what_is_no_request,
    too_much,
    one_more_than_there_are_places,
    all_places_half_open,
    killed_in_the_midst,
    gone_before_the_answer,
    half_closed,
]


@pytest.mark.parametrize("attack", HOSTILE, ids=lambda attack: attack.__name__)
def test_hostile(path: Path, attack: Callable[[Path], None]) -> None:
    attack(path)
    assert is_served(path)


def test_nothing_is_leaked(path: Path) -> None:
    """Connections that came and went leave no descriptors, nor do those that the server refuses: it
    may see that others have gone only after the next ones came, and has no place for them then."""
    with Client(path, TIMEOUT) as client:
        pid = client.call("server.info")["pid"]
        descriptors = Path(f"/proc/{pid}/fd")
        before = len(os.listdir(descriptors))
        for _ in range(200):
            with connection(path) as made, suppress(BrokenPipeError, ConnectionResetError):
                made.sendall(HALF)
        until(lambda: len(os.listdir(descriptors)) <= before, "the descriptors of before")


def packets(client: Client) -> int:
    """That have come in so far."""
    [group] = client.call("counters.get")["groups"]
    return int(group["downstream"]["counters"]["received"])


def more_packets(client: Client) -> None:
    before = packets(client)
    until(lambda: packets(client) > before, "more packets")


@pytest.mark.run
def test_traffic_goes_on(tmp_path: Path) -> None:
    """Packets do as without them: none is lost but by a full queue, which is told."""
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    config, summary = tmp_path / "sg.yaml", tmp_path / "summary.json"
    config.write_text(traffic_config())
    with place() as folder:
        path = folder / "control.sock"
        options = ("--config", config, "--json", summary, "--control-socket", path)
        with serve(*options, *memif(tmp_path, "server")) as run:
            with traffic(config, 3600) as sender, Client(path, TIMEOUT) as client:
                more_packets(client)
                for attack in (requests_without_reading, too_much, killed_in_the_midst):
                    attack(path)
                    more_packets(client)
                sender.send_signal(signal.SIGINT)
                sender.wait(TIMEOUT)
            done = run.stop()
    assert done.status == 0, done.stderr
    told = json.loads(summary.read_text())
    down = told["downstream"]
    proven = json.loads(config.with_name("traffic.json").read_text())["downstream"]
    assert down["balanced"] and down["dropped"] == down["drops"]["flow_buffer_full"]
    assert proven["sent"] == proven["proven"] + proven["lost"]
    assert proven["corrupted"] == proven["duplicated"] == 0
    if heard_out({"downstream": proven, "workers": told["workers"]}):
        assert proven["lost"] == down["dropped"]
