# SPDX-License-Identifier: BSD-3-Clause
"""Tests merged latencies of several trials against percentiles of all of their packets."""

import math
import random
from typing import Any

import pytest

from vcmts.bench import latency_merge

Json = dict[str, Any]


def bucket(us: float) -> float:
    """Returns the lower end of the bucket, which has two digits."""
    unit = 10.0 ** (math.floor(math.log10(us)) - 1)
    return round(math.floor(us / unit + 1e-9) * unit, 6)


def percentile(times: list[float], share: float) -> float:
    return times[max(0, math.ceil(share * len(times)) - 1)]


def latency_of_trial(times: list[float]) -> Json:
    """Returns latencies as a trial reports them."""
    times = sorted(times)
    counts: dict[float, int] = {}
    for us in times:
        counts[bucket(us)] = counts.get(bucket(us), 0) + 1
    result: Json = {key: percentile(times, share) for key, share in latency_merge.SHARES.items()}
    result |= {"mean": sum(times) / len(times), "max": times[-1]}
    return result | {"histogram": [[us, packets] for us, packets in sorted(counts.items())]}


@pytest.mark.parametrize("seed", range(5))
def test_merged_trials_have_percentiles_of_all_packets(seed: int) -> None:
    chance = random.Random(seed)
    trials = [
        [chance.lognormvariate(3 + number / 3, 0.7) for _ in range(4000 * (number + 1))]
        for number in range(4)
    ]
    actual = latency_merge.merge([latency_of_trial(one) for one in trials])
    assert actual is not None
    all_times = sorted(us for one in trials for us in one)
    assert actual["mean"] == pytest.approx(sum(all_times) / len(all_times))
    assert actual["max"] == all_times[-1]
    assert sum(packets for _, packets in actual["histogram"]) == len(all_times)
    for key in ("p50", "p90", "p99", "p99_9"):
        assert actual[key] == pytest.approx(
            percentile(all_times, latency_merge.SHARES[key]), rel=0.04
        ), key
    quantiles = [actual[key] for key in (*latency_merge.SHARES, "max")]
    assert quantiles == sorted(quantiles)


def test_single_trial_is_unchanged() -> None:
    one = latency_of_trial([10.0, 12.5, 99.0])
    assert latency_merge.merge([one]) is one
    assert latency_merge.merge([None, one]) is one


def test_trials_without_latencies() -> None:
    assert latency_merge.merge([]) is None
    assert latency_merge.merge([None, None]) is None


def test_times_below_1_us() -> None:
    actual = latency_merge.merge([latency_of_trial([0.5, 0.5]), latency_of_trial([0.5])])
    assert actual is not None
    assert actual["p50"] == actual["max"] == 0.5
