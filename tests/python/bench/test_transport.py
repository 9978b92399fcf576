# SPDX-License-Identifier: BSD-3-Clause
"""What a trial asks of vcmtsd beside the traffic: its telemetry."""

import subprocess
from typing import Any, cast

import pytest

from vcmts.bench import transport
from vcmts.bench.trials import Server, TroubleError
from vcmts.paths import MistakeError
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.command import Vcmtsd

Json = dict[str, Any]


def worker(**what: Any) -> Json:
    told = {"name": "all", "rounds": 10, "busy_cycles": 100, "idle_cycles": 300}
    return told | {"descheduled": 2, "longest_ns": 9000, "longest_since_ns": 0} | what


class FakeVcmtsd:
    """Answers from lists, and writes down what it was asked."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def ask(self, command: str, parameter: str | None = None) -> Any:
        self.asked.append(command if parameter is None else f"{command},{parameter}")
        return self.answers[command.rsplit("/", 1)[1]].pop(0)


class FakeServer:
    """A trial that goes well, or not."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def ask(self, request: Json) -> Json:
        if self.error is not None:
            raise self.error
        return {"trial": request}


class FakeProcess:
    """vcmtsd, and whether it still runs."""

    def __init__(self, returncode: int | None = None) -> None:
        self.returncode = returncode

    def poll(self) -> int | None:
        return self.returncode


def ask(
    plane: FakeVcmtsd | None,
    request: Json,
    error: Exception | None = None,
    status: int | None = None,
) -> Json:
    both = transport.both(
        cast(Server, FakeServer(error)),
        cast("subprocess.Popen[bytes]", FakeProcess(status)),
        cast("Vcmtsd | None", plane),
    )
    return both(request)


DROPS = {"downstream": {"runt": 1, "flow_buffer_full": 5}, "downstream_counters": {"received": 7}}


def plane(**more: list[Any]) -> FakeVcmtsd:
    after = worker(busy_cycles=400, idle_cycles=400, descheduled=5, longest_since_ns=4_000_000)
    drops = {"downstream": {"runt": 1, "flow_buffer_full": 25}, "upstream": {}}
    workers = [{"0": worker(longest_since_ns=77)}, {"0": after}]
    return FakeVcmtsd(workers=workers, drops=[DROPS | {"upstream": {}}, drops], **more)


def test_what_vcmtsd_counted_is_that_of_the_trial() -> None:
    asked = plane()
    answer = ask(asked, {"latency": False})
    assert answer["workers"] == [
        {
            "name": "all",
            "descheduled": {"count": 3, "longest_us": 4000.0},
            "busy_share": 0.75,
            "busy_cycles": 300,
        }
    ]
    assert answer["drops"] == {"downstream": {"flow_buffer_full": 20}, "upstream": {}}
    assert asked.asked == ["/vcmts/workers,anew", "/vcmts/drops"] * 2


def test_without_telemetry_there_is_nothing_of_vcmtsd() -> None:
    assert set(ask(None, {"latency": True})) == {"trial"}


def test_latencies_of_the_pipeline_are_those_of_the_trial() -> None:
    told = {"packets": 6} | {f"{key}_ns": 1500 for key in telemetry_latency.KEYS}
    none = told | {"packets": 0}
    parts = [{"900": 1, "1000": 2}, {"2000": 3}, {}, {}]
    asked = plane(latency=[{}, *parts, {"downstream": told, "upstream": none}])
    found = ask(asked, {"latency": True})["pipeline_latency_us"]
    assert found["upstream"] is None
    assert found["downstream"]["p99_999"] == 1.5
    assert found["downstream"]["histogram"] == [[0.9, 1], [1.0, 2], [2.0, 3]]
    assert next(one for one in asked.asked if "latency" in one) == "/vcmts/latency,reset"


def test_a_vcmtsd_that_ended_is_trouble() -> None:
    with pytest.raises(TroubleError, match="vcmtsd ended with status -11"):
        ask(None, {"latency": False}, status=-11)
    with pytest.raises(TroubleError, match="vcmtsd ended with status 1"):
        ask(None, {"latency": False}, error=MistakeError("no answer"), status=1)
    with pytest.raises(MistakeError, match="rate is wrong"):
        ask(None, {"latency": False}, error=MistakeError("rate is wrong"))
