# SPDX-License-Identifier: BSD-3-Clause
"""What is made of vcmtsd's answers about the time in the pipeline."""

from typing import Any

from rich.console import Console

from vcmts.telemetry import latency
from vcmts.telemetry.plane import Plane

BUCKETS = [[1.28, 128], [2.99, 299]]
FIGURES = {key: float(place) for place, key in enumerate(latency.KEYS, 1)}


class Answers(Plane):
    """A vcmtsd that measures both directions; nothing has come upstream."""

    def __init__(self) -> None:
        self.group = 4
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, method: str, **params: Any) -> Any:
        self.asked.append((method, params))
        told = {"packets": 44_850, "histogram": BUCKETS} | FIGURES
        return {"downstream": told, "upstream": {"packets": 0}}


def test_a_reading_has_the_form_of_a_summary() -> None:
    answers = Answers()
    told = latency.read(answers, reset=True)
    assert answers.asked == [("latency.get", {"reset": True, "group": 4})]
    assert told["downstream"] == FIGURES | {"histogram": BUCKETS}
    assert told["upstream"] == dict.fromkeys(latency.KEYS, 0.0) | {"histogram": []}


def rows(table: Any) -> list[list[str]]:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return [line.replace("│", " ").split() for line in captured.get().splitlines()]


def test_tables() -> None:
    told = latency.answer(Answers())
    percentiles = rows(latency.percentiles_table(told))
    assert ["downstream", "44,850", *(f"{n}.0" for n in range(1, 9))] in percentiles
    shown = rows(latency.histogram_table(told, "downstream"))
    assert ["1.28", "128"] in shown and ["2.99", "299"] in shown
    assert not any("1.28" in row for row in rows(latency.histogram_table(told, "upstream")))
