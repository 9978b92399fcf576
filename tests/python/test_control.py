# SPDX-License-Identifier: BSD-3-Clause
"""vcmts control against a service that says what it is told to."""

import argparse
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vcmts.control import command
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import MistakeError

Json = dict[str, Any]
Service = Callable[[Any], Any]


def answer_to(request: Json) -> Json:
    head = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "refuse":
        return head | {"error": {"code": -32000, "message": "modem: there is none"}}
    if request["method"] == "rpc.discover":
        params = [{"name": "group", "required": True}, {"name": "wait", "required": False}]
        methods = [{"name": "group.drain", "summary": "no more comes in", "params": params}]
        return head | {"result": {"methods": methods}}
    return head | {"result": request["params"]}


def serve(listener: socket.socket, heard: list[Any]) -> None:
    """One request a connection at most: who sends `end` is not answered."""
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
                heard.append(request)
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
def service(tmp_path: Path) -> Iterator[tuple[Path, list[Any]]]:
    path, heard = tmp_path / "control.sock", list[Any]()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener, heard), daemon=True)
        thread.start()
        yield path, heard
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_calls_are_answered_in_order(service: tuple[Path, list[Any]]) -> None:
    path, heard = service
    with Client(path) as client:
        assert client.call("echo", a=1, b=[2]) == {"a": 1, "b": [2]}
        assert client.call("echo") == {}
    assert [request["id"] for request in heard] == [1, 2]
    assert heard[0] == {"jsonrpc": "2.0", "method": "echo", "params": {"a": 1, "b": [2]}, "id": 1}


def test_a_refusal_has_its_words(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client, pytest.raises(RefusedError, match="there is none") as found:
        client.call("refuse")
    assert found.value.code == -32000


def test_several_at_once(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client:
        first, second = client.calls([("echo", {"a": 1}), ("refuse", {})])
    assert first == {"a": 1}
    assert isinstance(second, RefusedError)


def test_a_service_that_ends(service: tuple[Path, list[Any]]) -> None:
    with Client(service[0]) as client, pytest.raises(ClosedError):
        client.call("end")


def called(path: Path, *words: str, as_json: bool = False) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    given = [*words, "--socket", str(path)] + (["--json"] if as_json else [])
    return command.main(parser.parse_args(given))


def test_values_are_those_of_a_file(
    service: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, heard = service
    modem = tmp_path / "modem.yaml"
    modem.write_text("mac: 02:01:00:00:00:09\naddresses: [10.0.0.9]\n", encoding="utf-8")
    words = ("modem.add", "group=1", "rate=1.5 Gbps", f"modem=@{modem}", "list=[1, 2]")
    assert called(path, *words, as_json=True) == 0
    expected = {
        "group": "1",
        "rate": "1.5 Gbps",
        "modem": {"mac": "02:01:00:00:00:09", "addresses": ["10.0.0.9"]},
        "list": ["1", "2"],
    }
    assert heard[0]["params"] == expected
    assert json.loads(capsys.readouterr().out) == expected


def test_methods_are_listed(
    service: tuple[Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(service[0]) == 0
    out = capsys.readouterr().out
    assert "group.drain" in out and "group [wait]" in out and "no more comes in" in out


def test_a_refusal_is_the_exit_status(
    service: tuple[Path, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(service[0], "refuse") == 1
    assert "modem: there is none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("echo", "group"), "allowed: KEY=VALUE"),
        (("echo", "=1"), "allowed: KEY=VALUE"),
        (("echo", "a={"), "a: while parsing"),
        (("echo", "a=@/no/such/file"), "a: .*No such file"),
    ],
)
def test_mistakes(service: tuple[Path, list[Any]], words: tuple[str, ...], told: str) -> None:
    with pytest.raises(MistakeError, match=told):
        called(service[0], *words)
    assert service[1] == []


def test_nobody_is_there(tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match="No such file"):
        called(tmp_path / "none.sock", "echo")


def test_the_only_one_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "vcmts"
    place.mkdir()
    monkeypatch.setattr(command, "folders", lambda: [place])
    with pytest.raises(MistakeError, match="no vcmtsd in service"):
        command.chosen(None)
    (place / "a-control.sock").touch()
    assert command.chosen(None) == place / "a-control.sock"
    (place / "control.sock").touch()
    with pytest.raises(MistakeError, match=r"one of .*a-control\.sock, .*control\.sock"):
        command.chosen(None)
