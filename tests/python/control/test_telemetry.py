# SPDX-License-Identifier: BSD-3-Clause
"""vcmts telemetry beside a socket that answers as vcmtsd does."""

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

from vcmts.paths import MistakeError
from vcmts.telemetry import command as telemetry

FLOW = {"priority": 3, "bonding_group": 9, "max_sustained_rate": 5_000_000, "aqm": "docsis-pie"}
FLOW |= {"drop_probability_ppm": 12, "packets": 10, "waiting_packets": 4, "waiting_bytes": 4016}
MAC = "02:01:00:00:00:01"
CHANNELS = {"channels": 6, "upstream_channels": 24}


def channel(number: int, moved: int) -> dict[str, int]:
    return {"rate": 8_000_000, "packets": number, "bytes": moved, "utilisation_ppm": 250_000}


class Answers:
    """What is said to each question; counters move between two of them."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.asked: list[str] = []

    def of(self, question: str) -> Any:
        self.asked.append(question)
        command, _, parameter = question.partition(",")
        first = int(parameter) if parameter.isdigit() else 0
        moved = 1_000_000 * len(self.asked)
        flow = FLOW | {"bytes": moved, "flow_buffer_full": 7}
        delay = {"packets": 5, "mean_ns": 1500, "p50_ns": 1024, "p99_ns": 2048, "p99_9_ns": 4096}
        group = {"channels": 2, "packets": 4, "early_packets": 1, "skew_ns": 8000}
        found: dict[str, Any] = {
            "/vcmts/scheduler/delay": {"1024": 4, "2048": 1} if parameter else {"3": delay},
            "/vcmts/scheduler/channels": {
                str(n): channel(n, moved) for n in range(100)[first : first + 64]
            },
            "/vcmts/scheduler/groups": {}
            if parameter == "1"
            else {"9": group | {"max_skew_ns": 1}},
            "/vcmts/scheduler/flow": {"modem": MAC} | flow if parameter == "7" else {"error": "no"},
            "/vcmts/scheduler/modem": {"modem": MAC, "max_aggregate_rate": 0, "7": flow},
            "/vcmts/reload": "refused: sg.yaml: rphy.mtu: differs",
            "/vcmts/groups": {"4": {"name": "elm", "modems": 300} | CHANNELS},
        }
        return found.get(command)


@contextmanager
def served(folder: Path, pid: int) -> Iterator[Answers]:
    answers = Answers(pid)
    place = folder / f"vcmtsd-{pid}"
    place.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(place / telemetry.SOCKET))
        listening.listen()

        def serve() -> None:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # nobody came before the end
            with connection:
                connection.send(json.dumps({"pid": pid, "max_output_len": 16384}).encode())
                while asked := connection.recv(1024).decode():
                    answer = {asked.partition(",")[0]: answers.of(asked)}
                    connection.send(json.dumps(answer).encode())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield answers
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With a short name, as sockets have room for 107 bytes."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        monkeypatch.setattr(telemetry, "folders", lambda: [place / "none", place])
        yield place


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    telemetry.add_arguments(parser)
    return telemetry.main(parser.parse_args([*words, "--interval", "0.01"]))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["delay"], ["3", "5", "1.5", "1.0", "2.0", "4.1"]),
        (["delay", "3"], ["2.0", "1"]),
        (["groups"], ["9", "2", "4", "25.0%", "2.0", "0.0"]),
        (["flow", "7"], ["7", "3", "9", "5.00"]),
        (["modem", MAC], ["7", "3", "9", "5.00"]),
        (["service-groups"], ["4", "300", "6", "24", "elm"]),
    ],
)
def test_tables(
    words: list[str], shown: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder, 1):
        assert run(*words) == 0
    rows = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    assert any(row[: len(shown)] == shown for row in rows), rows


def test_drops_have_names() -> None:
    assert telemetry.drops(FLOW) == "none"
    found = FLOW | {"flow_buffer_full": 1234, "wred_drop": 1}
    assert telemetry.drops(found) == "1,234 flow_buffer_full, 1 wred_drop"


def test_parts_are_put_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(folder, 1) as answers:
        assert run("channels", "--json") == 0
        asked = [question.partition(",")[2] for question in answers.asked]
    assert asked == ["0", "64", "100"]
    assert list(json.loads(capsys.readouterr().out)) == [str(n) for n in range(100)]


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["modem", MAC], f"/vcmts/scheduler/modem,group=4,{MAC}"),
        (["delay"], "/vcmts/scheduler/delay,group=4"),
        (["service-groups"], "/vcmts/groups"),
    ],
)
def test_which_service_group(words: list[str], question: str, folder: Path) -> None:
    """It stands before all other parameters."""
    with served(folder, 1) as answers:
        assert run(*words, "--group", "4", "--json") == 0
        assert answers.asked == [question]


def test_rates_are_those_between_two_answers() -> None:
    drawn = telemetry.channel_table({"5": channel(5, 1000)}, {"5": channel(5, 501_000)}, 2.0)
    cells = [next(iter(column.cells)) for column in drawn.columns]
    assert cells == ["5", "8.00", "2.00", "25.0%", "25.0%", "5"]


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (["flow"], "flow: which one"),
        (["flow", "8"], "/vcmts/scheduler/flow,8: no"),
        (["nonsense"], "found nonsense"),
        (["/no/such"], "no answer"),
    ],
)
def test_mistakes(words: list[str], mistake: str, folder: Path) -> None:
    with served(folder, 1), pytest.raises(MistakeError, match=mistake):
        run(*words)


def test_refused_reload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(folder, 1):
        assert run("reload") == 2
    assert capsys.readouterr().err == "vcmts: sg.yaml: rphy.mtu: differs\n"


def test_which_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MistakeError, match="no vcmtsd in service"):
        run("delay")
    with served(folder, 31):
        pass  # it has ended, and its socket is left behind
    with served(folder, 32):
        assert run("delay") == 0
    with served(folder, 33), served(folder, 34), pytest.raises(MistakeError, match="33, 34"):
        run("delay")
    with served(folder, 35), served(folder, 36) as answers:
        assert run("delay", "--pid", "36") == 0
        assert answers.asked
    assert capsys.readouterr().err == ""
