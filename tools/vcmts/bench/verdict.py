# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on a trial: passed, failed, or inconclusive.

A trial passes if no more than the accepted share of packets was lost and the requested rate was
sent, even if it was disturbed. Otherwise it fails unless one of these explains it:

- "disturbed": a polling thread lost its core, and no more packets are missing than were due in that
  time. Lost packets are explained only by gaps longer than rings can bridge.
- "traffic": the traffic program sent too little, although the data plane accepted everything.

These are inconclusive and do not count as loss; the trial is repeated.
"""

from dataclasses import dataclass
from typing import Literal

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json

Verdict = Literal["passed", "failed", "traffic", "disturbed"]
Bound = Literal["data plane", "traffic", "machine", "channels"]

# Minimum share of the requested rate; pacing is accurate to 1 %.
ENOUGH_OF_RATE = 0.99
# Drop reasons for traffic beyond the capacity of channels and flows.
CHANNELS = ("flow_buffer_full", "scheduler_full", "wred_drop", "docsis_pie_drop")
RING = 8192  # packets of a memif: WIRE in run/plane.py
# A ring may already be half full, so a gap of half its duration may overflow it.
FULL_SHARE = 0.5
# Packets that may be lost per packet due in a gap: a lost upstream burst also breaks frames whose
# other parts are in adjacent bursts.
LOST_BY_GAP = 2.0


@dataclass(frozen=True)
class Outcome:
    """The result of one trial."""

    verdict: Verdict
    bound_by: Bound | None  # what limits the rate; None: passed
    carried: float  # received share of the requested rate, in the worse direction
    why: str
    answer: Json  # the complete answer of the program


@dataclass(frozen=True)
class Direction:
    """One direction of a trial."""

    name: str
    requested: float  # requested bit/s; 0: maximum
    sent: int
    missing: int  # lost or corrupted packets
    duplicated: int  # packets received more than once
    sent_bytes: int
    gbps: float  # received
    seconds: float
    backpressure: int
    longest_gap: float  # s
    gaps: float  # s, upper limit of the total
    channel_drops: int

    @property
    def bits_sent(self) -> float:
        return self.sent_bytes * 8 / self.seconds

    @property
    def sent_share(self) -> float:
        return self.bits_sent / self.requested if self.requested else 1.0

    @property
    def requested_pps(self) -> float:
        """Packets per second at the requested rate."""
        return self.sent / self.seconds / max(self.sent_share, 1e-9)

    @property
    def carried(self) -> float:
        due = self.requested or self.bits_sent
        return min(1.0, self.gbps * 1e9 / due) if due else 0.0


def gaps_of(threads: list[Json]) -> tuple[float, float]:
    """The longest gap of any thread, and an upper limit of the total, in seconds."""
    gaps = [thread["descheduled"] for thread in threads if thread.get("descheduled")]
    longest = max((gap["longest_us"] for gap in gaps), default=0.0)
    total = sum(gap["count"] * gap["longest_us"] for gap in gaps)
    return longest / 1e6, total / 1e6


def direction_of(answer: Json, name: str) -> Direction:
    part = answer[name]
    requested = answer["trial"].get("rate" if name == "downstream" else "upstream_rate", 0)
    longest, gaps = gaps_of([part, *answer.get("workers", [])])
    drops = answer.get("drops", {}).get(name, {})
    return Direction(
        name=name,
        requested=0.0 if requested == "max" else float(requested),
        sent=part["sent"],
        missing=part["lost"] + part["corrupted"],
        duplicated=part.get("duplicated", 0),
        sent_bytes=part["sent_bytes"],
        gbps=part["gbps"],
        seconds=max(part["seconds"], 1e-9),
        backpressure=part["transmit_backpressure"],
        longest_gap=longest,
        gaps=gaps,
        channel_drops=sum(drops.get(reason, 0) for reason in CHANNELS),
    )


def directions_of(answer: Json) -> list[Direction]:
    """The directions with a requested rate."""
    keys = {"downstream": "rate", "upstream": "upstream_rate"}
    used = [name for name in DIRECTIONS if answer["trial"].get(keys[name], 0)]
    return [direction_of(answer, name) for name in used]


def is_lossy(way: Direction, accepted_loss: float) -> bool:
    return way.missing > accepted_loss * way.sent


def is_too_slow(way: Direction) -> bool:
    return not way.sent or way.sent_share < ENOUGH_OF_RATE


def gaps_explain_loss(way: Direction, ring: int) -> bool:
    """Whether rings cannot bridge the longest gap, and gaps suffice for all missing packets."""
    bridged = way.longest_gap * way.requested_pps < FULL_SHARE * ring
    return not bridged and way.missing <= LOST_BY_GAP * way.gaps * way.requested_pps


def gaps_explain_rate(way: Direction) -> bool:
    """Whether the missing share of the rate is not more than the share of time in gaps."""
    return way.gaps > 0 and way.sent_share + way.gaps / way.seconds >= ENOUGH_OF_RATE


def evaluate_one(
    way: Direction, accepted_loss: float, ring: int
) -> tuple[Verdict, Bound | None, str]:
    if way.duplicated > accepted_loss * way.sent:  # no gap explains that
        return "failed", "data plane", f"{way.duplicated:,} packets were received twice"
    loses, falls_short = is_lossy(way, accepted_loss), is_too_slow(way)
    if not loses and not falls_short:
        return "passed", None, ""
    loss_excused = not loses or gaps_explain_loss(way, ring)
    if loss_excused and (not falls_short or gaps_explain_rate(way)):
        text = f"a polling thread lost its core for up to {way.longest_gap * 1e3:.1f} ms"
        return "disturbed", "machine", text
    if loses:
        by: Bound = "channels" if way.channel_drops * 2 > way.missing else "data plane"
        return "failed", by, f"{way.missing:,} of {way.sent:,} packets lost"
    text = f"{way.sent_share:.1%} of the rate was sent"
    if way.backpressure:
        return "failed", "data plane", text + ", the data plane accepted no more"
    return "traffic", "traffic", text + ", the traffic program sent no more"


# The trial's verdict is the first of these that a direction has.
ORDER: tuple[Verdict, ...] = ("failed", "disturbed", "traffic", "passed")


def evaluate(answer: Json, accepted_loss: float = 0.0, ring: int = RING) -> Outcome:
    """The verdict on a trial's answer. `accepted_loss` is a share of the packets sent in each
    direction, `ring` the packets that the wires to and from the data plane hold."""
    found = directions_of(answer)
    evaluated = [(evaluate_one(one, accepted_loss, ring), one.name) for one in found]
    (verdict, bound_by, why), name = min(evaluated, key=lambda one: ORDER.index(one[0][0]))
    carried = min(one.carried for one in found)
    return Outcome(verdict, bound_by, carried, f"{name}: {why}" if why else "", answer)
