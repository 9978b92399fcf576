# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts telemetry` with simulated control and DPDK telemetry sockets."""

import argparse
import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vcmts import cli
from vcmts.control import sockets
from vcmts.paths import MistakeError, RefusalError
from vcmts.telemetry import command as telemetry
from vcmts.telemetry import dpdk

MAC = "02:01:00:00:00:01"
FLOW: dict[str, Any] = {
    "id": 7,
    "priority": 3,
    "bonding_group": 9,
    "max_sustained_rate": 5_000_000,
    "packets": 10,
}
FLOW |= {"aqm": "docsis-pie", "drop_probability": 0.5, "waiting_packets": 4, "waiting_bytes": 4016}
DELAY: dict[str, Any] = {
    "priority": 3,
    "packets": 5,
    "mean_us": 1.5,
    "p50_us": 1.024,
    "p99_us": 2.048,
}
DELAY |= {"p99_9_us": 4.096, "histogram": [[1.024, 4], [2.048, 1]]}
BONDING = {"id": 9, "channels": 2, "packets": 4, "early_share": 0.25, "mean_skew_us": 2.0}
GROUP = {"id": 4, "name": "elm", "modems": 300, "channels": 6, "upstream_channels": 24}


def channel(packets: int, nbytes: int) -> dict[str, Any]:
    return {"id": 5, "rate": 8_000_000, "packets": packets, "bytes": nbytes, "utilisation": 0.25}


class Answers:
    """Answers requests, and records them. Byte counters grow with each request. With several
    `groups`, it refuses requests without a group, and the ID of a bonding group is its group's."""

    def __init__(self) -> None:
        self.groups = [GROUP]
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((method, params))
        nbytes = 1_000_000 * len(self.requests)
        flow = FLOW | {"bytes": nbytes, "drops": {"flow_buffer_full": 7}}
        if len(self.groups) > 1 and "group" not in params and method != "group.list":
            text = "there are several service groups: add group=4 (or 5)"
            return {"error": {"code": -32602, "message": text}}
        bonding = [BONDING | {"max_skew_us": 1.0, "id": params.get("group", 9)}]
        scheduler = {"delay": [DELAY], "channels": [channel(5, nbytes)], "bonding_groups": bonding}
        results: dict[str, Any] = {
            "scheduler.get": scheduler,
            "flow.get": flow | {"modem": MAC} if params.get("id") == 7 else None,
            "modem.flows": {"max_aggregate_rate": 0, "service_flows": [flow]},
            "group.list": {"groups": self.groups},
        }
        if results.get(method) is None:
            message = "sg.yaml: rphy.mtu: differs" if method == "config.reload" else "id: none"
            return {"error": {"code": -32000, "message": message}}
        return {"result": results[method]}


def answer_all(connection: socket.socket, answers: Answers) -> None:
    with connection, connection.makefile("rb") as requests:
        text = b""
        while piece := requests.read(1):
            text += piece
            try:
                request = json.loads(text)
            except ValueError:
                continue
            text = b""
            answer = answers.answer(request["method"], request["params"])
            line = {"jsonrpc": "2.0", "id": request["id"]} | answer
            connection.sendall(json.dumps(line).encode() + b"\n")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path: a socket path has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def listen(path: Path, kind: socket.SocketKind, serve: Any) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(str(path))
        listener.listen()

        def accept() -> None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # no client connected
            serve(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def serve_control(folder: Path) -> Iterator[Answers]:
    answers = Answers()
    stream = socket.SOCK_STREAM
    (folder / "control").unlink(missing_ok=True)
    with listen(folder / "control", stream, lambda one: answer_all(one, answers)):
        yield answers


def run_telemetry(folder: Path, *options: str) -> int:
    parser = argparse.ArgumentParser()
    telemetry.add_arguments(parser)
    arguments = [*options, "--interval", "0.01"]
    if "--pid" not in options:
        arguments += ["--socket", str(folder / "control")]
    return telemetry.main(parser.parse_args(arguments))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["delay"], ["3", "5", "1.50", "1.02", "2.05", "4.10"]),
        (["delay", "3"], ["2.05", "1"]),
        (["channels"], ["5", "8.00"]),
        (["bonding"], ["9", "2", "4", "25.0%", "2.0", "1.0"]),
        (["flow", "7"], ["7", "3", "9", "5.00"]),
        (["modem", MAC], ["7", "3", "9", "5.00"]),
        (["groups"], ["4", "300", "6", "24", "elm"]),
    ],
)
def test_tables_have_the_reported_values(
    options: list[str], expected: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_control(folder):
        assert run_telemetry(folder, *options) == 0
    out = capsys.readouterr().out
    assert out.isascii(), "a pipe gets ASCII"
    rows = [line.replace("|", " ").split() for line in out.splitlines()]
    assert any(row[: len(expected)] == expected for row in rows), rows


def test_no_delays_are_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve_control(folder):
        assert run_telemetry(folder, "delay", "5") == 0
    assert capsys.readouterr().out == "no packet has left a queue yet\n"


def test_drops_are_printed_by_name() -> None:
    flows: list[dict[str, Any]] = [{"id": 5, "drops": {}}]
    assert telemetry.drop_lines(flows) == ["no drops"]
    flows.append({"id": 7, "drops": {"flow_buffer_full": 1234, "wred_drop": 1}})
    assert telemetry.drop_lines(flows) == [
        "service flow 7 dropped 1,234 flow_buffer_full, 1 wred_drop"
    ]


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (["modem", MAC], ("modem.flows", {"mac": MAC, "group": 4})),
        (["flow", "7"], ("flow.get", {"id": 7, "group": 4})),
        (["delay"], ("scheduler.get", {"flows": False, "group": 4})),
        (["groups"], ("group.list", {})),
    ],
)
def test_group_option_is_a_parameter(
    options: list[str], call: tuple[str, dict[str, Any]], folder: Path
) -> None:
    with serve_control(folder) as answers:
        assert run_telemetry(folder, *options, "--group", "4", "--json") == 0
        assert answers.requests == [call]


