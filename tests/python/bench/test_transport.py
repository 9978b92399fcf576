# SPDX-License-Identifier: BSD-3-Clause
"""Tests how a trial combines the answer of the traffic program with telemetry of vcmtsd."""

import subprocess
from typing import Any, cast

import pytest

from vcmts.bench import transport
from vcmts.bench.trials import ProgramError, Server
from vcmts.paths import MistakeError
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.plane import Plane

Json = dict[str, Any]


def worker(**fields: Any) -> Json:
    counts = {"name": "all", "rounds": 10, "busy_cycles": 100, "idle_cycles": 300}
    return counts | {"descheduled": 2, "longest_ns": 9000, "longest_since_ns": 0} | fields


class Answers(Plane):
    """Answers from lists, and records the requests."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.requests: list[tuple[str, Json]] = []
        self.group = None

    def ask(self, method: str, **params: Any) -> Any:
        self.requests.append((method, params))
        return self.answers[method.partition(".")[0]].pop(0)


class FakeServer:
    """A traffic program whose trial succeeds, or raises `error`."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def ask(self, request: Json) -> Json:
        if self.error is not None:
            raise self.error
        return {"trial": request}


class FakeProcess:
    """A vcmtsd that runs, or ended with `returncode`."""

    def __init__(self, returncode: int | None = None) -> None:
        self.returncode = returncode

    def poll(self) -> int | None:
        return self.returncode


def ask(
    plane: Answers | None, request: Json, error: Exception | None = None, status: int | None = None
) -> Json:
    both = transport.ask_both(
        cast(Server, FakeServer(error)), cast("subprocess.Popen[bytes]", FakeProcess(status)), plane
    )
    return both(request)


def counts(full: int) -> Json:
    down = {"drops": {"runt": 1, "flow_buffer_full": full}, "counters": {"received": 7 + full}}
    return {"groups": [{"id": 1, "downstream": down, "upstream": {"drops": {}, "counters": {}}}]}


def plane(**more: list[Any]) -> Answers:
    after = worker(busy_cycles=400, idle_cycles=400, descheduled=5, longest_since_ns=4_000_000)
    workers = [{"workers": [one]} for one in (worker(longest_since_ns=77), after)]
    return Answers(worker=workers, counters=[counts(5), counts(25)], **more)


def test_counts_of_vcmtsd_are_those_of_the_trial() -> None:
    telemetry = plane()
    answer = ask(telemetry, {"latency": False})
    assert answer["workers"] == [
        {
            "name": "all",
            "descheduled": {"count": 3, "longest_us": 4000.0},
            "busy_share": 0.75,
            "busy_cycles": 300,
        }
    ]
    assert answer["drops"] == {"downstream": {"flow_buffer_full": 20}, "upstream": {}}
    assert telemetry.requests == [("counters.get", {}), ("worker.list", {"anew": True})] * 2


def test_trial_without_telemetry() -> None:
    assert set(ask(None, {"latency": True})) == {"trial"}


def test_pipeline_latencies_are_those_of_the_trial() -> None:
    buckets = [[0.9, 1], [1.0, 2], [2.0, 3]]
    latencies = {"packets": 6, "histogram": buckets} | dict.fromkeys(telemetry_latency.KEYS, 1.5)
    telemetry = plane(latency=[{}, {"downstream": latencies, "upstream": {"packets": 0}}])
    result = ask(telemetry, {"latency": True})["pipeline_latency_us"]
    assert result["upstream"] is None
    assert result["downstream"]["p99_999"] == 1.5
    assert result["downstream"]["histogram"] == buckets
    resets = [params["reset"] for method, params in telemetry.requests if method == "latency.get"]
    assert resets == [True, False]


def test_ended_vcmtsd_is_an_error() -> None:
    with pytest.raises(ProgramError, match="vcmtsd ended with status -11"):
        ask(None, {"latency": False}, status=-11)
    with pytest.raises(ProgramError, match="vcmtsd ended with status 1"):
        ask(None, {"latency": False}, error=MistakeError("no answer"), status=1)
    with pytest.raises(MistakeError, match="rate is wrong"):
        ask(None, {"latency": False}, error=MistakeError("rate is wrong"))
