# SPDX-License-Identifier: BSD-3-Clause
"""Tests lateness.py: late packets fail a run unless scheduler, overload or gaps explain them."""

from typing import Any

import pytest

from vcmts.run import lateness, summary

Json = dict[str, Any]
HZ = 1_000_000_000
# us, packets
HISTOGRAM = [[100, 10], [5_000, 20], [5_100, 30], [9_000, 5]]


def direction(p50: float) -> Json:
    """One direction of a summary. `p50`: median latency in us."""
    return {
        **{"lost": 0, "drops": {"runt": 0}, "transmit_backpressure": 0},
        **{"seconds": 2.0, "sent_seconds": 2.0, "asked_gbps": 1.0, "sent_bytes": 250_000_000},
        "latency_us": {"p50": p50, "histogram": HISTOGRAM},
    }


def run(down: Json, gaps: Json | None = None) -> Json:
    return {
        **{"downstream": down, "upstream": direction(40), "host": {"tsc_hz": HZ}},
        "gaps": gaps or {"shorter": 0, "list": []},
        "workers": [{"gaps": {"shorter": 0, "list": []}}],
    }


def late(merged: Json) -> Any:
    lateness.add(merged)
    assert merged["upstream"]["late"] in (0, None)
    return merged["downstream"]["late"]


@pytest.mark.parametrize(("p50", "count"), [(40, 0), (5_000, 0), (5_001, 35), (10_000, 35)])
def test_late_median_counts_late_packets(p50: float, count: int) -> None:
    merged = run(direction(p50))
    assert late(merged) == count
    assert (
        sum(summary.late_packets(merged[direction]) for direction in ("downstream", "upstream"))
        == count
    )


@pytest.mark.parametrize(
    "reason",
    [
        {"grants": {}},
        {"drops": {"runt": 1}},
        {"lost": 1},
        {"transmit_backpressure": 1},
        {"asked_gbps": None},
        {"sent_bytes": 237_000_000},
        {"scheduler": {"delay": [{"p50_us": 10}, {"p50_us": 1_001}]}},
        {"latency_us": None},
    ],
    ids=str,
)
def test_explained_delay_is_not_checked(reason: Json) -> None:
    assert late(run(direction(10_000) | reason)) is None


@pytest.mark.parametrize(
    "overload",
    [{"transmit_backpressure": 1}, {"asked_gbps": None}, {"sent_bytes": 237_000_000}],
    ids=str,
)
def test_overload_explains_delay_of_both_directions(overload: Json) -> None:
    merged = run(direction(10_000))
    merged["upstream"] |= overload
    assert late(merged) is None


@pytest.mark.parametrize("reason", [{"lost": 1}, {"drops": {"runt": 1}}], ids=str)
def test_other_reasons_explain_one_direction(reason: Json) -> None:
    merged = run(direction(10_000))
    merged["upstream"] |= reason
    assert late(merged) == 35


def scheduled(load: float, **qos: Any) -> Json:
    """A scheduler's summary: two channels of 1 Gbps for 2 s, the second with this load."""
    channels = [
        {"id": 1, "rate": 1_000_000_000, "bytes": 25_000_000},
        {"id": 2, "rate": 1_000_000_000, "bytes": load * 250_000_000},
    ]
    scheduler = {"delay": [{"p50_us": 10_000}], "channels": channels}
    return {"scheduler": scheduler, "qos": {"shaped": False, "rates": 2} | qos}


@pytest.mark.parametrize(
    ("part", "count"),
    [
        (scheduled(0.1), 35),
        (scheduled(0.49), 35),
        (scheduled(0.5), None),
        (scheduled(0.1, rates=3), None),
        (scheduled(0.1, shaped=True), None),
    ],
    ids=str,
)
def test_scheduler_delay_needs_a_reason(part: Json, count: int | None) -> None:
    """A channel that is half full, rates of flows or modems, or a changing rate."""
    assert late(run(direction(10_000) | part)) == count


def test_scheduler_without_delay_explains_nothing() -> None:
    part = direction(10_000) | {"scheduler": {"delay": [{"p50_us": 1_000}]}}
    assert late(run(part)) == 35


@pytest.mark.parametrize(
    ("gaps", "checked"),
    [
        ({"shorter": 0, "list": [[0, 399_000_000]]}, True),
        ({"shorter": 0, "list": [[0, 400_000_000]]}, False),
        ({"shorter": 399, "list": []}, True),
        ({"shorter": 400, "list": []}, False),
        ({"shorter": 200, "list": [[0, 100_000_000], [200_000_000, 300_000_000]]}, False),
    ],
)
def test_long_gaps_explain_delay(gaps: Json, checked: bool) -> None:
    assert (late(run(direction(10_000), gaps)) is not None) == checked


def test_delay_is_not_checked_without_gaps() -> None:
    merged = run(direction(10_000))
    del merged["workers"][0]["gaps"]
    assert late(merged) is None
