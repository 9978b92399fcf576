# SPDX-License-Identifier: BSD-3-Clause
"""Latencies of several trials together, against sorting all of their packets."""

import math
import random
from typing import Any

import pytest

from vcmts.bench import latency_merge

Json = dict[str, Any]


def bucket(us: float) -> float:
    """Its begin: two digits."""
    unit = 10.0 ** (math.floor(math.log10(us)) - 1)
    return round(math.floor(us / unit + 1e-9) * unit, 6)


def percentile(times: list[float], share: float) -> float:
    return times[max(0, math.ceil(share * len(times)) - 1)]


def told(times: list[float]) -> Json:
    """As a trial tells them."""
    times = sorted(times)
    counts: dict[float, int] = {}
    for us in times:
        counts[bucket(us)] = counts.get(bucket(us), 0) + 1
    found: Json = {key: percentile(times, share) for key, share in latency_merge.SHARES.items()}
    found |= {"mean": sum(times) / len(times), "max": times[-1]}
    return found | {"histogram": [[us, packets] for us, packets in sorted(counts.items())]}


@pytest.mark.parametrize("seed", range(5))
def test_trials_together_are_as_one(seed: int) -> None:
    chance = random.Random(seed)
    trials = [
        [chance.lognormvariate(3 + number / 3, 0.7) for _ in range(4000 * (number + 1))]
        for number in range(4)
    ]
    found = latency_merge.merged([told(one) for one in trials])
    assert found is not None
    every = sorted(us for one in trials for us in one)
    assert found["mean"] == pytest.approx(sum(every) / len(every))
    assert found["max"] == every[-1]
    assert sum(packets for _, packets in found["histogram"]) == len(every)
    for key in ("p50", "p90", "p99", "p99_9"):
        assert found[key] == pytest.approx(
            percentile(every, latency_merge.SHARES[key]), rel=0.04
        ), key
    quantiles = [found[key] for key in (*latency_merge.SHARES, "max")]
    assert quantiles == sorted(quantiles)


def test_one_trial_stays_as_it_is() -> None:
    one = told([10.0, 12.5, 99.0])
    assert latency_merge.merged([one]) is one
    assert latency_merge.merged([None, one]) is one


def test_nothing_recorded() -> None:
    assert latency_merge.merged([]) is None
    assert latency_merge.merged([None, None]) is None


def test_times_of_nothing() -> None:
    found = latency_merge.merged([told([0.5, 0.5]), told([0.5])])
    assert found is not None
    assert found["p50"] == found["max"] == 0.5
