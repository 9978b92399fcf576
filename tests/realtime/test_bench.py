# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the benchmarks that a quiet machine gives: below capacity both schedulers carry all,
above it what the channels can and no more; a stage costs what it costs."""

from pathlib import Path

import pytest

from e2e.bench.test_tool_bench import OTHERS, beside_rte_sched, measured

CAPACITY = 2 * 1.89 + 32 * 0.04224  # Gbps of 2ofdm-32sc-qam


def test_the_scheduler_beside_rte_sched(tmp_path: Path) -> None:
    for result in beside_rte_sched(tmp_path):
        for one in (result, *(result[key] for key in OTHERS)):
            if result["load"] == 50:
                assert one["dropped"] == 0
                assert one["gbps"] == pytest.approx(one["offered_gbps"], rel=0.01)
                assert one["gbps"] == pytest.approx(CAPACITY / 2, rel=0.1)
            else:
                assert one["dropped"] > 0.2
                assert one["gbps"] == pytest.approx(CAPACITY, rel=0.1)


def test_latencies_and_crypto_are_a_part_of_the_whole(tmp_path: Path) -> None:
    _, results = measured(tmp_path / "bench.json", "--mix", "imix")
    for result in results:
        assert abs(result["cycles_latency"]) < result["cycles_per_packet"]
        assert 0 < result["share_of_crypto_bound"] < 1
