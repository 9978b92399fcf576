# SPDX-License-Identifier: BSD-3-Clause
"""Whether gaps of the machine explain what was lost or came out of order.

docs/traffic.md has the rule. A thread that polls notes when the system did not run it; the traffic
program notes from when to when each packet was under way that was lost or late. All of it is in
cycles of the TSC, which the threads and programs of a machine share.
"""

from bisect import bisect_left
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.run import expected, refusals, summary
from vcmts.run.plane import WIRE

# A modem waits so long for a packet that is missing before another one.
REORDER_WAIT_US = 18_000
# Less than this explains nothing, however long packets took before.
LEAST_US = 5_000
# Reasons by which a data plane without a fault drops what a gap has held up: buffers and queues are
# full, or it is late. A burst or segment of 2 kB has several packets, of 64 bytes at least.
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
# Those that were too many to be listed are as long at least.
SHORTEST_GAP_S = 1e-3
# Queues that have become full drain behind a gap, for as long again.
RECOVERY = 1


@dataclass(frozen=True)
class Times:
    """Times in which at least one thread was not run, in order, without overlaps; TSC cycles."""

    spans: list[tuple[int, int]]

    def around(self, begin: int, end: int) -> int:
        """How long those are together that overlap the time between the two, or do so when each is
        longer by RECOVERY times its length."""
        last = bisect_left(self.spans, (end, 0))
        lengths = ((to, to - since) for since, to in self.spans[:last])
        return sum(length for to, length in lengths if to + RECOVERY * length > begin)

    def within(self, begin: int, end: int) -> int:
        """How much of the time between the two they are."""
        last = bisect_left(self.spans, (end, 0))
        parts = (min(to, end) - max(since, begin) for since, to in self.spans[:last])
        return sum(part for part in parts if part > 0)


def united(spans: list[tuple[int, int]]) -> Times:
    found: list[tuple[int, int]] = []
    for since, to in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1] = (found[-1][0], max(to, found[-1][1]))
        else:
            found.append((since, to))
    return Times(found)


def of_threads(threads: list[Json]) -> Times:
    return united([(one[0], one[1]) for thread in threads for one in thread["gaps"]["list"]])


def of_machine(whole: Json) -> Times:
    return of_threads([whole, *whole["workers"]])


def unlisted_s(threads: list[Json]) -> float:
    """How long those were at least that were too many to be listed."""
    return SHORTEST_GAP_S * sum(int(thread["gaps"]["shorter"]) for thread in threads)


def unlisted_most_s(threads: list[Json], hz: float) -> float:
    """How long those were at most: each is shorter than those of its thread that are listed."""
    most = 0.0
    for gaps in (thread["gaps"] for thread in threads):
        shortest = min((to - since for since, to in gaps["list"]), default=SHORTEST_GAP_S * hz)
        most += int(gaps["shorter"]) * shortest / hz
    return most


def share(whole: Json, seconds: float) -> float:
    """How much of a run the machine did not run what polls, at least."""
    shorter = unlisted_s([whole, *whole["workers"]])
    listed = sum(to - since for since, to in of_machine(whole).spans)
    return (listed / float(whole["host"]["tsc_hz"]) + shorter) / seconds if seconds > 0 else 1.0


@dataclass(frozen=True)
class Limits:
    """Longer gaps explain a packet: one that was lost, one that came out of order (us)."""

    lost_us: float
    reordered_us: float


def limits(whole: Json, direction: str) -> Limits:
    part = whole[direction]
    groups = part.get("scheduler", {}).get("bonding_groups", [])
    skew = max((float(group["max_skew_us"]) for group in groups), default=0.0)
    reordered = max(REORDER_WAIT_US - skew, LEAST_US)
    packets = part["sent"] / part["seconds"] if part["seconds"] > 0 else 0.0
    filled = WIRE / packets * 1e6 if packets > 0 else REORDER_WAIT_US
    return Limits(max(min(filled, reordered), LEAST_US), reordered)


@dataclass(frozen=True)
class Explained:
    """Packets of a direction, and how many of them no gap explains."""

    lost: int
    reordered: int
    lost_without: int
    reordered_without: int


def cycles(us: float, tsc_hz: float) -> int:
    return round(us * tsc_hz / 1e6)


def gone(part: Json) -> int:
    """Packets that changes of the configuration overtook."""
    return int(part.get("overtaken", 0))


def dropped(whole: Json, direction: str) -> int:
    """How many packets at most vcmtsd and its port dropped as gaps have them dropped."""
    drops = whole[direction]["drops"]
    port = whole.get("ports", {}).get(refusals.PORTS[direction], {})
    counted = sum(drops.get(name, 0) * packets for name, packets in DROPS[direction].items())
    shared = [one["drops"].get("port_group_full", 0) for one in whole.get("shared_ports", [])]
    return int(counted + sum(port.get(name, 0) for name in ("missed", "no_buffer")) + sum(shared))


