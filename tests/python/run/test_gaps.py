# SPDX-License-Identifier: BSD-3-Clause
"""Tests gaps.py: losses and reordering explained by gaps, exact to a clock cycle."""

from typing import Any

import pytest

from vcmts.run import gaps

Json = dict[str, Any]
HZ = 2_000_000_000
US = HZ // 1_000_000
MS = 1000 * US
# A gap of 40 ms of the worker, in cycles of the TSC as all times of this file
FROM, TO = 1000 * MS, 1040 * MS
PACKETS = 100_000  # per second: the ring fills in 81.9 ms, so the reorder limit applies


def direction(lost: int = 0, reordered: int = 0, suspects: list[list[int]] | None = None) -> Json:
    """One direction of a summary. `suspects`: begin, end, lost and reordered packets each."""
    return {
        **{"sent": PACKETS, "proven": PACKETS - lost, "lost": lost, "reordered": reordered},
        **{"corrupted": 0, "duplicated": 0, "seconds": 1.0, "sent_seconds": 1.0, "balanced": True},
        "sent_bytes": PACKETS * 1000,
        "drops": {"scheduler_full": lost, "runt": 0},
        "suspects": {"lost_more": 0, "reordered_more": 0, "list": suspects or []},
    }


def run(
    down: Json, worker: list[list[int]] | None = None, traffic: list[list[int]] | None = None
) -> Json:
    """A summary with gaps (begin, end) of the worker and of the traffic program."""
    worker_gaps = [[FROM, TO]] if worker is None else worker
    return {
        **{"downstream": down, "upstream": direction(), "groups": [], "host": {"tsc_hz": HZ}},
        "gaps": {"shorter": 0, "list": traffic or []},
        "workers": [{"name": "all", "gaps": {"shorter": 0, "list": worker_gaps}}],
    }


def explain(merged: Json) -> dict[str, gaps.Explained] | None:
    return gaps.explain_all(merged, 8e8)  # bit/s, just the rate of direction()


def late(since: int, to: int) -> Json:
    """A direction with one reordered packet."""
    return direction(reordered=1, suspects=[[since - MS, to - 3 * MS, 1, 0], [since, to, 0, 1]])


def missing(since: int, to: int) -> Json:
    """A direction with 7 lost packets."""
    return direction(lost=7, suspects=[[since, to, 7, 0]])


@pytest.mark.parametrize(
    ("part", "is_explained"),
    [
        (late(FROM - 2 * MS, TO + MS), True),
        (late(TO - 18 * MS - 1, TO + MS), True),
        (late(TO - 18 * MS, TO + MS), False),  # shorter than a modem's resequencing wait
        (late(FROM - MS, FROM + 18 * MS), False),
        (late(TO, TO + 25 * MS), False),  # after the gap
        (late(FROM - 30 * MS, FROM), False),  # before the gap
        (missing(FROM + MS, TO + MS), True),
        (missing(TO + 39 * MS, TO + 50 * MS), True),  # queues stay full for as long as the gap
        (missing(TO + 40 * MS, TO + 50 * MS), False),
        (missing(FROM - 30 * MS, FROM), False),
    ],
)
def test_gap_explains_packets_in_flight(part: Json, is_explained: bool) -> None:
    merged = run(part)
    assert (explain(merged) is not None) == is_explained
    unexplained = merged["unexplained"]["downstream"]
    assert (sum(unexplained.values()) == 0) == is_explained


