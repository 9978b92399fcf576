# SPDX-License-Identifier: BSD-3-Clause
"""The zero-loss rate, as RFC 2544 (26.1) asks for it, on machines that are not quiet.

RFC 2544 begins at the highest rate and goes on between a rate that passed and one that failed until
these are close. There every trial is right. Here one may fail by bad luck (the system took a core
away and nobody noticed), or pass by luck (rings took up what was too much for so short a time), and
a plain bisection never comes back from that: a fail by bad luck at its begin costs half the rate.

So every trial is written down, by its rate, and what to try next follows from all of them:

- A rate *stands* when it passed and has not failed twice. Its bracket is the highest rate that
  stands, and the lowest above it that was tried.
- While none passed, the next rate is lower: the share of the last that arrived, or less the more
  rates have failed. Then the bracket is closed from below in steps that double, and by bisection
  where that is less: what arrived of too much is close to what can be carried.
- A closed bracket's upper end is tried once more when it has failed once. Passes it then, the fail
  was bad luck: it stands, and the bracket reaches up to the next rate that failed.
- Then the lower end is confirmed: more trials at this rate, of which one may fail. With the second
  fail in all its pass was luck: the bracket's lower end is the next lower rate that stands.

The rate that is found has thus passed, and again and again at the end of the search (what has
become worse since its begin does not hide), and less than a resolution above it a rate has failed
twice. At a rate that passes with a probability of 1/2 a confirmation by three trials succeeds in 5
of 16 cases, at 0.2 in 1 of 37; with a bad luck of 5 % it succeeds in 98.6 %.

Trials that say nothing of the data plane (verdict.py) are repeated at once. A rate at which none of
several trials says anything, or for which the traffic twice was too slow, cannot be measured here,
and bounds like one that failed twice; where there are two such rates and none that passed, the
search ends.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

LOWEST = 1 / 1024  # of the highest rate, where none is given
# Of a rate, to the next lower one: where little is known, and by the share of it that arrived.
STEEPEST, LEAST_CARRIED = 1 / 4, 1 / 64
REFUTED = 2  # fails
TOO_SLOW = 2  # times that the traffic fell behind
HOPELESS = 2  # rates at which every trial was disturbed, and none that passed
MACHINE = "machine"  # what bounds there


class Judged(Protocol):
    """What the search needs to know of a trial; a verdict.Outcome is one."""

    @property
    def verdict(self) -> str: ...
    @property
    def bound_by(self) -> str | None: ...
    @property
    def carried(self) -> float: ...


Trial = Callable[[float], Judged]


@dataclass(frozen=True)
class Plan:
    """How far and how finely to search. Rates in any unit, those of the trial."""

    top: float  # the highest rate to offer
    lowest: float = 0.0  # what loses packets there loses them at every rate
    resolution: float = 0.02  # share of the rate
    confirmations: int = 3
    attempts: int = 8  # at a rate, until a trial says something
    most_trials: int = 60  # of a search


@dataclass
class Tried:
    """What trials at one rate came to."""

    rate: float
    passes: int = 0
    fails: int = 0
    carried: float = 1.0
    bounds: list[str] = field(default_factory=list)

    @property
    def stands(self) -> bool:
        return self.passes > 0 and self.fails < REFUTED


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    rate: float  # 0 where none passed
    confirmed: bool  # False: too few trials for it, or none passed
    bound_by: str | None  # None: the highest rate passed
    trials: int
    tried: tuple[Tried, ...]  # by rate


class Ledger:
    """Every trial of one search."""

    def __init__(self, plan: Plan, start: float) -> None:
        self.plan, self.start = plan, min(start, plan.top)
        self.tried: dict[float, Tried] = {}

    def note(self, rate: float, outcomes: list[Judged]) -> None:
        """Of trials at a rate the last counts; for what bounds, all that say something of it."""
        at, last = self.tried.setdefault(rate, Tried(rate)), outcomes[-1]
        if last.verdict == "passed":
            at.passes += 1
            return
        at.fails += 1 if last.verdict == "failed" else REFUTED
        at.carried = min(at.carried, last.carried)
        told = [one for one in outcomes if one.verdict != "disturbed"] or outcomes
        at.bounds += [one.bound_by or "" for one in told]

    def good(self) -> Tried | None:
        standing = (one for one in self.tried.values() if one.stands)
        return max(standing, key=lambda one: one.rate, default=None)

    def bad(self, good: Tried | None) -> Tried | None:
        above = (one for one in self.tried.values() if good is None or one.rate > good.rate)
        return min(above, key=lambda one: one.rate, default=None)

    def unmeasurable(self) -> int:
        return sum(set(one.bounds) == {MACHINE} for one in self.tried.values())

    def lower(self, bad: Tried) -> float:
        """Where nothing stands: the further, the more rates in a row never passed."""
        rates = sorted(self.tried.values(), key=lambda one: one.rate)
        failed = len(list(takewhile(lambda one: not one.passes, rates)))
        share = max(1 - self.plan.resolution * 2.0**failed, STEEPEST)
        return bad.rate * max(min(bad.carried, share), LEAST_CARRIED)

    def higher(self, good: Tried, bad: Tried | None) -> float:
        """Into the bracket, in steps that begin anew above what has failed."""
        failed = [one.rate for one in self.tried.values() if one.fails and one.rate <= good.rate]
        floor = max(failed, default=0.0)
        passed = sum(one.stands and one.rate >= floor for one in self.tried.values())
        stepped = good.rate * (1 + self.plan.resolution * 2.0**passed)
        return min(stepped, self.plan.top if bad is None else (good.rate + bad.rate) / 2)

    def confirmed(self, good: Tried) -> bool:
        return good.passes > self.plan.confirmations  # the first is the one that found it

    def next_rate(self) -> float | None:
        """What to try next; None when the search is at its end."""
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


def attempt(trial: Trial, rate: float, plan: Plan, left: int) -> list[Judged]:
    """Trials at a rate, up to the first that says something."""
    outcomes: list[Judged] = []
    while True:
        outcomes.append(trial(rate))
        slow = sum(one.verdict == "traffic" for one in outcomes)
        said = outcomes[-1].verdict in ("passed", "failed") or slow == TOO_SLOW
        if said or len(outcomes) == min(plan.attempts, left):
            return outcomes


def search(trial: Trial, plan: Plan, guess: float | None = None) -> Found:
    """The highest rate up to `plan.top` at which trials pass. A `guess` saves trials: the search
    then begins there."""
    ledger = Ledger(plan, guess or plan.top)
    trials = 0
    while (rate := ledger.next_rate()) is not None and trials < plan.most_trials:
        outcomes = attempt(trial, rate, plan, plan.most_trials - trials)
        ledger.note(rate, outcomes)
        trials += len(outcomes)
    good = ledger.good()
    bad = ledger.bad(good)
    bounds = Counter(bad.bounds) if bad is not None else Counter()
    tried = tuple(sorted(ledger.tried.values(), key=lambda one: one.rate))
    return Found(
        rate=good.rate if good is not None else 0.0,
        confirmed=good is not None and rate is None,
        bound_by=bounds.most_common(1)[0][0] if bounds else None,
        trials=trials,
        tried=tried,
    )


def repeated(trial: Trial, plan: Plan, repeats: int) -> Iterator[Found]:
    """Searches one after the other, each with trials of its own; those behind the first begin where
    it ended. One is enough where none passed."""
    first = search(trial, plan)
    yield first
    for _ in range(1, repeats if first.rate else 1):
        yield search(trial, plan, guess=first.rate)
