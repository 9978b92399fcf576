# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the search finds a simulated data plane's rate in a limited number of trials."""

import random
import statistics
from dataclasses import dataclass
from typing import Any

import pytest

from python.bench.simulated_plane import Plane, outcome
from vcmts.bench.search import Plan, SearchResult, repeated, search
from vcmts.bench.verdict import Outcome

SEEDS = 200
TOP = 10.0
PLAN = Plan(TOP, resolution=0.02)


@dataclass
class Searches:
    """Results of searches on data planes of random capacities."""

    found: list[SearchResult]
    errors: list[float]  # found / capacity - 1
    trials: list[int]

    def within(self, low: float, high: float = 1e-9) -> float:
        """Returns the share of searches with an error in this range."""
        return statistics.mean(low <= error <= high for error in self.errors)

    @property
    def bounds(self) -> set[str | None]:
        return {one.bound_by for one in self.found}


def search_many(plan: Plan = PLAN, **plane_settings: Any) -> Searches:
    all_found, errors, trials = [], [], []
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.05, 9.9), seed=seed, **plane_settings)
        result = search(plane, plan)
        assert result.trials == len(plane.rates) <= plan.most_trials
        assert max(plane.rates) <= plan.top
        all_found.append(result)
        errors.append(result.rate / plane.capacity - 1)
        trials.append(result.trials)
    return Searches(all_found, errors, trials)


# settings of the planes, limit of the mean number of trials, allowed error above the capacity, and
# by allowed error below it: the least share of searches
STEP = PLAN.resolution
ALL = {"noise": 0.2, "bad_luck": 0.03, "band": 0.03, "luck": 0.01}
KNOWN: dict[str, tuple[dict[str, float], int, float, dict[float, float]]] = {
    "a quiet machine": ({}, 12, 1e-9, {STEP: 1}),
    # not above the capacity, rarely in its band: a rate at which most trials pass
    "loss by chance near the capacity": ({"band": 0.05}, 15, 1e-9, {0.05 + STEP: 0.99, 0.1: 1}),
    "rings that take up too much for a short trial": ({"luck": 0.03}, 15, 0.03, {STEP: 1}),
    # in a plain bisection, each trial that fails by chance may cost half of the rate
    "bad luck does not stay": ({"bad_luck": 0.05}, 14, 1e-9, {STEP: 0.94, 0.1: 0.99}),
    "noise costs trials, not rate": ({"noise": 0.3}, 19, 1e-9, {STEP: 0.99}),
    "all effects together": (ALL, 20, 0.01, {0.03 + 2 * STEP: 0.95}),
}


@pytest.mark.parametrize(
    ("plane_settings", "trials", "above", "shares"), KNOWN.values(), ids=list(KNOWN)
)
def test_capacity_is_found(
    plane_settings: dict[str, float], trials: int, above: float, shares: dict[float, float]
) -> None:
    searches = search_many(PLAN, **plane_settings)
    for below, share in shares.items():
        assert searches.within(-below, above) >= share, below
    assert statistics.mean(searches.trials) <= trials
    if not plane_settings:
        assert max(searches.trials) <= 18 and all(one.confirmed for one in searches.found)
    if plane_settings.keys() <= {"noise"}:
        assert searches.bounds == {"data plane"}
    if "luck" in plane_settings and len(plane_settings) == 1:
        assert statistics.mean(searches.errors) < 0.015


@pytest.mark.parametrize("resolution", [0.05, 0.01, 0.001])
def test_resolution_is_reached(resolution: float) -> None:
    searches = search_many(Plan(TOP, resolution=resolution))
    assert searches.within(-resolution) == 1
    assert statistics.mean(searches.trials) <= 25


def test_repeated_search_corrects_errors() -> None:
    """Even if one of seven trials fails by chance."""
    errors = []
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.05, 9.9), seed=seed, bad_luck=0.15)
        rates = [one.rate for one in repeated(plane, PLAN, 3)]
        errors.append(statistics.median(rates) / plane.capacity - 1)
    assert max(errors) <= 0
    assert statistics.mean(error >= -0.05 for error in errors) >= 0.94


