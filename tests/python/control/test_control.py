# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts control` with a simulated service: a thread that serves a Unix socket."""

import argparse
import io
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from vcmts import cli
from vcmts.control import client, command, metrics, show, sockets
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import MistakeError
from vcmts.top import source

Json = dict[str, Any]


def answer_to(request: Json) -> Json:
    head = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "refuse":
        code = int(request["params"].get("code", -32000))
        return head | {"error": {"code": code, "message": "modem: there is none"}}
    if request["method"] == "rpc.discover":
        params = [{"name": "group", "required": True}, {"name": "wait", "required": False}]
        methods = [{"name": "group.drain", "summary": "no more comes in", "params": params}]
        return head | {"result": {"methods": methods}}
    if request["method"] == "metrics.get":
        return head | {"result": metrics_part(request["params"])}
    return head | {"result": request["params"]}


SAMPLES = [{"name": f"vcmts_{n}_total", "labels": {}, "value": n} for n in range(10)]


def metrics_part(params: dict[str, Any]) -> dict[str, Any]:
    """Returns four of ten samples. For the names `odd` and `stuck`, later parts are invalid."""
    names, first = params.get("names", [""]), params.get("first", 0)
    if first and names == ["odd"]:
        return {"uptime": 1.5}
    following = 4 if names == ["stuck"] else first + 4
    part: dict[str, Any] = {"uptime": 1.5 + first, "samples": SAMPLES[first : first + 4]}
    return part | ({"next": following} if following < len(SAMPLES) else {})


def serve(listener: socket.socket, received: list[Any]) -> None:
    """Answers connections one by one. A request `end` closes its connection."""
    decoder = json.JSONDecoder()
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            text = ""
            while piece := connection.recv(65536):
                text += piece.decode()
                try:
                    request, _ = decoder.raw_decode(text)
                except ValueError:
                    continue
                text = ""
                received.append(request)
                if isinstance(request, list):
                    answer: Any = [answer_to(one) for one in request]
                elif request["method"] == "end":
                    break
                else:
                    answer = answer_to(request)
                line = json.dumps(answer).encode() + b"\n"
                connection.sendall(line[:5])  # an answer may come in pieces
                connection.sendall(line[5:])


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[Path, socket.socket]]:
    """A control socket whose server answers nothing by itself."""
    path = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path, listener


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """A control socket, and the requests that it received."""
    path, received = tmp_path / "control.sock", list[Any]()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener, received), daemon=True)
        thread.start()
        yield path, received
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_calls_get_their_results(service: tuple[Path, list[Any]]) -> None:
    path, received = service
    with Client(path) as client:
        assert client.call("echo", a=1, b=[2]) == {"a": 1, "b": [2]}
        assert client.call("echo") == {}
    assert [request["id"] for request in received] == [1, 2]
    assert received[0] == {
        "jsonrpc": "2.0",
        "method": "echo",
        "params": {"a": 1, "b": [2]},
        "id": 1,
    }


