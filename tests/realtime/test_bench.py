# SPDX-License-Identifier: BSD-3-Clause
"""Tests on an idle machine that both schedulers forward packets up to the capacity."""

from pathlib import Path

import pytest

from e2e.bench.test_tool_bench import OTHER_SCHEDULERS, compare_with_rte_sched, measure

CAPACITY = 2 * 1.89 + 32 * 0.04224  # Gbps of 2ofdm-32sc-qam


def test_both_schedulers_forward_up_to_capacity(tmp_path: Path) -> None:
    for result in compare_with_rte_sched(tmp_path):
        for scheduler in (result, *(result[key] for key in OTHER_SCHEDULERS)):
            if result["load"] == 50:
                assert scheduler["dropped"] == 0
                assert scheduler["gbps"] == pytest.approx(scheduler["offered_gbps"], rel=0.01)
                assert scheduler["gbps"] == pytest.approx(CAPACITY / 2, rel=0.1)
            else:
                assert scheduler["dropped"] > 0.2
                assert scheduler["gbps"] == pytest.approx(CAPACITY, rel=0.1)


def test_latency_and_crypto_cycles_are_below_the_total(tmp_path: Path) -> None:
    _, results = measure(tmp_path / "bench.json", "--mix", "imix")
    for result in results:
        assert abs(result["cycles_latency"]) < result["cycles_per_packet"]
        assert 0 < result["share_of_crypto_bound"] < 1
