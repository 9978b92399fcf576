# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether gaps of the machine explain lost and reordered packets (docs/traffic.md).

A gap is a time in which the kernel did not run a polling thread; both programs record their gaps.
The traffic program records when each lost or late packet was in flight. All times are cycles of the
TSC, which the processes of a machine share.
"""

from bisect import bisect_left
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.run import expected, refusals, summary
from vcmts.run.plane import WIRE

# A modem's resequencing timer: it waits so long for a missing packet.
REORDER_WAIT_US = 18_000
EXPLAINED = ("lost", "reordered")  # keys of the counts that gaps can explain
# Shorter gaps explain nothing.
LEAST_US = 5_000
# Drop reasons that a gap can cause in a correct data plane, as queues fill up or timers expire. A
# burst or segment of 2 kB has up to 31 packets.
PACKETS_A_BURST = 31
FULL = ("flow_buffer_full", "scheduler_full", "wred_drop", "docsis_pie_drop")
FRAMES = ("frame_gap", "frame_timeout", "frame_limit", "frame_no_buffer")
BURSTS = (
    *("psp_late", "burst_gap", "burst_headless", "burst_timeout", "burst_limit"),
    *("burst_no_buffer", "segment_late", "segment_orphan"),
)
DROPS = {
    "downstream": dict.fromkeys((*FULL, "crypto_full", "no_buffer"), 1),
    "upstream": dict.fromkeys(("crypto_full", *FRAMES), 1) | dict.fromkeys(BURSTS, PACKETS_A_BURST),
}
# Minimum length of a gap that is counted but not listed.
SHORTEST_GAP_S = 1e-3
# After a gap, full queues drain for up to RECOVERY times its length.
RECOVERY = 1


@dataclass(frozen=True)
class GapTimes:
    """The gaps of one or more threads: sorted (begin, end) in TSC cycles, without overlaps."""

    spans: list[tuple[int, int]]

    def extended_overlap(self, begin: int, end: int) -> int:
        """The total length of gaps that overlap the interval, each extended by its recovery."""
        last = bisect_left(self.spans, (end, 0))
        lengths = ((to, to - since) for since, to in self.spans[:last])
        return sum(length for to, length in lengths if to + RECOVERY * length > begin)

    def within(self, begin: int, end: int) -> int:
        """The total length of gaps within the interval."""
        last = bisect_left(self.spans, (end, 0))
        parts = (min(to, end) - max(since, begin) for since, to in self.spans[:last])
        return sum(part for part in parts if part > 0)


def merge_gaps(spans: list[tuple[int, int]]) -> GapTimes:
    """Sorts gaps and merges those that overlap."""
    found: list[tuple[int, int]] = []
    for since, to in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1] = (found[-1][0], max(to, found[-1][1]))
        else:
            found.append((since, to))
    return GapTimes(found)


def gaps_of_threads(threads: list[Json]) -> GapTimes:
    return merge_gaps([(one[0], one[1]) for thread in threads for one in thread["gaps"]["list"]])


def gaps_of_machine(whole: Json) -> GapTimes:
    return gaps_of_threads([whole, *whole["workers"]])


def min_unlisted_s(threads: list[Json]) -> float:
    """The minimum total length of gaps that are counted but not listed."""
    return SHORTEST_GAP_S * sum(int(thread["gaps"]["shorter"]) for thread in threads)


def max_unlisted_s(threads: list[Json], hz: float) -> float:
    """The maximum length of unlisted gaps: each is shorter than its thread's listed ones."""
    most = 0.0
    for gaps in (thread["gaps"] for thread in threads):
        shortest = min((to - since for since, to in gaps["list"]), default=SHORTEST_GAP_S * hz)
        most += int(gaps["shorter"]) * shortest / hz
    return most


def gap_share(whole: Json, seconds: float) -> float:
    """The minimum share of a run's time that is in gaps."""
    shorter = min_unlisted_s([whole, *whole["workers"]])
    listed = sum(to - since for since, to in gaps_of_machine(whole).spans)
    return (listed / float(whole["host"]["tsc_hz"]) + shorter) / seconds if seconds > 0 else 1.0


def gap_share_of(whole: Json, begin: int, end: int) -> float:
    """The share of a time that is in listed gaps; at least so much was."""
    return gaps_of_machine(whole).within(begin, end) / (end - begin) if end > begin else 0.0


@dataclass(frozen=True)
class Limits:
    """Longer gaps (us) explain a lost packet, or a reordered one."""

    lost_us: float
    reordered_us: float


def gap_limits(whole: Json, direction: str) -> Limits:
    part = whole[direction]
    groups = part.get("scheduler", {}).get("bonding_groups", [])
    skew = max((float(group["max_skew_us"]) for group in groups), default=0.0)
    reordered = max(REORDER_WAIT_US - skew, LEAST_US)
    packets = part["sent"] / part["seconds"] if part["seconds"] > 0 else 0.0
    filled = WIRE / packets * 1e6 if packets > 0 else REORDER_WAIT_US
    return Limits(max(min(filled, reordered), LEAST_US), reordered)


@dataclass(frozen=True)
class Explained:
    """Lost and reordered packets of a direction, and how many of them no gap explains."""

    lost: int
    reordered: int
    lost_without: int
    reordered_without: int