def test_waiting_is_reported(
    silent: tuple[Path, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server answers when the user was informed. Waiting for events is not reported."""
    path, listener = silent
    monkeypatch.setattr(client, "WAIT_S", 0.01)
    with client.connected(path) as waiting, listener.accept()[0] as connection:

        class Terminal(io.StringIO):
            def write(self, text: str) -> int:
                if self.tell() == 0:
                    connection.sendall(b'{"id": 1, "result": {"a": 1}}\n')
                return super().write(text)

        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        assert waiting.call("echo") == {"a": 1}
        report = terminal.getvalue()
        assert report.startswith(f"vcmts: {path}: no answer for 0.01 s, waiting\n")
        event = b'{"method": "event", "params": {"b": 2}}\n'
        timer = threading.Timer(0.1, connection.sendall, [event])
        timer.start()
        assert next(waiting.events()) == {"b": 2}
        timer.join()
        assert terminal.getvalue() == report


def test_error_has_code_and_message(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client, pytest.raises(RefusedError, match="there is none") as result:
        client.call("refuse")
    assert result.value.code == -32000


def test_batch_has_results_and_errors(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client:
        first, second = client.calls([("echo", {"a": 1}), ("refuse", {})])
    assert first == {"a": 1}
    assert isinstance(second, RefusedError)


def test_parts_of_metrics_are_joined(service: tuple[Path, list[Any]]) -> None:
    path, received = service
    whole = {"uptime": 1.5, "samples": SAMPLES}
    with Client(path) as client:
        assert metrics.metrics(client, names=["vcmts_"]) == whole
        assert metrics.add_parts(client, {"uptime": 1, "samples": []}, {})["samples"] == []
    requests = [request["params"] for request in received]
    assert requests == [{"names": ["vcmts_"]} | first for first in ({}, {"first": 4}, {"first": 8})]


@pytest.mark.parametrize(
    ("names", "why"), [("odd", "no samples"), ("stuck", "expected more than 4")]
)
def test_invalid_metrics_are_refused(service: tuple[Path, list[Any]], names: str, why: str) -> None:
    with Client(service[0]) as client, pytest.raises(metrics.PartsError, match=why):
        metrics.metrics(client, names=[names])


def test_top_reads_all_parts(service: tuple[Path, list[Any]]) -> None:
    path, _ = service
    with Client(path) as client:
        answer = source.ask(client, source.Request("1", modems=True))
    assert answer.modems is not None
    assert len(answer.server.values) == len(answer.modems.values) == len(SAMPLES)


def test_metrics_are_printed_whole(
    service: tuple[Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A request with `first` prints one part."""
    assert run_control(service[0], "metrics.get", as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"uptime": 1.5, "samples": SAMPLES}
    assert run_control(service[0], "metrics.get", '{"first": 4}', as_json=True) == 0
    part = json.loads(capsys.readouterr().out)
    assert (part["next"], len(part["samples"])) == (8, 4)
    assert exit_status(service[0], "metrics.get", "names=[stuck]") == 1
    assert "expected more than 4" in capsys.readouterr().err


def test_closed_connection_is_an_error(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client, pytest.raises(ClosedError):
        client.call("end")


def run_control(path: Path, *options: str, as_json: bool = False) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = [*options, "--socket", str(path)] + (["--json"] if as_json else [])
    return command.main(parser.parse_args(arguments))


def exit_status(path: Path, *options: str) -> int:
    return cli.main(["control", *options, "--socket", str(path)])


def test_value_may_be_a_file(
    service: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, received = service
    modem = tmp_path / "modem.yaml"
    modem.write_text("mac: 02:01:00:00:00:09\naddresses: [10.0.0.9]\n", encoding="utf-8")
    options = ("modem.add", "group=1", "rate=1.5 Gbps", f"modem=@{modem}", "list=[1, null]")
    assert run_control(path, *options, as_json=True) == 0
    expected = {
        "group": "1",
        "rate": "1.5 Gbps",
        "modem": {"mac": "02:01:00:00:00:09", "addresses": ["10.0.0.9"]},
        "list": ["1", None],
    }
    assert received[0]["params"] == expected
    assert json.loads(capsys.readouterr().out) == expected


def test_methods_are_listed(
    service: tuple[Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_control(service[0]) == 0
    out = capsys.readouterr().out
    assert "group.drain" in out and "group [wait]" in out and "no more comes in" in out


def test_error_exits_with_1(
    service: tuple[Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(service[0], "refuse") == 1
    assert "modem: there is none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("echo", "group"), "allowed: KEY=VALUE"),
        (("echo", "=1"), "allowed: KEY=VALUE"),
        (
            ("echo", "a=1", "b"),
            "parameter 2: found 1 characters without KEY=, allowed: KEY=VALUE, or",
        ),
        (("echo", "a=1", "a=2"), "a: given twice"),
        (("echo", "{"), "found no JSON: "),
        (("echo", "a={"), "a: expected the node content, but found at line 1, column 2"),
        (("echo", "a=@/no/such/file"), "a: .*No such file"),
    ],
)
def test_wrong_parameters_are_refused(
    service: tuple[Path, list[Any]], options: tuple[str, ...], error: str
) -> None:
    with pytest.raises(MistakeError, match=error):
        run_control(service[0], *options)
    assert service[1] == []


def test_missing_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match="No such file"):
        run_control(tmp_path / "none.sock", "echo")


@contextmanager
def listen(path: Path) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path


def test_only_socket_in_service_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other files, and sockets of ended processes, are ignored."""
    monkeypatch.setattr(sockets, "folders", lambda: [tmp_path / "none", tmp_path])
    monkeypatch.setattr(sockets, "processes", lambda: iter(()))
    with listen(tmp_path / "2-control.sock"):
        pass
    (tmp_path / "3-control.sock").touch()
    (tmp_path / "1-control.sock.lock").touch()
    with pytest.raises(MistakeError, match="no vcmtsd in service"):
        sockets.choose_socket(None)
    with listen(tmp_path / "1-control.sock") as one, listen(tmp_path / "other.sock"):
        assert sockets.choose_socket(None) == one
        assert sockets.choose_socket(tmp_path / "x") == tmp_path / "x"
        with (
            listen(tmp_path / "control.sock"),
            pytest.raises(MistakeError, match=r"choose one: --pid 1, --socket .*/control\.sock$"),
        ):
            sockets.choose_socket(None)


def test_busy_service_is_in_service(tmp_path: Path) -> None:
    """Its queue of connections is full."""
    with listen(tmp_path / "control.sock") as path, ExitStack() as stack:
        for _ in range(1000):
            client = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            client.setblocking(False)
            try:
                client.connect(str(path))
            except BlockingIOError:
                break
        else:
            pytest.skip("this system queues 1,000 connections")
        assert sockets.is_served(path)


def test_folders_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 7)
    private = Path("/tmp/vcmts-7/vcmts")
    assert sockets.folders() == [*sockets.SYSTEM, private]
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert sockets.folders() == [*sockets.SYSTEM, Path("/run/user/7/vcmts"), private]
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert sockets.folders() == [*sockets.SYSTEM, Path("/run/user/7/vcmts")]
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/a-service")
    assert sockets.folders() == [Path("/run/a-service/vcmts"), Path("/run/a-service")]


def test_parameters_may_be_json(service: tuple[Path, list[Any]]) -> None:
    assert run_control(service[0], "echo", '{"a": [1, {"b": null}]}', as_json=True) == 0
    assert service[1][0]["params"] == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(("code", "status"), [(-32000, 1), (-32603, 1), (-32601, 2), (-32602, 2)])
def test_exit_status_of_errors(service: tuple[Path, list[Any]], code: int, status: int) -> None:
    assert exit_status(service[0], "refuse", f"code={code}") == status


def test_answer_is_printed_as_tables() -> None:
    answer = {
        "name": "a",
        "good": True,
        "none": [],
        "groups": [
            {"id": 7, "ids": [1, 2], "drops": {"runt": 0, "vlan": 3}, "up": {"x": 1.5}},
            {"id": 12345, "ids": [], "drops": {"runt": 0, "vlan": 0}, "up": {"y": "b"}},
        ],
    }
    assert list(show.answer_lines(answer)) == [
        *("name  a", "good  yes", "none  none"),
        *("", "groups:", "  id     ids", "  7      1,2", "  12345  none"),
        *("", "groups 7 drops, those above 0:", "  vlan  3"),
        *("", "groups 7 up:", "  x  1.5"),
        *("", "groups 12345 up:", "  y  b"),
    ]


def test_missing_cells_are_dashes() -> None:
    lines = show.answer_lines({"list": [{"a": 1}, {"b": 2}]})
    assert list(lines) == ["", "list:", "  a  b", "  1  -", "  -  2"]


def test_wide_tables_become_blocks() -> None:
    """In a terminal, an item of a list that is wider than it has a line per value."""
    answer = {"id": 1, "flows": [{"id": 1, "rate": "100 Mbps"}, {"id": 2, "rate": "none"}]}
    narrow = ["  id    1", "  rate  100 Mbps", "  ", "  id    2", "  rate  none"]
    wide = ["  id  rate", "  1   100 Mbps", "  2   none"]
    for width, lines in ((14, wide), (13, narrow), (None, wide)):
        assert list(show.answer_lines(answer, width)) == ["id  1", "", "flows:", *lines]