def explain(whole: Json, direction: str, machine: Times, tsc_hz: float) -> Explained:
    part, most = whole[direction], limits(whole, direction)
    if "grants" in part:  # packets that wait for grants are under way for so long that any gap fits
        return Explained(part["lost"], part["reordered"], part["lost"], part["reordered"])
    suspects = part["suspects"]
    noted = lost = int(suspects["lost_more"])
    late = int(suspects["reordered_more"])
    for since, to, packets, reordered in suspects["list"]:
        noted += packets
        if machine.around(since, to) <= cycles(most.lost_us, tsc_hz):
            lost += packets
        if machine.within(since, to) <= cycles(most.reordered_us, tsc_hz):
            late += reordered
    # What came late was noted when it was missing. Of what is lost at the end of its stream nothing
    # is noted, and nothing explains it. What changes overtook was noted, and is not lost.
    came = sum(one[3] for one in suspects["list"]) + int(suspects["reordered_more"])
    unseen = max(part["lost"] - max(noted - came, 0), 0)
    lost = max(lost - gone(part), 0) + unseen
    lost = min(part["lost"], max(lost, part["lost"] - dropped(whole, direction)))
    return Explained(part["lost"], part["reordered"], lost, min(late, part["reordered"]))


def noted(whole: Json) -> bool:
    """Whether both programs tell of gaps."""
    return "gaps" in whole and all("gaps" in one for one in whole["workers"])


def known(whole: Json) -> bool:
    """Whether both programs tell of gaps, and nothing was meant to go wrong."""
    shown = summary.directions(whole)
    return (
        noted(whole)
        and all("suspects" in whole[way] for way in shown)
        and not expected.impaired(whole)
    )


def spoiled(part: Json) -> bool:
    """Whether something came that should not have come so."""
    return (
        any(part.get(key, 0) for key in BAD)
        or any(part.get("depi_violations", {}).values())
        or bool(summary.skipped(part) or summary.misread(part))
    )


def otherwise_good(whole: Json) -> bool:
    """Whether nothing is wrong but that packets were lost or came out of order."""
    parts = [whole[way] for way in summary.directions(whole)]
    return (
        not summary.silent(whole)
        and summary.balanced(whole)
        and all(part["sent"] > 0 for part in parts)
        and not any(spoiled(part) for part in parts)
        and all(closes(part) for part in parts)
    )


BAD = (
    *("corrupted", "duplicated", "astray", "undecipherable", "unaccounted"),
    *("unexpected_frames", "late"),
)
# What becomes of a packet that is sent.
FATES = ("proven", "counted", "lost", "corrupted", "undecipherable", "overtaken")


def closes(part: Json) -> bool:
    return bool(part["sent"] == sum(part.get(key, 0) for key in FATES))


def too_much(whole: Json, capacity: float) -> bool:
    """Whether more was sent to the modems than the channels carry (bit/s)."""
    part = whole.get("downstream")
    return part is not None and summary.sent_gbps(part) * 1e9 > capacity


def explained(whole: Json, capacity: float) -> dict[str, Explained] | None:
    """By direction, where packets were lost or came out of order, nothing else is wrong, and gaps
    explain each of them; else None. The summary gets `unexplained`: how many no gap explains, null
    where that was not asked. `capacity`: bit/s of the downstream channels."""
    whole["unexplained"] = None
    parts = [whole[way] for way in summary.directions(whole)]
    if not any(part["lost"] or part["reordered"] for part in parts):
        return None
    if not known(whole) or not otherwise_good(whole) or too_much(whole, capacity):
        return None
    machine, hz = of_machine(whole), float(whole["host"]["tsc_hz"])
    found = {way: explain(whole, way, machine, hz) for way in summary.directions(whole)}
    whole["unexplained"] = {
        way: {"lost": one.lost_without, "reordered": one.reordered_without}
        for way, one in found.items()
    }
    wrong = any(one.lost_without or one.reordered_without for one in found.values())
    return None if wrong else found


def told(whole: Json, found: dict[str, Explained]) -> str:
    """In one line."""
    machine = of_machine(whole)
    longest = max(to - since for since, to in machine.spans) / float(whole["host"]["tsc_hz"])
    lost = sum(one.lost for one in found.values())
    late = sum(one.reordered for one in found.values())
    return (
        f"passed: {lost:,} packets were lost and {late:,} came out of order while the system did "
        f"not run vcmtsd or the traffic program, for up to {longest * 1e3:,.0f} ms; all others are "
        "proven"
    )
