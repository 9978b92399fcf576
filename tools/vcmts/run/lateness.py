# SPDX-License-Identifier: BSD-3-Clause
"""Whether packets take longer than a data plane that has time for them needs.

Packets wait where queues are full, where the scheduler holds them back for a rate, where modems
wait for grants, and where the machine runs something else. A run without these has no reason for
more than LIMIT_US for half of its packets.
"""

from vcmts.jsons import Json
from vcmts.run import gaps, refusals, summary

LIMIT_US = 5_000
# The scheduler's own, from which on it holds packets back.
HELD_US = 1_000
# Of the time of a run.
MOST_GAPS = 0.2
# Of a channel. With less of it packets wait behind gaps only, for less than half of the time: what
# a gap holds up is gone after 1 / (1 - FREE_LOAD) times its length.
FREE_LOAD = 0.5


def is_overloaded(part: Json) -> bool:
    """Whether the machine did not carry all that was to be sent in a direction."""
    return (
        part["transmit_backpressure"] > 0
        or part["asked_gbps"] is None
        or not summary.keeps_rate(part)
    )


def waits_for_rate(part: Json) -> bool:
    """Whether the scheduler holds packets back, and a rate may be the reason: of a channel, or of
    flows and modems, whose rates `qos` counts beside those of channels."""
    scheduler = part.get("scheduler", {})
    if all(one["p50_us"] <= HELD_US for one in scheduler.get("delay", [])):
        return False
    channels, qos = scheduler.get("channels", []), part.get("qos")
    if not channels or qos is None or qos["shaped"] or qos["rates"] > len(channels):
        return True
    seconds = max(part["sent_seconds"], 1e-3)
    return any(one["bytes"] * 8 >= FREE_LOAD * one["rate"] * seconds for one in channels)


def is_held(part: Json) -> bool:
    """Whether packets had to wait for others, for a rate, or for grants."""
    return (
        "grants" in part
        or bool(refusals.accidental(part))
        or part["lost"] > 0
        or waits_for_rate(part)
    )


def late(part: Json) -> int:
    """Packets that took longer, where they are half of all."""
    if part["latency_us"]["p50"] <= LIMIT_US:
        return 0
    return int(sum(count for since, count in part["latency_us"]["histogram"] if since > LIMIT_US))


def add(whole: Json) -> None:
    """Directions of the summary get `late`: how many packets; null where that is not judged."""
    parts = [whole[way] for way in summary.directions(whole)]
    # Directions share cores: one that is overloaded holds up the other one.
    noted = gaps.noted(whole) and not any(map(is_overloaded, parts))
    for part in parts:
        judged = noted and not is_held(part) and gaps.share(whole, part["seconds"]) < MOST_GAPS
        part["late"] = late(part) if judged and part["latency_us"] else None