def test_all_service_groups_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with a heading, if there are several."""
    with serve_control(folder) as answers:
        answers.groups = [GROUP, GROUP | {"id": 5}]
        assert run_telemetry(folder, "bonding") == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("service group ")] == [
        "service group 4",
        "service group 5",
    ]
    rows = [line.replace("│", " ").replace("|", " ").split() for line in out.splitlines()]
    assert [row[0] for row in rows if "25.0%" in row] == ["4", "5"]
    with serve_control(folder) as answers:
        answers.groups = [GROUP, GROUP | {"id": 5}]
        assert run_telemetry(folder, "channels", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(one["group"], len(one["channels"])) for one in listed] == [(4, 1), (5, 1)]
    with serve_control(folder) as answers:
        answers.groups = [GROUP, GROUP | {"id": 5}]
        with pytest.raises(RefusalError, match=r"several service groups: add --group 4 \(or 5\)"):
            run_telemetry(folder, "flow", "7")


def test_rates_are_computed_from_two_answers() -> None:
    table = telemetry.channel_table([channel(5, 1000)], [channel(5, 501_000)], 2.0)
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["5", "8.00", "2.00", "25.0%", "25.0%", "5"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["flow"], "flow: WHICH is missing"),
        (["flow", "8"], "id: none"),
        (["flow", "x"], "WHICH: found x, allowed: a service flow ID"),
        (["delay", "8"], "WHICH: found 8, allowed: a priority, 0 to 7"),
        (["latency", "sideways"], "found sideways, allowed: downstream, upstream or reset"),
        (["nonsense"], "found nonsense"),
        (["reload"], "sg.yaml: rphy.mtu: differs"),
    ],
)
def test_wrong_words_are_refused(options: list[str], error: str, folder: Path) -> None:
    wrong = pytest.raises((MistakeError, RefusalError), match=error)
    with serve_control(folder), wrong:
        run_telemetry(folder, *options)


def test_refusal_has_status_1(folder: Path) -> None:
    """As `control` and `top`; a mistake in the words has status 2."""
    server = ["--socket", str(folder / "control")]
    with serve_control(folder):
        assert cli.main(["telemetry", "reload", *server]) == 1
        assert cli.main(["telemetry", "flow", "x", *server]) == 2


@contextmanager
def dpdk_socket(folder: Path, pid: int) -> Iterator[None]:
    """A DPDK telemetry socket that answers only /info."""

    def serve(connection: socket.socket) -> None:
        with connection:
            connection.send(json.dumps({"pid": pid, "max_output_len": 16384}).encode())
            while request := connection.recv(1024).decode():
                answer = {request: {"pid": pid} if request == "/info" else None}
                connection.send(json.dumps(answer).encode())

    runtime = folder / f"vcmtsd-{pid}"
    runtime.mkdir()
    with listen(runtime / dpdk.SOCKET, socket.SOCK_SEQPACKET, serve):
        yield


def test_dpdk_command_goes_to_the_chosen_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands of DPDK's telemetry, with several processes."""
    monkeypatch.setattr(dpdk, "folders", lambda: [folder / "none", folder])
    monkeypatch.setattr(sockets, "processes", lambda: iter(()))
    with pytest.raises(MistakeError, match="no vcmtsd in service"):
        run_telemetry(folder, "/info")
    with dpdk_socket(folder, 31):
        pass  # the process ends, and its socket file remains
    with dpdk_socket(folder, 32):
        assert run_telemetry(folder, "/info") == 0
    ambiguous = pytest.raises(MistakeError, match="--pid 33, --pid 34")
    with dpdk_socket(folder, 33), dpdk_socket(folder, 34), ambiguous:
        run_telemetry(folder, "/info")
    with dpdk_socket(folder, 35), dpdk_socket(folder, 36):
        assert run_telemetry(folder, "/info", "--pid", "36") == 0
    with dpdk_socket(folder, 37), pytest.raises(MistakeError, match="no answer"):
        run_telemetry(folder, "/no/such")
    captured = capsys.readouterr()
    assert [json.loads(text) for text in captured.out.replace("}\n{", "}\0{").split("\0")] == [
        {"pid": 32},
        {"pid": 36},
    ]
    assert captured.err == ""
