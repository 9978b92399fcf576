# SPDX-License-Identifier: BSD-3-Clause
"""What is to be reached, and how far what was measured is from it: config/goals.yaml."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from vcmts import published, yamls
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.report.document import MOST_PLACES, number

FILE = data("config/goals.yaml")
UNITLESS = ("reference cycles", "times", "share")  # as tables say above them, and ratios
LEFT_OUT = "left out"
REACHED, MISSED, DISTURBED, NOT_MEASURED = "reached", "missed", "disturbed", "not measured"


@dataclass(frozen=True)
class Goal:
    id: str
    what: str
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    published: str = ""  # id of a figure
    published_words: str = ""
    bound: str = ""  # what bounds it where it is missed

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
        """What the machine took away is not the data plane's: that may be missed for its sake."""
        if self.limit is None:
            return "-"
        if self.reached(result["value"]):
            return REACHED
        return DISTURBED if result.get("disturbed") else MISSED


def parsed(text: str) -> dict[str, Goal]:
    """By id, in the order of the file."""
    found: dict[str, Goal] = {}
    for item in yamls.safe_load(text)["goals"]:
        where = f"{FILE.name}: goal {item.get('id')}"
        goal = published.made(Goal, item, where)
        if goal.id in found:
            raise MistakeError(f"{where}: is there twice")
        if goal.at_most is not None and goal.at_least is not None:
            raise MistakeError(f"{where}: at_most and at_least: allowed: one of them")
        if goal.published and goal.published not in published.load().figures:
            raise MistakeError(f"{where}: published: no figure {goal.published!r}")
        found[goal.id] = goal
    return found


@cache
def load(path: Path = FILE) -> dict[str, Goal]:
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path}: not the goals: {error}") from error


def told(value: float, limit: float | None) -> str:
    """With as many digits as it takes to lie on its side of the limit."""
    text = number(value)
    for digits in range(4, MOST_PLACES + 1):
        if limit is None or value == limit or text != number(limit):
            break
        text = number(value, digits)
    return text


@dataclass(frozen=True)
class Row:
    """A goal and what came of it, as a table has them."""

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


def row(goal: Goal, result: Json | None, why: str) -> Row:
    what = goal.what if goal.unit in UNITLESS else f"{goal.what}, {goal.unit}"
    if result is None:
        return Row(what, goal.published_as, goal.words, "-", "-", "-", NOT_MEASURED, why)
    value = result["value"]
    return Row(
        what,
        goal.published_as,
        goal.words,
        told(value, goal.limit),
        f"{number(result['min'])} to {number(result['max'])}" if result["runs"] > 1 else "-",
        f"{value / goal.limit:.3f}" if goal.limit else "-",
        goal.verdict(result),
        note(goal, result),
    )


def rows(file: Mapping[str, Any]) -> Iterator[Row]:
    """Of a stored measurement, a row a goal."""
    results = {result["goal"]: result for result in file["results"]}
    missing = file.get("not_measured", {})
    for goal in load().values():
        yield row(goal, results.get(goal.id), missing.get(goal.id, ""))


def bounds(file: Mapping[str, Any]) -> Iterator[str]:
    """What bounds the goals that are missed, a line each, where that is known."""
    results = {result["goal"]: result for result in file["results"]}
    for goal in load().values():
        result = results.get(goal.id)
        if goal.bound and result is not None and goal.verdict(result) == MISSED:
            yield f"{goal.what.strip()} is bound by {goal.bound}"


def circumstances(file: Mapping[str, Any]) -> Iterator[str]:
    """What was measured in the same runs: the core's clock, and crypto alone."""
    for result in file["results"]:
        if result.get("crypto_bound_cycles") and result["goal"] in ("downstream", "upstream"):
            yield (
                f"{result['goal']}: crypto alone takes {number(result['crypto_bound_cycles'])} "
                f"reference cycles, the core ran at {result['core_hz'] / 1e9:.2f} GHz in these runs"
            )
