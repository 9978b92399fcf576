# SPDX-License-Identifier: BSD-3-Clause
"""Whether packets take longer than a data plane that has time for them needs.

Packets wait where queues are full, where the scheduler holds them back for a rate, where modems
wait for grants, and where the machine runs something else. A run without these has no reason for
more than LIMIT_US for half of its packets.
"""

from typing import Any

from vcmts.run import gaps, refusals, summary

Json = dict[str, Any]

LIMIT_US = 5_000
# The scheduler's own, from which on it holds packets back.
HELD_US = 1_000
# Of the time of a run; gaps that were too many to be listed are of 1 ms at least.
MOST_GAPS, SHORTEST_GAP_S = 0.2, 1e-3


def gaps_share(whole: Json, seconds: float) -> float:
    """How much of a run the machine did not run what polls, at least."""
    threads = [whole, *whole["workers"]]
    shorter = sum(thread["gaps"]["shorter"] for thread in threads) * SHORTEST_GAP_S
    listed = sum(to - since for since, to in gaps.of_machine(whole).spans)
    return (listed / float(whole["host"]["tsc_hz"]) + shorter) / seconds if seconds > 0 else 1.0


def is_held(part: Json) -> bool:
    """Whether packets had to wait for others, for a rate, or for grants."""
    delays = part.get("scheduler", {}).get("delay", [])
    return (
        "grants" in part
        or bool(refusals.accidental(part))
        or part["lost"] > 0
        or part["transmit_backpressure"] > 0
        or part["asked_gbps"] is None
        or not summary.keeps_rate(part)
        or any(one["p50_us"] > HELD_US for one in delays)
    )


def late(part: Json) -> int:
    """Packets that took longer, where they are half of all."""
    if part["latency_us"]["p50"] <= LIMIT_US:
        return 0
    return int(sum(count for since, count in part["latency_us"]["histogram"] if since > LIMIT_US))


def add(whole: Json) -> None:
    """Directions of the summary get `late`: how many packets; null where that is not judged."""
    noted = gaps.noted(whole)
    for part in (whole[way] for way in summary.directions(whole)):
        judged = noted and not is_held(part) and gaps_share(whole, part["seconds"]) < MOST_GAPS
        part["late"] = late(part) if judged and part["latency_us"] else None
