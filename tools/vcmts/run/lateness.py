# SPDX-License-Identifier: BSD-3-Clause
"""Checks the latency of a run: without a reason to wait, half of the packets take at most LIMIT_US.

Reasons are full queues, rates of the scheduler, modems that wait for grants, and gaps of the
machine. With one of these the check is skipped.
"""

from vcmts.jsons import Json
from vcmts.run import gaps, refusals, summary

LIMIT_US = 5_000
# Median delay in the scheduler above which packets wait for a rate.
SHAPED_US = 1_000
# Maximum share of a run's time in gaps.
MOST_GAPS = 0.2
# Channel load below which packets wait behind gaps only: the backlog of a gap is transmitted after
# 1 / (1 - FREE_LOAD) times its length, so less than half of the packets are affected.
FREE_LOAD = 0.5


def is_overloaded(part: Json) -> bool:
    """Whether the machine did not carry the requested rate of a direction."""
    return (
        part["transmit_backpressure"] > 0
        or part["asked_gbps"] is None
        or not summary.keeps_rate(part)
    )


def waits_for_rate(part: Json) -> bool:
    """Whether packets wait in the scheduler, possibly for the rate of a channel, flow or modem.
    `qos.rates` counts the rates of channels, flows and modems."""
    scheduler = part.get("scheduler", {})
    if all(one["p50_us"] <= SHAPED_US for one in scheduler.get("delay", [])):
        return False
    channels, qos = scheduler.get("channels", []), part.get("qos")
    if not channels or qos is None or qos["shaped"] or qos["rates"] > len(channels):
        return True
    seconds = max(part["sent_seconds"], 1e-3)
    return any(one["bytes"] * 8 >= FREE_LOAD * one["rate"] * seconds for one in channels)


def may_wait(part: Json) -> bool:
    """Whether packets had a reason to wait: losses, drops, a rate, or grants."""
    return (
        "grants" in part
        or bool(refusals.other_drops(part))
        or part["lost"] > 0
        or waits_for_rate(part)
    )


def late_packets(part: Json) -> int:
    """The number of packets that took longer than LIMIT_US; 0 if the median is below it."""
    if part["latency_us"]["p50"] <= LIMIT_US:
        return 0
    return int(sum(count for since, count in part["latency_us"]["histogram"] if since > LIMIT_US))


def add(whole: Json) -> None:
    """Adds `late` to the directions: the number of late packets, null if not checked."""
    parts = [whole[way] for way in summary.directions(whole)]
    # Directions share cores: an overloaded one delays the other.
    noted = gaps.are_recorded(whole) and not any(map(is_overloaded, parts))
    for part in parts:
        checked = (
            noted and not may_wait(part) and gaps.gap_share(whole, part["seconds"]) < MOST_GAPS
        )
        part["late"] = late_packets(part) if checked and part["latency_us"] else None
