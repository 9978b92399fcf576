# SPDX-License-Identifier: BSD-3-Clause
"""Checks rates, priorities and weights of the downstream from the traffic program's measurements.

The measurements are in `qos` of a group's downstream. A rate that is too high is an error unless a
gap of the machine delayed packets before. A rate that is too low is an error if packets waited only
for this rate, and gaps do not explain it.
"""

from collections.abc import Iterator
from itertools import chain, combinations, groupby

from vcmts.jsons import Json
from vcmts.paths import notify
from vcmts.run import expected, gaps

# Tolerance for delays between scheduler and modem: filling of DEPI frames, bursts, rings.
LEAST_S = 0.01
# Maximum share of a rate that may be missing while packets wait for it.
MOST_MISSING = 0.01
# Minimum for a meaningful mean.
FEWEST_PACKETS = 1_000
# A higher priority may have a mean delay of DELAY_RATIO times that of a lower one, plus DELAY_US.
DELAY_RATIO, DELAY_US = 1.1, 5_000
# Flows compete if their packets waited for this share of the time.
WAITED_SHARE = 0.8
SHARE_OFF = 0.2
NAMES = ("rates", "priorities", "weights")


def measurements(whole: Json) -> list[Json]:
    """The measurements of each service group that has some; empty if gaps were not recorded."""
    groups = whole.get("groups", [])
    found = [group["downstream"]["qos"] for group in groups if "qos" in group.get("downstream", {})]
    return found if found and gaps.are_recorded(whole) else []


def longest_delay(machine: gaps.GapTimes) -> float:
    """The maximum delay of a packet by gaps, in cycles. Gaps add up if one begins before the
    backlog of the previous one is transmitted."""
    longest = length = 0.0
    until = 0.0
    for since, to in machine.spans:
        length = (length if since <= until else 0.0) + (to - since)
        until = to + gaps.RECOVERY * length
        longest = max(longest, length)
    return longest


def too_fast(one: Json, delay_s: float) -> str:
    """The message for a limit that passed too much, beyond a delay of `delay_s`; else ""."""
    if one["over_s"] <= delay_s + LEAST_S:
        return ""
    return (
        f"passed {one['over_s'] * 1e3:,.0f} ms more than {one['rate'] / 1e6:,.4g} Mbps and a burst "
        f"of {one['burst']:,.0f} bytes allow"
    )


def too_slow(one: Json, gap_s: float) -> str:
    """The message for a rate not reached, beyond gaps of `gap_s`; else ""."""
    waited, received = one["waited_s"], one["waited_bytes"] * 8 / one["rate"]
    if not one["alone"] or waited - received <= waited * MOST_MISSING + gap_s + LEAST_S:
        return ""
    return (
        f"reached {received / waited:.1%} of {one['rate'] / 1e6:,.4g} Mbps while packets waited "
        f"for {waited:,.1f} s"
    )


def rates(part: Json, whole: Json) -> Iterator[str]:
    hz = float(whole["host"]["tsc_hz"])
    gap_s = gaps.gaps_of_threads(whole["workers"]).within(part["since"], part["until"]) / hz
    delay_s = longest_delay(gaps.gaps_of_machine(whole)) / hz
    gap_s += gaps.max_unlisted_s(whole["workers"], hz)
    delay_s += gaps.max_unlisted_s([whole, *whole["workers"]], hz)
    for one in part["limits"]:
        for message in (too_fast(one, delay_s), too_slow(one, gap_s)):
            if message:
                yield f"{one['of']} {one['id']}: {message}"


def priorities(part: Json) -> Iterator[str]:
    enough = [one for one in part["delays"] if one["packets"] >= FEWEST_PACKETS]
    for low, high in combinations(sorted(enough, key=lambda one: int(one["priority"])), 2):
        if low["bonding_group"] != high["bonding_group"]:
            continue
        if high["mean_us"] > low["mean_us"] * DELAY_RATIO + DELAY_US:
            yield (
                f"bonding group {low['bonding_group']}: packets of priority {high['priority']} "
                f"have a mean delay of {high['mean_us']:,.0f} us, those of priority "
                f"{low['priority']} of {low['mean_us']:,.0f} us"
            )


def competition_key(one: Json) -> tuple[int, ...]:
    return tuple(int(one[key]) for key in ("modem", "bonding_group", "priority"))


def competing(part: Json, hz: float) -> list[list[Json]]:
    """Flows of a modem, bonding group and priority whose packets waited nearly all the time."""
    least = WAITED_SHARE * (part["until"] - part["since"]) / hz
    waiting = [one for one in part["shares"] if one["waited_s"] >= least]
    found = [
        list(flows) for _, flows in groupby(sorted(waiting, key=competition_key), competition_key)
    ]
    return [flows for flows in found if len(flows) > 1]


def weights(part: Json, hz: float) -> Iterator[str]:
    for flows in competing(part, hz):
        rates_of = [one["waited_bytes"] / one["waited_s"] for one in flows]
        unit = sum(rates_of) / sum(one["weight"] for one in flows)
        for one, rate in zip(flows, rates_of, strict=True):
            if abs(rate / unit / one["weight"] - 1) > SHARE_OFF:
                yield (
                    f"service flow {one['id']} with weight {one['weight']} got "
                    f"{rate / sum(rates_of):.1%} of the rate of modem {one['modem']} and this "
                    "priority"
                )


def checked_counts(part: Json, hz: float) -> dict[str, int]:
    delays = [one for one in part["delays"] if one["packets"] >= FEWEST_PACKETS]
    groups = [one["bonding_group"] for one in delays]
    compared = [one for one in delays if groups.count(one["bonding_group"]) > 1]
    return {
        "rates": int(part["rates"]),
        "priorities": sum(int(one["packets"]) for one in compared),
        "weights": sum(len(flows) for flows in competing(part, hz)),
    }


def add(whole: Json) -> None:
    """Adds `qos_judged` and `qos_wrong` to the downstream: counts by name in NAMES; prints what is
    wrong. Skips the checks if the configuration changed."""
    if "downstream" not in whole:
        return
    part = whole["downstream"]
    part["qos_judged"], part["qos_wrong"] = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    if expected.configuration_changed(whole):
        return
    for one in measurements(whole):
        hz = float(whole["host"]["tsc_hz"])
        wrong = {
            "rates": list(rates(one, whole)),
            "priorities": list(priorities(one)),
            "weights": list(weights(one, hz)),
        }
        for name, count in checked_counts(one, hz).items():
            part["qos_judged"][name] += count
            part["qos_wrong"][name] += len(wrong[name])
        for message in chain.from_iterable(wrong.values()):
            notify(f"downstream: {message}")
