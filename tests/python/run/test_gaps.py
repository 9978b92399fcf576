# SPDX-License-Identifier: BSD-3-Clause
"""Which packets gaps of the machine explain, to the microsecond."""

from typing import Any

import pytest

from vcmts.run import gaps

Json = dict[str, Any]
HZ = 2_000_000_000
US = HZ // 1_000_000
MS = 1000 * US
# A gap of 40 ms, of the worker.
FROM, TO = 1000 * MS, 1040 * MS
PACKETS = 100_000  # a second: the ring fills in 81.9 ms, so that the limit is that of the order


def direction(lost: int = 0, reordered: int = 0, suspects: list[list[int]] | None = None) -> Json:
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
    found = [[FROM, TO]] if worker is None else worker
    return {
        **{"downstream": down, "upstream": direction(), "groups": [], "host": {"tsc_hz": HZ}},
        "gaps": {"shorter": 0, "list": traffic or []},
        "workers": [{"name": "all", "gaps": {"shorter": 0, "list": found}}],
    }


def explained(whole: Json) -> dict[str, gaps.Explained] | None:
    return gaps.explained(whole, 8e8)


def late(since: int, to: int) -> Json:
    """A run with one packet out of order."""
    return direction(reordered=1, suspects=[[since - MS, to - 3 * MS, 1, 0], [since, to, 0, 1]])


def missing(since: int, to: int) -> Json:
    return direction(lost=7, suspects=[[since, to, 7, 0]])


@pytest.mark.parametrize(
    ("part", "good"),
    [
        (late(FROM - 2 * MS, TO + MS), True),
        (late(TO - 18 * MS - 1, TO + MS), True),
        (late(TO - 18 * MS, TO + MS), False),  # not for so long as a modem waits
        (late(FROM - MS, FROM + 18 * MS), False),
        (late(TO, TO + 25 * MS), False),  # made when it was over
        (late(FROM - 30 * MS, FROM), False),  # there before it began
        (missing(FROM + MS, TO + MS), True),
        (missing(TO + 39 * MS, TO + 50 * MS), True),  # queues are full for as long again
        (missing(TO + 40 * MS, TO + 50 * MS), False),
        (missing(FROM - 30 * MS, FROM), False),
    ],
)
def test_only_what_was_under_way(part: Json, good: bool) -> None:
    whole = run(part)
    assert (explained(whole) is not None) == good
    wrong = whole["unexplained"]["downstream"]
    assert (sum(wrong.values()) == 0) == good


@pytest.mark.parametrize(
    ("worker", "traffic", "skew_us", "good"),
    [
        ([[FROM, FROM + 18 * MS]], [], 0, False),
        ([[FROM, FROM + 18 * MS + 1]], [], 0, True),
        ([[FROM, FROM + 14 * MS + 1]], [], 4000, True),
        ([[FROM, FROM + 14 * MS]], [], 4000, False),
        ([[FROM, FROM + 5 * MS]], [], 17_000, False),
        ([[FROM, FROM + 5 * MS + 1]], [], 17_000, True),
        # two threads one after the other, and at the same time
        ([[FROM, FROM + 10 * MS]], [[FROM + 11 * MS, FROM + 20 * MS]], 0, True),
        ([[FROM, FROM + 10 * MS]], [[FROM + MS, FROM + 11 * MS]], 0, False),
        ([], [], 0, False),
    ],
)
def test_together_longer_than_a_modem_waits(
    worker: list[list[int]], traffic: list[list[int]], skew_us: int, good: bool
) -> None:
    part = late(FROM - MS, FROM + 60 * MS)
    part["scheduler"] = {"bonding_groups": [{"max_skew_us": skew_us}]}
    assert (explained(run(part, worker, traffic)) is not None) == good


def test_the_ring_bridges_less_at_a_higher_rate() -> None:
    part = missing(FROM, TO)
    part |= {"sent": 1_000_000, "proven": 1_000_000 - 7}
    filled = int(8192 / 1e6 * HZ)
    assert explained(run(part, [[FROM, FROM + filled]])) is None
    assert explained(run(part, [[FROM, FROM + filled + 100]])) is not None


def test_packets_that_wait_for_grants_are_not_explained() -> None:
    """Those to the modems are, in the same run."""
    whole = run(missing(FROM + MS, TO + MS))
    whole["upstream"]["grants"] = {}
    assert explained(whole) is not None
    whole["upstream"] |= {"lost": 1, "proven": PACKETS - 1}
    assert explained(whole) is None
    assert whole["unexplained"]["upstream"] == {"lost": 1, "reordered": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"corrupted": 1, "lost": 6},
        {"unexpected_frames": 1},
        {"witness": {"wrong": 1}},
        {"resequencing": {"skipped": 1}},
        {"duplicated": 1},
        {"depi_violations": {"sequence_gap": 1}},
        # one that nothing came behind
        {"lost": 8, "proven": PACKETS - 8, "drops": {"scheduler_full": 8}},
        {"proven": PACKETS - 8},  # the account does not close
        {"undecipherable": 1},
        {"unaccounted": 1},
        {"balanced": False},
        {"suspects": {"lost_more": 1, "reordered_more": 0, "list": [[FROM, TO, 6, 0]]}},
        {"suspects": {"lost_more": 0, "reordered_more": 0, "list": [[1, 2, 7, 0]]}},
        {"grants": {}},
        {"sent_bytes": PACKETS * 1000 + 1},  # more than the channels carry
        {"drops": {"scheduler_full": 6}},  # of one packet vcmtsd does not know
        {"drops": {"scheduler_full": 6, "filter_deny": 1}},
    ],
    ids=str,
)
def test_anything_else_fails(wrong: Json) -> None:
    assert explained(run(missing(FROM, TO) | wrong)) is None


def test_a_burst_has_several_packets() -> None:
    whole = run(direction())
    whole["upstream"] = missing(FROM, TO) | {"drops": {"burst_gap": 1}}
    assert explained(whole) is not None
    whole["upstream"]["drops"] = {"frame_gap": 6}
    assert explained(whole) is None
    whole["ports"] = {"network": {}, "rphy": {"missed": 1, "no_buffer": 0}}
    assert explained(whole) is not None


def test_nothing_to_explain() -> None:
    whole = run(direction())
    assert explained(whole) is None and whole["unexplained"] is None


def test_impaired_runs_are_not_explained() -> None:
    whole = run(missing(FROM, TO))
    whole["upstream"]["impairments"] = {}
    assert explained(whole) is None and whole["unexplained"] is None


def test_what_changes_overtook_is_not_lost() -> None:
    part = direction(lost=2, suspects=[[FROM, TO, 2, 0], [1, 2, 5, 0]])
    part |= {"overtaken": 5, "proven": PACKETS - 7}
    assert explained(run(part)) is not None


def test_it_is_told_in_a_line() -> None:
    whole = run(missing(FROM, TO))
    found = explained(whole)
    assert found is not None
    said = gaps.told(whole, found)
    assert said.startswith("passed: 7 packets were lost and 0 came out of order ")
    assert "for up to 40 ms" in said and "\n" not in said
