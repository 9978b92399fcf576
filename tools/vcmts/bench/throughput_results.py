# SPDX-License-Identifier: BSD-3-Clause
"""Converts searches to results of `vcmts bench throughput` (docs/results.md) and a table."""

from collections import Counter
from dataclasses import dataclass

from rich.console import Console

from vcmts.bench import offered
from vcmts.bench.offered import Point
from vcmts.bench.search import Plan, SearchResult, search
from vcmts.bench.verdict import Outcome
from vcmts.console import figures_table, print_line
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.progress import Progress

COLUMNS = ("point", "Gbps", "down", "up", "searches", "Mpps", "trials", "repeated", "limited by")
INCONCLUSIVE = ("disturbed", "traffic")


def passed_at(made: list[tuple[float, Outcome]], found: SearchResult) -> list[Json]:
    """The answers of trials that passed at the rate of the result."""
    return [o.answer for rate, o in made if rate == found.rate and o.verdict == "passed"]


def median_rates(answers: list[Json]) -> dict[str, float]:
    """The received Gbps by direction of the trial with the median total."""
    rates = sorted(map(offered.received_gbps, answers), key=lambda one: sum(one.values()))
    return rates[(len(rates) - 1) // 2]


def with_total(rates: dict[str, float]) -> dict[str, float]:
    return {**rates, "total": sum(rates.values())}


def mean_bytes(answers: list[Json]) -> dict[str, float]:
    used = offered.received_gbps(answers[0])
    return {
        way: sum(answer[way]["sent_bytes"] for answer in answers)
        / max(1, sum(answer[way]["sent"] for answer in answers))
        for way in used
    }


def limit_of(searches: list[SearchResult]) -> str:
    """The most frequent limit of searches; "channels" if the highest rate passed."""
    return Counter(one.bound_by or "channels" for one in searches).most_common(1)[0][0]


@dataclass(frozen=True)
class Search:
    """One search with its trials."""

    found: SearchResult
    made: list[tuple[float, Outcome]]

    @property
    def rates(self) -> dict[str, float]:
        """Gbps by direction; empty if no trial passed."""
        answers = passed_at(self.made, self.found)
        return median_rates(answers) if answers else {}


def searched_rates(
    trials: offered.Trials, plan: Plan, shown: Progress, most: int, guess: float | None = None
) -> dict[str, float]:
    """Searches the rate without loss, bit/s by direction; empty if none was confirmed. `most`: the
    estimated number of trials, for the progress."""

    def trial(rate: float) -> Outcome:
        outcome = trials(rate)
        done = min(len(trials.made), most - 1) * trials.seconds
        shown.at(done, f"search, {rate / 1e9:.2f} Gbps {outcome.verdict}")
        return outcome

    found = search(trial, plan, guess)
    rates = Search(found, trials.made).rates if found.confirmed else {}
    return {way: gbps * 1e9 for way, gbps in rates.items()}


def result(where: Point, searches: list[Search]) -> Json:
    """The result of a point from its searches."""
    trials = [
        {"search": number, **offered.trial_result(outcome)}
        for number, search in enumerate(searches, 1)
        for _, outcome in search.made
    ]
    head = {"point": where.name, "mix": where.mix, "upstream_mix": where.upstream_mix}
    bound = limit_of([search.found for search in searches])
    confirmed = [search for search in searches if search.found.confirmed]
    counted = sorted(confirmed or searches, key=lambda one: sum(one.rates.values()))
    median = counted[(len(counted) - 1) // 2]
    bytes_each = mean_bytes([o.answer for one in searches for _, o in one.made])
    rates = median.rates or dict.fromkeys(bytes_each, 0.0)
    packets = {way: rate * 1e3 / 8 / max(bytes_each[way], 1) for way, rate in rates.items()}
    totals = [sum(one.rates.values()) for one in counted]
    return head | {
        "mean_bytes": bytes_each,
        "gbps": with_total(rates),
        "mpps": with_total(packets),
        "confirmed": bool(confirmed),
        "repeats": [sum(one.rates.values()) for one in confirmed],
        "min": min(totals),
        "max": max(totals),
        "bound_by": bound,
        "trials": trials,
    }


def row(one: Json) -> list[str]:
    rates, packets = one["gbps"], one["mpps"]
    again = sum(trial["verdict"] in INCONCLUSIVE for trial in one["trials"])
    return [
        one["point"],
        f"{rates['total']:.2f}" + ("" if one["confirmed"] else "?"),
        *(f"{rates[way]:.2f}" if way in rates else "-" for way in DIRECTIONS),
        f"{one['min']:.2f} to {one['max']:.2f}",
        f"{packets['total']:.2f}",
        str(len(one["trials"])),
        str(again),
        one["bound_by"],
    ]


def show(results: list[Json], title: str, console: Console) -> None:
    print_line(console, title)
    console.print(figures_table(COLUMNS, map(row, results)))
    if not all(one["confirmed"] for one in results):
        console.print("?: not confirmed by enough passed trials", highlight=False)
