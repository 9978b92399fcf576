# SPDX-License-Identifier: BSD-3-Clause
"""What of a run may surprise, and why it was so, a line each behind the summary."""

from collections import Counter

from vcmts.jsons import Json
from vcmts.paths import complain
from vcmts.run import checks, groups, summary

FEWEST_PACKETS = 100  # fewer make no rate
# Drops of what is more than the channels carry, at the end of a queue or before it is long.
FULL = ("flow_buffer_full", "scheduler_full", "wred_drop", "docsis_pie_drop")
# Rings and queues bridge less; a modem waits 18 ms for what is missing before a packet.
BRIDGED_US = 5_000
# How many, of which kinds, and what is said of them.
WRONG_FRAMES = (
    ("unexpected_frames", "unexpected", "came that nobody asked for"),
    ("corrupted", "corrupted_by", "were corrupted"),
)


def of_full_queues(whole: Json, facts: Json) -> None:
    drops = whole.get("downstream", {}).get("drops", {})
    full = sum(drops.get(name, 0) for name in FULL)
    if full:
        carried = f"the channels carry {facts['capacity'] / 1e9:.3g} Gbps"
        complain(f"{full:,} packets found full queues: {carried}; a smaller --rate helps")


def of_low_rates(whole: Json) -> None:
    for direction in summary.directions(whole):
        part = whole[direction]
        if part["sent"] < FEWEST_PACKETS or summary.keeps_rate(part):
            continue
        sent, asked = summary.sent_gbps(part), part["asked_gbps"]
        complain(
            f"{direction}: {groups.rate(sent)} of {groups.rate(asked)} were sent: the machine "
            "(the traffic's core, or full queues before vcmtsd) did not carry the rate asked for"
        )


def of_silence(whole: Json) -> None:
    """Nothing of such a group is wrong, and nothing proven."""
    for group, direction in summary.silent(whole):
        complain(
            f"service group {group}: no packet was sent {direction}: a longer --duration helps"
        )


def of_cores_taken(whole: Json, *, excused: bool = False) -> None:
    """What is late or lost may be the machine's doing, where it did not run what polls."""
    parts = [whole[direction] for direction in summary.directions(whole)]
    late = sum(part["lost"] - part.get("expected", {}).get("lost", 0) for part in parts)
    late += sum(part["reordered"] for part in parts)
    threads = [("the traffic", part["descheduled"]["longest_us"]) for part in parts]
    threads += [(one["name"], one["descheduled"]["longest_us"]) for one in whole["workers"]]
    name, longest_us = max(threads, key=lambda thread: float(thread[1]))
    if late > 0 and longest_us > BRIDGED_US and not excused:
        complain(
            f"the system ran something else on the core of {name} for up to "
            f"{longest_us / 1e3:,.0f} ms: this alone loses packets, or brings them out of order, "
            "as a modem waits 18 ms for one that is missing; try again with less beside it"
        )


def of_wrong_frames(whole: Json, kept: str | None) -> None:
    """`kept`: the file that holds the first ones."""
    for key, by_kind, told in WRONG_FRAMES:
        parts = [whole[direction] for direction in summary.directions(whole)]
        count = sum(part.get(key, 0) for part in parts)
        if count:
            found = Counter[str]()
            for part in parts:
                found.update(part[by_kind])
            kinds = ", ".join(f"{n:,} {name}" for name, n in found.items() if n)
            where = f"; `wireshark {kept}` shows the first ones" if kept else ""
            complain(f"{count:,} frames {told} ({kinds}){where}")


def of_accounts(whole: Json) -> None:
    if not summary.balanced(whole):
        complain(
            "the accounts of vcmtsd do not balance: it lost packets without a counter for them, "
            "which is a bug; please report it with the file of --json"
        )


def of_identities(whole: Json) -> None:
    for broken in whole.get("identities_broken", []):
        complain(f"counters that do not agree: {broken}; this is a bug, please report it")


def of_idle_checks(whole: Json) -> None:
    if told := checks.idle(whole["checks"]):
        complain(told)


def of_the_proof(whole: Json) -> None:
    if summary.unaccounted(whole):
        complain(
            "the account of the traffic program does not close: sent is not proven + lost + "
            "corrupted + undecipherable + overtaken, which is a bug; please report it with the "
            "file of --json"
        )


def tell(whole: Json, facts: Json, kept: str | None = None, *, excused: bool = False) -> None:
    """`excused`: gaps of the machine explain what was lost or out of order, which is told apart.
    `kept`: the capture of wrong frames, where there are any."""
    of_full_queues(whole, facts)
    of_low_rates(whole)
    of_silence(whole)
    of_cores_taken(whole, excused=excused)
    of_wrong_frames(whole, kept)
    of_accounts(whole)
    of_identities(whole)
    of_idle_checks(whole)
    of_the_proof(whole)
