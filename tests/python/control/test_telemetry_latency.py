# SPDX-License-Identifier: BSD-3-Clause
"""Tests the tables and summary that `vcmts telemetry` makes of vcmtsd's pipeline latencies."""

from typing import Any

from rich.console import Console

from vcmts.telemetry import latency
from vcmts.telemetry.plane import Plane

BUCKETS = [[1.28, 128], [2.99, 299]]
FIGURES = {key: float(number) for number, key in enumerate(latency.KEYS, 1)}


class Answers(Plane):
    """A vcmtsd that measures both directions, and has no upstream packets."""

    def __init__(self) -> None:
        self.group = 4
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def ask(self, method: str, **params: Any) -> Any:
        self.requests.append((method, params))
        result = {"packets": 44_850, "histogram": BUCKETS} | FIGURES
        return {"downstream": result, "upstream": {"packets": 0}}


def test_reading_has_the_keys_of_a_summary() -> None:
    answers = Answers()
    latencies = latency.read(answers, reset=True)
    assert answers.requests == [("latency.get", {"reset": True, "group": 4})]
    assert latencies["downstream"] == FIGURES | {"histogram": BUCKETS}
    assert latencies["upstream"] == dict.fromkeys(latency.KEYS, 0.0) | {"histogram": []}


def rows(table: Any) -> list[list[str]]:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return [line.replace("│", " ").split() for line in captured.get().splitlines()]


def test_tables_have_percentiles_and_histogram() -> None:
    latencies = latency.answer(Answers())
    percentiles = rows(latency.percentiles_table(latencies))
    assert ["packets", "44,850", "0"] in percentiles and ["p99.9", "5.0", "-"] in percentiles
    histogram = rows(latency.histogram_table(latencies, "downstream"))
    assert ["1.28", "128"] in histogram and ["2.99", "299"] in histogram
    assert not any("1.28" in row for row in rows(latency.histogram_table(latencies, "upstream")))


def test_tables_fit_80_columns() -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(latency.table(latency.answer(Answers()), None))
    assert "downstream" in captured.get() and "…" not in captured.get()


def test_unmeasured_latency_says_how_to_measure_it() -> None:
    for which in (None, "upstream"):
        assert "control measure.set latency=true" in str(latency.table({}, which))
