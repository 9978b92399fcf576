# SPDX-License-Identifier: BSD-3-Clause
"""The search finds what a simulated data plane is known to carry, by a bounded number of trials."""

import random
import statistics
from dataclasses import dataclass
from typing import Any

import pytest

from python.bench.simulated_plane import Plane, outcome
from vcmts.bench.search import Found, Plan, repeated, search
from vcmts.bench.verdict import Outcome

SEEDS = 200
TOP = 10.0
PLAN = Plan(TOP, resolution=0.02)


@dataclass
class Many:
    """Searches on data planes of many capacities."""

    found: list[Found]
    errors: list[float]  # found / capacity - 1
    trials: list[int]

    def within(self, low: float, high: float = 1e-9) -> float:
        """Share of the searches."""
        return statistics.mean(low <= error <= high for error in self.errors)

    @property
    def bounds(self) -> set[str | None]:
        return {one.bound_by for one in self.found}


def many(plan: Plan = PLAN, **how: Any) -> Many:
    all_found, errors, trials = [], [], []
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.05, 9.9), seed=seed, **how)
        found = search(plane, plan)
        assert found.trials == len(plane.rates) <= plan.most_trials
        assert max(plane.rates) <= plan.top
        all_found.append(found)
        errors.append(found.rate / plane.capacity - 1)
        trials.append(found.trials)
    return Many(all_found, errors, trials)


def test_a_quiet_machine() -> None:
    done = many()
    assert done.within(-PLAN.resolution) == 1
    assert all(one.confirmed for one in done.found)
    assert max(done.trials) <= 18 and statistics.mean(done.trials) <= 12
    assert done.bounds == {"data plane"}


@pytest.mark.parametrize("resolution", [0.05, 0.01, 0.001])
def test_every_resolution_is_reached(resolution: float) -> None:
    done = many(Plan(TOP, resolution=resolution))
    assert done.within(-resolution) == 1
    assert statistics.mean(done.trials) <= 25


def test_loss_by_chance_near_the_capacity() -> None:
    """The rate is one at which most trials pass: not above the capacity, hardly in its band."""
    done = many(band=0.05)
    assert done.within(-0.05 - PLAN.resolution) >= 0.99
    assert done.within(-0.10) == 1
    assert statistics.mean(done.trials) <= 15


def test_rings_that_take_up_too_much_for_a_short_trial() -> None:
    done = many(luck=0.03)
    assert done.within(-PLAN.resolution, 0.03) == 1
    assert statistics.mean(done.errors) < 0.015
    assert statistics.mean(done.trials) <= 15


def test_fails_by_bad_luck_do_not_stay() -> None:
    """A plain bisection is off by up to half in each search in which one of its trials that should
    have passed did not."""
    done = many(bad_luck=0.05)
    assert done.within(-PLAN.resolution) >= 0.94
    assert done.within(-0.10) >= 0.99
    assert statistics.mean(done.trials) <= 14


def test_repeats_mend_what_one_search_missed() -> None:
    """Even where one trial in seven fails by bad luck."""
    errors = []
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.05, 9.9), seed=seed, bad_luck=0.15)
        rates = [one.rate for one in repeated(plane, PLAN, 3)]
        errors.append(statistics.median(rates) / plane.capacity - 1)
    assert max(errors) <= 0
    assert statistics.mean(error >= -0.05 for error in errors) >= 0.94


def test_a_noisy_machine_costs_trials_not_rate() -> None:
    quiet, noisy = many(), many(noise=0.3)
    assert noisy.within(-PLAN.resolution) >= 0.99
    assert statistics.mean(noisy.trials) <= 1.6 * statistics.mean(quiet.trials)
    assert noisy.bounds == {"data plane"}


def test_a_machine_that_is_always_disturbed() -> None:
    done = many(noise=1.0)
    assert all(one.rate == 0 and not one.confirmed for one in done.found)
    assert done.bounds == {"machine"}


def test_everything_at_once() -> None:
    done = many(noise=0.2, bad_luck=0.03, band=0.03, luck=0.01)
    assert done.within(-0.03 - 2 * PLAN.resolution, 0.01) >= 0.95
    assert statistics.mean(done.trials) <= 20