def cycles(us: float, tsc_hz: float) -> int:
    return round(us * tsc_hz / 1e6)


def overtaken_packets(part: Json) -> int:
    """Packets that were in flight during a change of the configuration, and need not arrive."""
    return int(part.get("overtaken", 0))


def dropped(whole: Json, direction: str) -> int:
    """The maximum number of packets that vcmtsd and its port dropped for reasons in DROPS."""
    drops = whole[direction]["drops"]
    port = whole.get("ports", {}).get(refusals.PORTS[direction], {})
    counted = sum(drops.get(name, 0) * packets for name, packets in DROPS[direction].items())
    shared = [one["drops"].get("port_group_full", 0) for one in whole.get("shared_ports", [])]
    return int(counted + sum(port.get(name, 0) for name in ("missed", "no_buffer")) + sum(shared))


def explain(whole: Json, direction: str, machine: GapTimes, tsc_hz: float) -> Explained:
    part, most = whole[direction], gap_limits(whole, direction)
    if "grants" in part:  # packets that wait for grants are in flight so long that any gap fits
        return Explained(part["lost"], part["reordered"], part["lost"], part["reordered"])
    suspects = part["suspects"]
    noted = lost = int(suspects["lost_more"])
    late = int(suspects["reordered_more"])
    for since, to, packets, reordered in suspects["list"]:
        noted += packets
        if machine.extended_overlap(since, to) <= cycles(most.lost_us, tsc_hz):
            lost += packets
        if machine.within(since, to) <= cycles(most.reordered_us, tsc_hz):
            late += reordered
    # A late packet was first recorded as missing. Packets lost at the end of their stream are not
    # recorded, so nothing explains them. Packets overtaken by changes are recorded, but not lost.
    late_recorded = sum(one[3] for one in suspects["list"]) + int(suspects["reordered_more"])
    unseen = max(part["lost"] - max(noted - late_recorded, 0), 0)
    lost = max(lost - overtaken_packets(part), 0) + unseen
    lost = min(part["lost"], max(lost, part["lost"] - dropped(whole, direction)))
    return Explained(part["lost"], part["reordered"], lost, min(late, part["reordered"]))


def are_recorded(whole: Json) -> bool:
    """Whether both programs recorded gaps."""
    return "gaps" in whole and all("gaps" in one for one in whole["workers"])


def can_explain(whole: Json) -> bool:
    """Whether gaps and lost packets were recorded, and there was no --impair."""
    shown = summary.directions(whole)
    return (
        are_recorded(whole)
        and all("suspects" in whole[way] for way in shown)
        and not expected.impaired(whole)
    )


def has_other_errors(part: Json) -> bool:
    """Whether a direction has errors other than loss and reordering."""
    return (
        any(part.get(key, 0) for key in ERRORS)
        or any(part.get("depi_violations", {}).values())
        or bool(summary.skipped_numbers(part) or summary.decoder_errors(part))
    )


def is_otherwise_good(whole: Json) -> bool:
    """Whether a run has no errors other than loss and reordering."""
    parts = [whole[way] for way in summary.directions(whole)]
    return (
        not summary.silent(whole)
        and summary.balanced(whole)
        and all(part["sent"] > 0 for part in parts)
        and not any(has_other_errors(part) for part in parts)
        and all(is_accounted_for(part) for part in parts)
    )


ERRORS = (
    *("corrupted", "duplicated", "astray", "undecipherable", "unaccounted"),
    *("unexpected_frames", "late"),
)
# The possible results of a sent packet.
RESULTS = ("proven", "counted", "lost", "corrupted", "undecipherable", "overtaken")


def is_accounted_for(part: Json) -> bool:
    return bool(part["sent"] == sum(part.get(key, 0) for key in RESULTS))


def exceeds_capacity(whole: Json, capacity: float) -> bool:
    """Whether the downstream rate exceeded the channels' capacity (bit/s)."""
    part = whole.get("downstream")
    return part is not None and summary.sent_gbps(part) * 1e9 > capacity


def explain_all(whole: Json, capacity: float) -> dict[str, Explained] | None:
    """Lost and reordered packets if gaps explain all of them; else None. Adds `unexplained`."""
    whole["unexplained"] = None
    parts = [whole[way] for way in summary.directions(whole)]
    if not any(part["lost"] or part["reordered"] for part in parts):
        return None
    if not can_explain(whole) or not is_otherwise_good(whole) or exceeds_capacity(whole, capacity):
        return None
    machine, hz = gaps_of_machine(whole), float(whole["host"]["tsc_hz"])
    found = {way: explain(whole, way, machine, hz) for way in summary.directions(whole)}
    whole["unexplained"] = {
        way: {"lost": one.lost_without, "reordered": one.reordered_without}
        for way, one in found.items()
    }
    wrong = any(one.lost_without or one.reordered_without for one in found.values())
    return None if wrong else found


def longest_ms(whole: Json) -> float:
    """The length of the longest gap."""
    spans = gaps_of_machine(whole).spans
    longest = max((to - since for since, to in spans), default=0)
    return longest / float(whole["host"]["tsc_hz"]) * 1e3
