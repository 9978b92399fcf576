# SPDX-License-Identifier: BSD-3-Clause
"""What of a run in real time is the programs' and what the machine's.

A program that polls loses nothing while it is run. Where the system takes its core away, queues
may fill, modems may give up waiting for each other's packets, and what was begun may come too late:
packets get lost or come out of order, and nobody is to blame. Both programs tell how long they were
away at the longest; only where that was short does a test ask for every packet. What holds at any
speed is asked for always: nothing is corrupted or comes twice, and every packet has its account.
"""

from typing import Any

from vcmts.directions import DIRECTIONS

Json = dict[str, Any]

# Rings and queues hold more than comes in this time at the rates of these tests.
BRIDGED_US = 5_000
# Of what is under way the traffic waits longer than this.
AWAITED_US = 100_000


def away_us(told: Json) -> float:
    """The longest time for which one of the threads was away, of a summary or a trial's answer."""
    threads = [*told.get("workers", []), *(told[way] for way in DIRECTIONS if way in told)]
    return max(float(thread["descheduled"]["longest_us"]) for thread in threads)


def kept_up(told: Json) -> bool:
    return away_us(told) < BRIDGED_US


def heard_out(told: Json) -> bool:
    """Whether what was still under way at the end has come: all that is lost was dropped."""
    return away_us(told) < AWAITED_US


def proven(told: Json) -> bool:
    """Whether every packet came once and in order."""
    return all(
        part["sent"] == part["proven"] + part.get("counted", 0) > 0
        and not any(part[key] for key in ("lost", "corrupted", "duplicated", "reordered"))
        for part in (told[way] for way in DIRECTIONS if way in told)
    )


def passed(told: Json) -> bool:
    """What the exit status of `vcmts run` says: packets were proven, or gaps explain why not."""
    unexplained = told.get("unexplained")
    explained = unexplained is not None and not any(
        any(part.values()) for part in unexplained.values()
    )
    return explained or proven(told)


def check_accounts(told: Json) -> None:
    """At any speed of the machine; every packet, where it kept up."""
    for part in (told[way] for way in DIRECTIONS if way in told):
        came = part["proven"] + part.get("counted", 0)
        assert part["sent"] == came + part["lost"] + part["corrupted"] > 0
        assert part["corrupted"] == part["duplicated"] == 0
        assert not any(part["corrupted_by"].values())
        # behind the scheduler nothing is lost, however full the port is
        assert not any(part.get("depi_violations", {}).values())
    assert proven(told) or not kept_up(told), told