def test_always_disturbed_machine_is_the_bound() -> None:
    searches = search_many(noise=1.0)
    assert all(one.rate == 0 and not one.confirmed for one in searches.found)
    assert searches.bounds == {"machine"}


def test_slow_traffic_program_is_the_bound() -> None:
    for capacity, traffic, bound in ((9.0, 4.0, "traffic"), (4.0, 9.0, "data plane")):
        result = search(Plane(capacity, traffic=traffic), PLAN)
        assert result.confirmed and result.bound_by == bound
        assert 4.0 * (1 - PLAN.resolution) <= result.rate <= 4.0
        assert result.trials <= 20


def test_most_frequent_reason_is_the_bound() -> None:
    """Near the traffic's limit, some trials lack packets and others lack buffers."""
    reasons = [("failed", "data plane"), *[("traffic", "traffic")] * 3]

    def mixed(rate: float) -> Outcome:
        if rate <= 5:
            return outcome("passed")
        reasons.append(reasons.pop(0))
        return outcome(reasons[-1][0], reasons[-1][1], 5 / rate)  # type: ignore[arg-type]

    assert search(mixed, PLAN).bound_by == "traffic"


def test_channels_are_the_bound() -> None:
    result = search(Plane(9.0, channels=5.0), PLAN)
    assert result.confirmed and result.bound_by == "channels"
    assert 5.0 * (1 - PLAN.resolution) <= result.rate <= 5.0


def test_loss_at_all_rates_finds_none() -> None:
    for carried in (0.0, 0.5, 0.9999):

        def lossy(rate: float, share: float = carried) -> Outcome:
            return outcome("failed", "data plane", share)

        result = search(lossy, PLAN)
        assert result.rate == 0 and not result.confirmed
        assert result.bound_by == "data plane"
        assert result.trials <= 30
        assert len(list(repeated(lossy, PLAN, 3))) == 1


def test_no_loss_finds_the_top_rate() -> None:
    plane = Plane(100.0)
    result = search(plane, PLAN)
    assert (result.rate, result.confirmed, result.bound_by) == (TOP, True, None)
    assert plane.rates == [TOP] * 4


def test_plane_that_slows_down() -> None:
    """The found rate passed at the end of the search, not only at its start."""
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.5, 9.5), seed=seed, wear=0.001)
        result = search(plane, PLAN)
        assert result.confirmed
        assert result.rate <= plane.capacity * (1 + 0.001 * PLAN.confirmations)
        assert result.rate >= plane.capacity * (1 - 2 * PLAN.resolution)


def test_throttled_plane() -> None:
    """To three quarters of its capacity, during the search."""
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.5, 9.5), seed=seed)
        initial, moment = plane.capacity, seed % 12

        def throttled(rate: float, plane: Plane = plane, moment: int = moment) -> Outcome:
            if len(plane.rates) == moment:
                plane.capacity *= 0.75
            return plane(rate)

        result = search(throttled, PLAN)
        assert result.confirmed
        assert result.rate <= plane.capacity
        if plane.capacity < initial:
            assert result.rate >= plane.capacity * (1 - PLAN.resolution)


def test_rapidly_slowing_plane_is_not_confirmed() -> None:
    result = search(Plane(5.0, wear=0.2), Plan(TOP, most_trials=12))
    assert not result.confirmed and result.trials == 12


def test_guess_saves_trials() -> None:
    for capacity in (0.3, 2.0, 9.0):
        for share in (0.5, 0.97, 1.0, 1.03, 2.0):
            plane = Plane(capacity)
            result = search(plane, PLAN, guess=capacity * share)
            assert capacity * (1 - PLAN.resolution) <= result.rate <= capacity
            if 0.97 <= share <= 1.03:
                assert result.trials <= 11


def test_number_of_confirmations() -> None:
    for confirmations in (1, 5):
        result = search(Plane(5.0), Plan(TOP, confirmations=confirmations))
        tried = next(one for one in result.tried if one.rate == result.rate)
        assert tried.passes == confirmations + 1


def test_searches_do_not_share_trials() -> None:
    plane = Plane(5.0, wear=0.01)
    rates = [one.rate for one in repeated(plane, PLAN, 4)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < rates[0]
