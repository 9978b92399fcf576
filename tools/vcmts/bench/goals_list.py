# SPDX-License-Identifier: BSD-3-Clause
"""Reads the goals of config/goals.yaml, and compares measured values with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from vcmts import published, yamls
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.report.document import MAX_DECIMALS, number

FILE = data("config/goals.yaml")
UNITLESS = ("reference cycles", "times", "share")  # units that rows do not repeat
LEFT_OUT = "left out"
REACHED, MISSED, DISTURBED, NOT_MEASURED = "reached", "missed", "disturbed", "not measured"


@dataclass(frozen=True)
class Goal:
    id: str
    what: str
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    published: str = ""  # id of a published figure
    published_words: str = ""
    bound: str = ""  # what limits the value if the goal is missed

    @property
    def limit(self) -> float | None:
        return self.at_least if self.at_most is None else self.at_most

    @property
    def words(self) -> str:
        if self.limit is None:
            return "-"
        return f"{'>=' if self.at_most is None else '<='} {self.limit:,g}"

    @property
    def published_as(self) -> str:
        if self.published_words or not self.published:
            return self.published_words or "-"
        figure = published.load().figures[self.published]
        return f"{published.BOUNDS[figure.bound]}{number(figure.value)} {figure.unit}"

    def reached(self, value: float) -> bool:
        if self.at_most is not None:
            return value <= self.at_most
        return self.at_least is None or value >= self.at_least

    def verdict(self, result: Json) -> str:
        """The verdict on a result. A miss is DISTURBED if the machine disturbed the measurement."""
        if self.limit is None:
            return "-"
        if self.reached(result["value"]):
            return REACHED
        return DISTURBED if result.get("disturbed") else MISSED


def parse_goals(text: str) -> dict[str, Goal]:
    """The goals by id, in the order of the file. Raises MistakeError."""
    found: dict[str, Goal] = {}
    for item in yamls.safe_load(text)["goals"]:
        where = f"{FILE.name}: goal {item.get('id')}"
        goal = published.make_dataclass(Goal, item, where)
        if goal.id in found:
            raise MistakeError(f"{where}: defined twice")
        if goal.at_most is not None and goal.at_least is not None:
            raise MistakeError(f"{where}: found at_most and at_least, allowed: one of them")
        if goal.published and goal.published not in published.load().figures:
            raise MistakeError(f"{where}: published: no figure {goal.published!r}")
        found[goal.id] = goal
    return found


@cache
def load(path: Path = FILE) -> dict[str, Goal]:
    try:
        return parse_goals(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path}: no valid file of goals: {error}") from error


def format_value(value: float, limit: float | None) -> str:
    """Formats a value with enough digits to differ from the limit."""
    text = number(value)
    for digits in range(4, MAX_DECIMALS + 1):
        if limit is None or value == limit or text != number(limit):
            break
        text = number(value, digits)
    return text


@dataclass(frozen=True)
class Row:
    """A goal and its result as cells of a table."""

    what: str
    published: str
    goal: str
    measured: str
    spread: str
    ratio: str  # measured over the goal
    verdict: str
    note: str


def note(goal: Goal, result: Json) -> str:
    core = result.get("core_cycles_per_packet")
    parts = (result.get("remark", ""), f"{number(core)} core cycles" if core else "")
    return "; ".join(part for part in parts if part)


def make_row(goal: Goal, result: Json | None, why: str) -> Row:
    what = goal.what if goal.unit in UNITLESS else f"{goal.what}, {goal.unit}"
    if result is None:
        return Row(what, goal.published_as, goal.words, "-", "-", "-", NOT_MEASURED, why)
    value = result["value"]
    return Row(
        what,
        goal.published_as,
        goal.words,
        format_value(value, goal.limit),
        f"{number(result['min'])} to {number(result['max'])}" if result["runs"] > 1 else "-",
        f"{value / goal.limit:.3f}" if goal.limit else "-",
        goal.verdict(result),
        note(goal, result),
    )


def rows(file: Mapping[str, Any]) -> Iterator[Row]:
    """Yields a row per goal for a stored measurement."""
    results = {result["goal"]: result for result in file["results"]}
    missing = file.get("not_measured", {})
    for goal in load().values():
        yield make_row(goal, results.get(goal.id), missing.get(goal.id, ""))


def bounds(file: Mapping[str, Any]) -> Iterator[str]:
    """Yields a line per missed goal for which it is known what limits the value."""
    results = {result["goal"]: result for result in file["results"]}
    for goal in load().values():
        result = results.get(goal.id)
        if goal.bound and result is not None and goal.verdict(result) == MISSED:
            yield f"{goal.what.strip()} is limited by {goal.bound}"


def conditions(file: Mapping[str, Any]) -> Iterator[str]:
    """Yields lines on the runs' conditions: the core's clock, and the cycles of crypto alone."""
    for result in file["results"]:
        if result.get("crypto_bound_cycles") and result["goal"] in ("downstream", "upstream"):
            yield (
                f"{result['goal']}: crypto alone takes {number(result['crypto_bound_cycles'])} "
                f"reference cycles, the core ran at {result['core_hz'] / 1e9:.2f} GHz in these runs"
            )