@pytest.mark.parametrize(
    ("worker", "traffic", "skew_us", "is_explained"),
    [
        ([[FROM, FROM + 18 * MS]], [], 0, False),
        ([[FROM, FROM + 18 * MS + 1]], [], 0, True),
        ([[FROM, FROM + 14 * MS + 1]], [], 4000, True),
        ([[FROM, FROM + 14 * MS]], [], 4000, False),
        ([[FROM, FROM + 5 * MS]], [], 17_000, False),
        ([[FROM, FROM + 5 * MS + 1]], [], 17_000, True),
        # gaps of two threads: one after the other, and at the same time
        ([[FROM, FROM + 10 * MS]], [[FROM + 11 * MS, FROM + 20 * MS]], 0, True),
        ([[FROM, FROM + 10 * MS]], [[FROM + MS, FROM + 11 * MS]], 0, False),
        ([], [], 0, False),
    ],
)
def test_gaps_longer_than_resequencing_wait_explain_reordering(
    worker: list[list[int]], traffic: list[list[int]], skew_us: int, is_explained: bool
) -> None:
    part = late(FROM - MS, FROM + 60 * MS)
    part["scheduler"] = {"bonding_groups": [{"max_skew_us": skew_us}]}
    assert (explain(run(part, worker, traffic)) is not None) == is_explained


def test_ring_fills_faster_at_higher_rate() -> None:
    part = missing(FROM, TO)
    part |= {"sent": 1_000_000, "proven": 1_000_000 - 7}
    filled = int(8192 / 1e6 * HZ)
    assert explain(run(part, [[FROM, FROM + filled]])) is None
    assert explain(run(part, [[FROM, FROM + filled + 100]])) is not None


def test_loss_in_runs_with_grants_is_not_explained() -> None:
    """The downstream of the same run is."""
    merged = run(missing(FROM + MS, TO + MS))
    merged["upstream"]["grants"] = {}
    assert explain(merged) is not None
    merged["upstream"] |= {"lost": 1, "proven": PACKETS - 1}
    assert explain(merged) is None
    assert merged["unexplained"]["upstream"] == {"lost": 1, "reordered": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"corrupted": 1, "lost": 6},
        {"unexpected_frames": 1},
        {"witness": {"wrong": 1}},
        {"resequencing": {"skipped": 1}},
        {"duplicated": 1},
        {"depi_violations": {"sequence_gap": 1}},
        # a loss after which no packet was received
        {"lost": 8, "proven": PACKETS - 8, "drops": {"scheduler_full": 8}},
        {"proven": PACKETS - 8},  # does not add up
        {"undecipherable": 1},
        {"unaccounted": 1},
        {"balanced": False},
        {"suspects": {"lost_more": 1, "reordered_more": 0, "list": [[FROM, TO, 6, 0]]}},
        {"suspects": {"lost_more": 0, "reordered_more": 0, "list": [[1, 2, 7, 0]]}},
        {"grants": {}},
        {"sent_bytes": PACKETS * 1000 + 1},  # more than the channels can carry
        {"drops": {"scheduler_full": 6}},  # vcmtsd does not count one packet
        {"drops": {"scheduler_full": 6, "filter_deny": 1}},
    ],
    ids=str,
)
def test_other_faults_are_not_explained(wrong: Json) -> None:
    assert explain(run(missing(FROM, TO) | wrong)) is None


def test_dropped_burst_explains_several_packets() -> None:
    merged = run(direction())
    merged["upstream"] = missing(FROM, TO) | {"drops": {"burst_gap": 1}}
    assert explain(merged) is not None
    merged["upstream"]["drops"] = {"frame_gap": 6}
    assert explain(merged) is None
    merged["ports"] = {"network": {}, "rphy": {"missed": 1, "no_buffer": 0}}
    assert explain(merged) is not None


def test_good_run_has_no_explanation() -> None:
    merged = run(direction())
    assert explain(merged) is None and merged["unexplained"] is None


def test_impaired_runs_are_not_explained() -> None:
    merged = run(missing(FROM, TO))
    merged["upstream"]["impairments"] = {}
    assert explain(merged) is None and merged["unexplained"] is None


def test_packets_overtaken_by_changes_are_not_lost() -> None:
    part = direction(lost=2, suspects=[[FROM, TO, 2, 0], [1, 2, 5, 0]])
    part |= {"overtaken": 5, "proven": PACKETS - 7}
    assert explain(run(part)) is not None


def test_longest_gap() -> None:
    assert gaps.longest_ms(run(direction())) == 40
    assert gaps.longest_ms(run(direction(), worker=[])) == 0
