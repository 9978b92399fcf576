# SPDX-License-Identifier: BSD-3-Clause
"""Tests the goals: the file, verdicts of measured figures, and rows of the table."""

import re
from pathlib import Path
from typing import Any

import pytest

from vcmts import published
from vcmts.bench import goals as bench_goals
from vcmts.bench import goals_list as goals
from vcmts.bench.goals_list import Goal
from vcmts.paths import MistakeError

GOALS = goals.load()


@pytest.mark.parametrize("goal", GOALS.values(), ids=lambda goal: goal.id)
def test_goals_have_a_benchmark(goal: Goal) -> None:
    assert bench_goals.part_of(goal.id) in bench_goals.PARTS


@pytest.mark.parametrize("goal", [g for g in GOALS.values() if g.published], ids=lambda g: g.id)
def test_published_text_has_the_published_number(goal: Goal) -> None:
    value = published.load().value(goal.published)
    numbers = re.findall(r"\d[\d,.]*", goal.published_as)
    assert [float(n.replace(",", "")) for n in numbers] == [pytest.approx(value, abs=0.5)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no valid file of goals"),
        ("goals: [1]", "no valid file of goals"),
        ("goals: [{id: a}]", "what: missing"),
        ("goals: [{id: a, what: b, unit: c, most: 1}]", 'unknown key "most"; '),
        ("goals: [{id: a, what: b, unit: c, published: d}]", "no figure 'd'"),
        ("goals: [{id: a, what: b, unit: c, at_most: 1, at_least: 1}]", "allowed: one of them"),
        ("goals: [{id: a, what: b, unit: c}, {id: a, what: b, unit: c}]", "goal a: defined twice"),
        ("a: [", "no valid file of goals"),
    ],
)
def test_invalid_file_is_refused(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "goals.yaml"
    path.write_text(text)
    with pytest.raises(MistakeError, match=re.escape(error)):
        goals.load(path)


def result(value: float, **more: Any) -> dict[str, Any]:
    """A measured value of five runs without spread."""
    return {"value": value, "min": value, "max": value, "runs": 5, **more}


@pytest.mark.parametrize(
    ("value", "disturbed", "verdict"),
    [
        (100.0, False, "reached"),
        (100.5, False, "missed"),
        (100.5, True, "disturbed"),
        (99.0, True, "reached"),
    ],
)
def test_verdict_of_upper_limit(value: float, disturbed: bool, verdict: str) -> None:
    goal = Goal("a", "b", "us", at_most=100)
    assert goal.verdict(result(value, disturbed=disturbed)) == verdict


def test_verdict_of_lower_limit() -> None:
    goal = Goal("a", "b", "times", at_least=1.9)
    assert [goal.verdict(result(value)) for value in (1.89, 1.9)] == ["missed", "reached"]
    assert Goal("a", "b", "us").verdict(result(1)) == "-"


def test_row_of_table() -> None:
    goal = Goal("a", "cycles of it", "reference cycles", at_most=120, published="2023.upstream")
    row = goals.make_row(goal, result(60.3, core_cycles_per_packet=90.5, remark="filter"), "")
    assert (row.what, row.goal, row.measured) == ("cycles of it", "<= 120", "60.3")
    assert (row.ratio, row.verdict, row.note) == ("0.502", "reached", "filter; 90.5 core cycles")
    row = goals.make_row(Goal("a", "b", "MiB"), None, "left out")
    assert (row.what, row.published, row.goal) == ("b, MiB", "-", "-")
    assert (row.measured, row.verdict, row.note) == ("-", "not measured", "left out")


def test_bounds_of_missed_goals_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for goals that are reached, disturbed or not measured."""
    goals_by_id = {
        name: Goal(name, f"  the {name}", "us", at_most=100, bound=bound)
        for name, bound in [("a", "memory"), ("b", ""), ("c", "x"), ("d", "y"), ("e", "z")]
    }
    monkeypatch.setattr(goals, "load", lambda: goals_by_id)
    values = {"a": 101.0, "b": 101.0, "c": 99.0}
    results = [{"goal": name, **result(value)} for name, value in values.items()]
    results.append({"goal": "e", **result(101.0, disturbed=True)})
    assert list(goals.bounds({"results": results})) == ["the a is limited by memory"]


def test_number_is_printed_as_exactly_as_the_verdict_needs() -> None:
    assert goals.format_value(120.4, 120) == "120.4"
    assert goals.format_value(1.898, 1.9) == "1.898"
    assert goals.format_value(130.4, 120) == "130"
    assert goals.format_value(120, 120) == "120"
