# SPDX-License-Identifier: BSD-3-Clause
"""What a trial asks of vcmtsd beside the traffic: its telemetry."""

import subprocess
from typing import Any, cast

import pytest

from vcmts.bench import transport
from vcmts.bench.trials import Server, TroubleError
from vcmts.paths import MistakeError
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.plane import Plane

Json = dict[str, Any]


def worker(**what: Any) -> Json:
    told = {"name": "all", "rounds": 10, "busy_cycles": 100, "idle_cycles": 300}
    return told | {"descheduled": 2, "longest_ns": 9000, "longest_since_ns": 0} | what


class Answers(Plane):
    """Answers from lists, and writes down what it was asked."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Json]] = []
        self.group = None

    def ask(self, method: str, **params: Any) -> Any:
        self.asked.append((method, params))
        return self.answers[method.partition(".")[0]].pop(0)


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
    plane: Answers | None,
    request: Json,
    error: Exception | None = None,
    status: int | None = None,
) -> Json:
    both = transport.both(
        cast(Server, FakeServer(error)),
        cast("subprocess.Popen[bytes]", FakeProcess(status)),
        plane,
    )
    return both(request)


def counts(full: int) -> Json:
    down = {"drops": {"runt": 1, "flow_buffer_full": full}, "counters": {"received": 7 + full}}
    return {"groups": [{"id": 1, "downstream": down, "upstream": {"drops": {}, "counters": {}}}]}


def plane(**more: list[Any]) -> Answers:
    after = worker(busy_cycles=400, idle_cycles=400, descheduled=5, longest_since_ns=4_000_000)
    workers = [{"workers": [one]} for one in (worker(longest_since_ns=77), after)]
    return Answers(worker=workers, counters=[counts(5), counts(25)], **more)


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
    assert asked.asked == [("counters.get", {}), ("worker.list", {"anew": True})] * 2


def test_without_telemetry_there_is_nothing_of_vcmtsd() -> None:
    assert set(ask(None, {"latency": True})) == {"trial"}


def test_latencies_of_the_pipeline_are_those_of_the_trial() -> None:
    buckets = [[0.9, 1], [1.0, 2], [2.0, 3]]
    told = {"packets": 6, "histogram": buckets} | dict.fromkeys(telemetry_latency.KEYS, 1.5)
    asked = plane(latency=[{}, {"downstream": told, "upstream": {"packets": 0}}])
    found = ask(asked, {"latency": True})["pipeline_latency_us"]
    assert found["upstream"] is None
    assert found["downstream"]["p99_999"] == 1.5
    assert found["downstream"]["histogram"] == buckets
    resets = [params["reset"] for method, params in asked.asked if method == "latency.get"]
    assert resets == [True, False]


def test_a_vcmtsd_that_ended_is_trouble() -> None:
    with pytest.raises(TroubleError, match="vcmtsd ended with status -11"):
        ask(None, {"latency": False}, status=-11)
    with pytest.raises(TroubleError, match="vcmtsd ended with status 1"):
        ask(None, {"latency": False}, error=MistakeError("no answer"), status=1)
    with pytest.raises(MistakeError, match="rate is wrong"):
        ask(None, {"latency": False}, error=MistakeError("rate is wrong"))
