# SPDX-License-Identifier: BSD-3-Clause
"""Separates faults of the programs from effects of a busy machine, for runs in real time.

A polling program loses no packets while it runs. If the system deschedules one of its threads,
queues may overflow and timers may expire: packets are lost or reordered without a fault. Both
programs report the longest time for which a thread was descheduled. Tests require every packet only
if it was short. At any speed: no packet is corrupted or duplicated, and the balance is exact.
"""

from typing import Any

from vcmts.directions import DIRECTIONS

Json = dict[str, Any]

# At the rates of these tests, rings and queues do not overflow in this time.
QUEUES_LAST_US = 5_000
# At the end of a run, the traffic program waits longer than this for packets under way.
ARRIVAL_TIMEOUT_US = 100_000


def longest_gap_us(report: Json) -> float:
    """Longest time in us for which a thread was descheduled. `report`: the
    summary of a run, or the answer to a trial."""
    threads = [*report.get("workers", []), *(report[name] for name in DIRECTIONS if name in report)]
    return max(float(thread["descheduled"]["longest_us"]) for thread in threads)


def ran_undisturbed(summary: Json) -> bool:
    return longest_gap_us(summary) < QUEUES_LAST_US


def waited_for_all(summary: Json) -> bool:
    """Whether the traffic program waited for all packets under way: each lost one was dropped."""
    return longest_gap_us(summary) < ARRIVAL_TIMEOUT_US


def all_proven(summary: Json) -> bool:
    """Whether every packet was received once and in order."""
    return all(
        part["sent"] == part["proven"] + part.get("counted", 0) > 0
        and not any(part[key] for key in ("lost", "corrupted", "duplicated", "reordered"))
        for part in (summary[name] for name in DIRECTIONS if name in summary)
    )


def keeps_asked_rate(part: Json) -> bool:
    """Whether `least_gbps` of an asked rate was sent, or less than 100 packets were due."""
    if part["least_gbps"] is None:
        return True
    sent = part["sent_bytes"] * 8e-9
    due = part["asked_gbps"] * part["sent_seconds"]
    return bool(
        sent >= part["least_gbps"] * part["sent_seconds"] or part["sent"] * due < 100 * sent
    )


def run_passed(summary: Json) -> bool:
    """Whether `vcmts run` exits with 0: the asked rates were sent, and every packet is proven, or
    gaps explain the others."""
    unexplained = summary.get("unexplained")
    explained = unexplained is not None and not any(
        any(part.values()) for part in unexplained.values()
    )
    kept = all(keeps_asked_rate(summary[name]) for name in DIRECTIONS if name in summary)
    return kept and (explained or all_proven(summary))


def check_balance(summary: Json) -> None:
    """Checks the balance per direction, and every packet if the machine ran undisturbed."""
    for part in (summary[name] for name in DIRECTIONS if name in summary):
        received = part["proven"] + part.get("counted", 0)
        assert part["sent"] == received + part["lost"] + part["corrupted"] > 0
        assert part["corrupted"] == part["duplicated"] == 0
        assert not any(part["corrupted_by"].values())
        # no loss after the scheduler, however full the port is
        assert not any(part.get("depi_violations", {}).values())
    assert all_proven(summary) or not ran_undisturbed(summary), summary