def test_a_slow_traffic_side_is_what_bounds() -> None:
    for capacity, traffic, bound in ((9.0, 4.0, "traffic"), (4.0, 9.0, "data plane")):
        found = search(Plane(capacity, traffic=traffic), PLAN)
        assert found.confirmed and found.bound_by == bound
        assert 4.0 * (1 - PLAN.resolution) <= found.rate <= 4.0
        assert found.trials <= 20


def test_what_most_trials_say_bounds() -> None:
    """Near the traffic's limit some trials are short of packets, and some of places for them."""
    said = [("failed", "data plane"), *[("traffic", "traffic")] * 3]

    def mixed(rate: float) -> Outcome:
        if rate <= 5:
            return outcome("passed")
        said.append(said.pop(0))
        return outcome(said[-1][0], said[-1][1], 5 / rate)  # type: ignore[arg-type]

    assert search(mixed, PLAN).bound_by == "traffic"


def test_channels_are_what_bounds() -> None:
    found = search(Plane(9.0, channels=5.0), PLAN)
    assert found.confirmed and found.bound_by == "channels"
    assert 5.0 * (1 - PLAN.resolution) <= found.rate <= 5.0


def test_lossy_at_every_rate() -> None:
    for carried in (0.0, 0.5, 0.9999):

        def lossy(rate: float, share: float = carried) -> Outcome:
            return outcome("failed", "data plane", share)

        found = search(lossy, PLAN)
        assert found.rate == 0 and not found.confirmed
        assert found.bound_by == "data plane"
        assert found.trials <= 30
        assert len(list(repeated(lossy, PLAN, 3))) == 1


def test_never_lossy() -> None:
    plane = Plane(100.0)
    found = search(plane, PLAN)
    assert (found.rate, found.confirmed, found.bound_by) == (TOP, True, None)
    assert plane.rates == [TOP] * 4


def test_a_plane_that_becomes_slower() -> None:
    """What passed at the begin does not hide it: the rate found is one that passed at the end."""
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.5, 9.5), seed=seed, wear=0.001)
        found = search(plane, PLAN)
        assert found.confirmed
        assert found.rate <= plane.capacity * (1 + 0.001 * PLAN.confirmations)
        assert found.rate >= plane.capacity * (1 - 2 * PLAN.resolution)


def test_a_plane_that_is_throttled() -> None:
    """To three quarters, at any moment of the search."""
    for seed in range(SEEDS):
        plane = Plane(random.Random(seed).uniform(0.5, 9.5), seed=seed)
        begun, moment = plane.capacity, seed % 12

        def throttled(rate: float, plane: Plane = plane, moment: int = moment) -> Outcome:
            if len(plane.rates) == moment:
                plane.capacity *= 0.75
            return plane(rate)

        found = search(throttled, PLAN)
        assert found.confirmed
        assert found.rate <= plane.capacity
        if plane.capacity < begun:
            assert found.rate >= plane.capacity * (1 - PLAN.resolution)


def test_one_that_becomes_too_slow_is_not_confirmed() -> None:
    found = search(Plane(5.0, wear=0.2), Plan(TOP, most_trials=12))
    assert not found.confirmed and found.trials == 12


def test_a_guess_saves_trials() -> None:
    for capacity in (0.3, 2.0, 9.0):
        for share in (0.5, 0.97, 1.0, 1.03, 2.0):
            plane = Plane(capacity)
            found = search(plane, PLAN, guess=capacity * share)
            assert capacity * (1 - PLAN.resolution) <= found.rate <= capacity
            if 0.97 <= share <= 1.03:
                assert found.trials <= 11


def test_confirmations_by_option() -> None:
    for confirmations in (1, 5):
        found = search(Plane(5.0), Plan(TOP, confirmations=confirmations))
        at = next(one for one in found.tried if one.rate == found.rate)
        assert at.passes == confirmations + 1


def test_trials_of_one_search_do_not_serve_another() -> None:
    plane = Plane(5.0, wear=0.01)
    rates = [one.rate for one in repeated(plane, PLAN, 4)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < rates[0]
