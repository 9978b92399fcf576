# SPDX-License-Identifier: BSD-3-Clause
"""Prints messages after the summary of a run: what went wrong or may surprise, with the reason."""

from collections import Counter

from vcmts.jsons import Json
from vcmts.paths import TOOL, notify
from vcmts.run import checks, summary, verdict

# Drops of packets beyond the channels' capacity: tail drops and those of AQM.
FULL = ("flow_buffer_full", "scheduler_full", "wred_drop", "docsis_pie_drop")
# Rings and queues bridge shorter gaps.
BRIDGED_US = 5_000
# Keys of the count and of the counts by kind, and the words of the message.
WRONG_FRAMES = (
    ("unexpected_frames", "unexpected", "were unexpected"),
    ("corrupted", "corrupted_by", "were corrupted"),
)


def report_full_queues(whole: Json, facts: Json) -> None:
    drops = whole.get("downstream", {}).get("drops", {})
    full = sum(drops.get(name, 0) for name in FULL)
    if full:
        carried = f"the channels carry {facts['capacity'] / 1e9:.3g} Gbps"
        notify(f"{full:,} packets were dropped at full queues: {carried}; reduce --rate")


def report_low_rates(whole: Json, *, ordinary_pages: bool = False) -> None:
    slow = [
        direction
        for direction in summary.directions(whole)
        if whole[direction]["sent"] >= verdict.FEWEST and not summary.keeps_rate(whole[direction])
    ]
    if slow:
        asked = any(whole[direction]["least_gbps"] is not None for direction in slow)
        which = "requested rate" if asked else "default rate"
        notify(
            f"{' and '.join(slow)}: the machine did not carry the {which} (core of the traffic, or "
            "full queues before vcmtsd)"
            + ("; --rate max sends what it carries" if asked else "")
            + (f"; huge pages make it faster: `{TOOL} host plan`" if ordinary_pages else "")
        )


def report_lost_cores(whole: Json, *, excused: bool = False) -> None:
    """Reports that the kernel took a core from a polling thread, which may have lost packets."""
    parts = [whole[direction] for direction in summary.directions(whole)]
    late = sum(part["lost"] - part.get("expected", {}).get("lost", 0) for part in parts)
    late += sum(part["reordered"] for part in parts)
    threads = [("the traffic", part["descheduled"]["longest_us"]) for part in parts]
    threads += [(one["name"], one["descheduled"]["longest_us"]) for one in whole["workers"]]
    name, longest_us = max(threads, key=lambda thread: float(thread[1]))
    if late > 0 and longest_us > BRIDGED_US and not excused:
        notify(
            f"the kernel ran something else on the core of {name} for up to "
            f"{longest_us / 1e3:,.0f} ms: this alone can lose or reorder packets, as a modem waits "
            "18 ms for a missing one; run again with less load on the machine"
        )


def report_wrong_frames(whole: Json, kept: str | None) -> None:
    """Reports unexpected and corrupted frames. `kept`: the capture of the first ones."""
    for key, by_kind, text in WRONG_FRAMES:
        parts = [whole[direction] for direction in summary.directions(whole)]
        count = sum(part.get(key, 0) for part in parts)
        if count:
            found = Counter[str]()
            for part in parts:
                found.update(part[by_kind])
            kinds = ", ".join(f"{n:,} {name}" for name, n in found.items() if n)
            where = f"; see the first ones with `wireshark {kept}`" if kept else ""
            notify(f"{count:,} frames {text} ({kinds}){where}")


def report_unbalanced_plane(whole: Json) -> None:
    if not summary.balanced(whole):
        notify(
            "packets of vcmtsd are unaccounted for: it lost packets without counting them; this is "
            "a bug, please report it with the file of --json"
        )


def report_broken_identities(whole: Json) -> None:
    for broken in whole.get("identities_broken", []):
        notify(f"counters disagree: {broken}; this is a bug, please report it")


def report_idle_checks(whole: Json) -> None:
    if text := checks.idle_checks_text(whole["checks"]):
        notify(text)


def report_unbalanced_traffic(whole: Json) -> None:
    if summary.unaccounted(whole):
        notify(
            "packets of the traffic program are unaccounted for: sent is not proven + lost + "
            "corrupted + undecipherable + overtaken; this is a bug, please report it with the file "
            "of --json"
        )


def report_all(
    whole: Json,
    facts: Json,
    kept: str | None = None,
    *,
    excused: bool = False,
    ordinary_pages: bool = False,
    verbose: bool = False,
) -> None:
    """Prints all messages of a run. `excused`: gaps of the machine explain all lost and reordered
    packets. `kept`: the capture of wrong frames. `ordinary_pages`: a program said that huge
    pages are missing. `verbose`: also what was not checked."""
    report_full_queues(whole, facts)
    report_low_rates(whole, ordinary_pages=ordinary_pages)
    report_lost_cores(whole, excused=excused)
    report_wrong_frames(whole, kept)
    report_unbalanced_plane(whole)
    report_broken_identities(whole)
    if verbose:
        report_idle_checks(whole)
    report_unbalanced_traffic(whole)
