# SPDX-License-Identifier: BSD-3-Clause
"""Searches the zero-loss rate of RFC 2544 (26.1) on machines with disturbances.

RFC 2544 begins at the highest rate and bisects between a rate that passed and one that failed. That
needs correct trials. Here a trial may fail by chance (an unnoticed loss of a core), or pass by
chance (rings absorbed the excess of a short trial). A plain bisection does not recover from that: a
wrong failure at the beginning costs half the rate.

So the search records all trials by their rates, and derives the next rate from all of them:

- A rate is *good* if it passed and has not failed twice. The bracket is the highest good rate, and
  the lowest tried rate above it.
- Until a rate passes, the next rate is lower: the received share of the last one, or less the more
  rates failed. Then the lower end rises in doubling steps, or by bisection if that is a smaller
  step: the received share of a rate that is too high is close to the capacity.
- When the bracket is closed and its upper end failed once, that is tried again. If it passes, the
  failure was by chance: the rate is good, and the next tried rate above becomes the upper end.
- Then the lower end is confirmed by more trials at this rate, of which one may fail. With a second
  failure it is not good; the next lower good rate becomes the lower end.

So the result passed several trials at the end of the search, and a rate less than a resolution
above it failed twice. If a rate passes with a probability of 1/2, a confirmation by three trials
succeeds in 5 of 16 cases, at 0.2 in 1 of 37; with 5 % failures by chance it succeeds in 98.6 %.

Inconclusive trials (verdict.py) are repeated at once. A rate without any conclusive trial, or at
which the traffic program was too slow twice, counts as failed twice. With two such rates and no
good one, the search ends.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

LOWEST = 1 / 1024  # default lowest rate, as a share of the highest
# Minimum factors to the next lower rate: by the number of failures, and by the received share.
STEEPEST, LEAST_CARRIED = 1 / 4, 1 / 64
REFUTED = 2  # failures after which a rate is not good
TOO_SLOW = 2  # trials at a rate in which the traffic program may be too slow
HOPELESS = 2  # rates with only disturbed trials after which a search without a good rate ends
MACHINE = "machine"  # `bound_by` of a disturbed trial


class TrialResult(Protocol):
    """The properties of a trial that the search uses; verdict.Outcome has them."""

    @property
    def verdict(self) -> str: ...
    @property
    def bound_by(self) -> str | None: ...
    @property
    def carried(self) -> float: ...


Trial = Callable[[float], TrialResult]


@dataclass(frozen=True)
class Plan:
    """The parameters of a search. Rates are in the unit of the trial function."""

    top: float  # highest rate
    lowest: float = 0.0  # lowest rate; 0: LOWEST of the highest
    resolution: float = 0.02  # share of the rate
    confirmations: int = 3
    attempts: int = 8  # maximum trials at a rate until one is conclusive
    most_trials: int = 60  # maximum of a search


@dataclass
class RateResults:
    """The results of the trials at one rate."""

    rate: float
    passes: int = 0
    fails: int = 0
    carried: float = 1.0  # lowest received share of the rate
    bounds: list[str] = field(default_factory=list)

    @property
    def stands(self) -> bool:
        return self.passes > 0 and self.fails < REFUTED


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    rate: float  # 0: none passed
    confirmed: bool  # False: too few trials, or none passed
    bound_by: str | None  # what limits the rate; None: the highest rate passed
    trials: int
    tried: tuple[RateResults, ...]  # sorted by rate


class TrialRecord:
    """Records the trials of one search, and derives the next rate."""

    def __init__(self, plan: Plan, start: float) -> None:
        self.plan, self.start = plan, min(start, plan.top)
        self.tried: dict[float, RateResults] = {}

    def note(self, rate: float, outcomes: list[TrialResult]) -> None:
        """Records the trials up to a conclusive one, which counts; and the limits of all."""
        at, last = self.tried.setdefault(rate, RateResults(rate)), outcomes[-1]
        if last.verdict == "passed":
            at.passes += 1
            return
        at.fails += 1 if last.verdict == "failed" else REFUTED
        at.carried = min(at.carried, last.carried)
        informative = [one for one in outcomes if one.verdict != "disturbed"] or outcomes
        at.bounds += [one.bound_by or "" for one in informative]

    def good(self) -> RateResults | None:
        """The highest good rate."""
        standing = (one for one in self.tried.values() if one.stands)
        return max(standing, key=lambda one: one.rate, default=None)

    def bad(self, good: RateResults | None) -> RateResults | None:
        """The lowest tried rate above the good one."""
        above = (one for one in self.tried.values() if good is None or one.rate > good.rate)
        return min(above, key=lambda one: one.rate, default=None)

    def unmeasurable(self) -> int:
        """The number of rates with disturbed trials only."""
        return sum(set(one.bounds) == {MACHINE} for one in self.tried.values())

    def lower(self, bad: RateResults) -> float:
        """The next rate if none is good: the lower, the more consecutive rates never passed."""
        rates = sorted(self.tried.values(), key=lambda one: one.rate)
        failed = len(list(takewhile(lambda one: not one.passes, rates)))
        share = max(1 - self.plan.resolution * 2.0**failed, STEEPEST)
        return bad.rate * max(min(bad.carried, share), LEAST_CARRIED)

    def higher(self, good: RateResults, bad: RateResults | None) -> float:
        """The next rate in the bracket. Steps double per good rate above the last failure."""
        failed = [one.rate for one in self.tried.values() if one.fails and one.rate <= good.rate]
        floor = max(failed, default=0.0)
        passed = sum(one.stands and one.rate >= floor for one in self.tried.values())
        stepped = good.rate * (1 + self.plan.resolution * 2.0**passed)
        return min(stepped, self.plan.top if bad is None else (good.rate + bad.rate) / 2)

    def confirmed(self, good: RateResults) -> bool:
        return good.passes > self.plan.confirmations  # the first pass is not a confirmation

    def next_rate(self) -> float | None:
        """The next rate to try; None: the search is finished."""
        if not self.tried:
            return self.start
        good = self.good()
        bad = self.bad(good)
        if good is None:
            assert bad is not None
            if self.unmeasurable() == HOPELESS:
                return None
            lower = self.lower(bad)
            if lower >= (self.plan.lowest or self.plan.top * LOWEST):
                return lower
            return bad.rate if bad.fails < REFUTED else None
        end = self.plan.top if bad is None else bad.rate / (1 + self.plan.resolution)
        if good.rate < end:
            return self.higher(good, bad)
        if bad is not None and bad.fails < REFUTED:
            return bad.rate
        return None if self.confirmed(good) else good.rate


def try_rate(trial: Trial, rate: float, plan: Plan, left: int) -> list[TrialResult]:
    """Makes trials at a rate until one is conclusive, up to `left` and plan.attempts of them."""
    outcomes: list[TrialResult] = []
    while True:
        outcomes.append(trial(rate))
        slow = sum(one.verdict == "traffic" for one in outcomes)
        conclusive = outcomes[-1].verdict in ("passed", "failed") or slow == TOO_SLOW
        if conclusive or len(outcomes) == min(plan.attempts, left):
            return outcomes


def search(trial: Trial, plan: Plan, guess: float | None = None) -> SearchResult:
    """Searches the highest rate that passes, up to `plan.top`. `guess`: the first rate."""
    ledger = TrialRecord(plan, guess or plan.top)
    trials = 0
    while (rate := ledger.next_rate()) is not None and trials < plan.most_trials:
        outcomes = try_rate(trial, rate, plan, plan.most_trials - trials)
        ledger.note(rate, outcomes)
        trials += len(outcomes)
    good = ledger.good()
    bad = ledger.bad(good)
    bounds = Counter(bad.bounds) if bad is not None else Counter()
    tried = tuple(sorted(ledger.tried.values(), key=lambda one: one.rate))
    return SearchResult(
        rate=good.rate if good is not None else 0.0,
        confirmed=good is not None and rate is None,
        bound_by=bounds.most_common(1)[0][0] if bounds else None,
        trials=trials,
        tried=tried,
    )


def repeated(trial: Trial, plan: Plan, repeats: int) -> Iterator[SearchResult]:
    """Repeats the search; repeats begin at the first result. Only one search if none passed."""
    first = search(trial, plan)
    yield first
    for _ in range(1, repeats if first.rate else 1):
        yield search(trial, plan, guess=first.rate)
