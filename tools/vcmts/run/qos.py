# SPDX-License-Identifier: BSD-3-Clause
"""Whether rates, priorities and weights of the downstream hold, by what the modems saw.

The traffic program measures (`qos` of a group's downstream in its summary). What came too fast is
wrong where no gap of the machine can have held it up before. What came too slowly is wrong where
packets waited, nothing but this rate held them back, and gaps do not explain it.
"""

from collections.abc import Iterator
from itertools import chain, combinations, groupby

from vcmts.jsons import Json
from vcmts.paths import complain
from vcmts.run import expected, gaps

# What lies between the scheduler and the modem: DEPI frames that fill, bursts, rings.
LEAST_S = 0.01
# Of a rate, where packets wait for it.
MOST_MISSING = 0.01
# Means of fewer packets say little.
FEWEST_PACKETS = 1_000
DELAY_RATIO, DELAY_US = 1.1, 5_000
# Of the time in which packets are sent: flows that wait for as long share all of it.
WAITED_SHARE = 0.8
SHARE_OFF = 0.2
NAMES = ("rates", "priorities", "weights")


def measured(whole: Json) -> list[Json]:
    """Of each service group that tells it."""
    groups = whole.get("groups", [])
    found = [group["downstream"]["qos"] for group in groups if "qos" in group.get("downstream", {})]
    return found if found and gaps.noted(whole) else []


def longest_delay(machine: gaps.Times) -> float:
    """Cycles for which gaps hold up a packet at most: those that follow each other before what the
    first has held up is gone add up."""
    longest = length = 0.0
    until = 0.0
    for since, to in machine.spans:
        length = (length if since <= until else 0.0) + (to - since)
        until = to + gaps.RECOVERY * length
        longest = max(longest, length)
    return longest


def faster(one: Json, held_s: float) -> str:
    """What is said of a rate that let too much through; empty where it did not, or what came had
    been held up for `held_s`."""
    if one["over_s"] <= held_s + LEAST_S:
        return ""
    return (
        f"{one['over_s'] * 1e3:,.0f} ms more than {one['rate'] / 1e6:,.4g} Mbps and a burst of "
        f"{one['burst']:,.0f} bytes let through"
    )


def slower(one: Json, stood_s: float) -> str:
    """What is said of a rate that packets waited for and that was not reached; vcmtsd stood still
    for `stood_s` meanwhile."""
    waited, came = one["waited_s"], one["waited_bytes"] * 8 / one["rate"]
    if not one["alone"] or waited - came <= waited * MOST_MISSING + stood_s + LEAST_S:
        return ""
    return (
        f"{came / waited:.1%} of {one['rate'] / 1e6:,.4g} Mbps came while packets waited for "
        f"{waited:,.1f} s"
    )


def rates(part: Json, whole: Json) -> Iterator[str]:
    hz = float(whole["host"]["tsc_hz"])
    stood_s = gaps.of_threads(whole["workers"]).within(part["since"], part["until"]) / hz
    held_s = longest_delay(gaps.of_machine(whole)) / hz
    stood_s += gaps.unlisted_most_s(whole["workers"], hz)
    held_s += gaps.unlisted_most_s([whole, *whole["workers"]], hz)
    for one in part["limits"]:
        for said in (faster(one, held_s), slower(one, stood_s)):
            if said:
                yield f"{one['of']} {one['id']}: {said}"


def priorities(part: Json) -> Iterator[str]:
    seen = [one for one in part["delays"] if one["packets"] >= FEWEST_PACKETS]
    for low, high in combinations(sorted(seen, key=lambda one: int(one["priority"])), 2):
        if low["bonding_group"] != high["bonding_group"]:
            continue
        if high["mean_us"] > low["mean_us"] * DELAY_RATIO + DELAY_US:
            yield (
                f"bonding group {low['bonding_group']}: packets of priority {high['priority']} "
                f"took {high['mean_us']:,.0f} us in the mean, those of priority {low['priority']} "
                f"{low['mean_us']:,.0f} us"
            )


def alike(one: Json) -> tuple[int, ...]:
    return tuple(int(one[key]) for key in ("modem", "bonding_group", "priority"))


def competing(part: Json, hz: float) -> list[list[Json]]:
    """Flows of a modem, priority and bonding group whose packets waited nearly all the time."""
    least = WAITED_SHARE * (part["until"] - part["since"]) / hz
    waiting = [one for one in part["shares"] if one["waited_s"] >= least]
    found = [list(flows) for _, flows in groupby(sorted(waiting, key=alike), alike)]
    return [flows for flows in found if len(flows) > 1]


def weights(part: Json, hz: float) -> Iterator[str]:
    for flows in competing(part, hz):
        rates_of = [one["waited_bytes"] / one["waited_s"] for one in flows]
        unit = sum(rates_of) / sum(one["weight"] for one in flows)
        for one, rate in zip(flows, rates_of, strict=True):
            if abs(rate / unit / one["weight"] - 1) > SHARE_OFF:
                yield (
                    f"service flow {one['id']}: of weight {one['weight']}, it got "
                    f"{rate / sum(rates_of):.1%} of what came for modem "
                    f"{one['modem']} with this priority"
                )


def judged(part: Json, hz: float) -> dict[str, int]:
    delays = [one for one in part["delays"] if one["packets"] >= FEWEST_PACKETS]
    groups = [one["bonding_group"] for one in delays]
    compared = [one for one in delays if groups.count(one["bonding_group"]) > 1]
    return {
        "rates": int(part["rates"]),
        "priorities": sum(int(one["packets"]) for one in compared),
        "weights": sum(len(flows) for flows in competing(part, hz)),
    }


def add(whole: Json) -> None:
    """The downstream gets `qos_judged` and `qos_wrong`, by name, and what is wrong is told. Nothing
    is judged where the configuration changed meanwhile."""
    if "downstream" not in whole:
        return
    part = whole["downstream"]
    part["qos_judged"], part["qos_wrong"] = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    if expected.changed(whole):
        return
    for one in measured(whole):
        hz = float(whole["host"]["tsc_hz"])
        wrong = {
            "rates": list(rates(one, whole)),
            "priorities": list(priorities(one)),
            "weights": list(weights(one, hz)),
        }
        for name, count in judged(one, hz).items():
            part["qos_judged"][name] += count
            part["qos_wrong"][name] += len(wrong[name])
        for said in chain.from_iterable(wrong.values()):
            complain(f"downstream: {said}")
