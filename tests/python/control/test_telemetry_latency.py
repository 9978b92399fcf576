# SPDX-License-Identifier: BSD-3-Clause
"""What is made of vcmtsd's answers about the time in the pipeline."""

from typing import Any

from rich.console import Console

from vcmts.telemetry import latency as telemetry_latency

PART = 128
BUCKETS = {ns * 10: ns for ns in range(300)}  # more than two answers hold
FIGURES = dict(zip(telemetry_latency.KEYS, range(1000, 9000, 1000), strict=True))


class Answers:
    """A vcmtsd that measures the downstream only."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def of(self, command: str, parameter: str | None) -> Any:
        assert command == telemetry_latency.COMMAND
        self.asked.append(parameter)
        if parameter in (None, "reset"):
            figures = {f"{key}_ns": value for key, value in FIGURES.items()}
            return {"downstream": {"packets": sum(BUCKETS.values())} | figures}
        assert parameter is not None
        way, start = parameter.split(" ")
        told = [(ns, count) for ns, count in BUCKETS.items() if ns >= int(start)][:PART]
        return {str(ns): count for ns, count in told} if way == "downstream" else {}


def test_histograms_are_put_together() -> None:
    answers = Answers()
    told = telemetry_latency.histogram(answers.of, "downstream")
    assert told == [[ns / 1000, count] for ns, count in BUCKETS.items()]
    assert answers.asked == [f"downstream {start}" for start in (0, 1271, 2551, 2991)]


def test_a_reading_resets_last() -> None:
    answers = Answers()
    told = telemetry_latency.read(answers.of, reset=True)
    assert set(told) == {"downstream"}
    assert {key: told["downstream"][key] for key in FIGURES} == {
        key: value / 1000 for key, value in FIGURES.items()
    }
    assert len(told["downstream"]["histogram"]) == len(BUCKETS)
    assert answers.asked[-1] == "reset" and answers.asked.count("reset") == 1
    telemetry_latency.read(answers.of, reset=False)
    assert answers.asked.count("reset") == 1


def rows(table: Any) -> list[list[str]]:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return [line.replace("│", " ").split() for line in captured.get().splitlines()]


def test_tables() -> None:
    answers = Answers()
    percentiles = rows(telemetry_latency.table(answers.of, None))
    assert ["downstream", "44,850", *(f"{n}.0" for n in range(1, 9))] in percentiles
    shown = rows(telemetry_latency.table(answers.of, "downstream"))
    assert ["1.28", "128"] in shown and ["2.99", "299"] in shown
