# SPDX-License-Identifier: BSD-3-Clause
"""What a trial says of the data plane: passed, failed, or nothing, as something disturbed it.

A trial passes when no more than the accepted share was lost and what was asked for was sent,
however disturbed it was. One that does not pass fails only when nothing else explains it:

- The system took a core away, and no more is missing of the packets or of the rate than was due
  meanwhile: "disturbed". Packets, only where the gap was longer than rings hold them.
- The traffic sent too little, though the data plane took all that it sent: "traffic".

Neither counts as loss; the trial is repeated.
"""

from dataclasses import dataclass
from typing import Literal

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json

Verdict = Literal["passed", "failed", "traffic", "disturbed"]
Bound = Literal["data plane", "traffic", "machine", "channels"]

# Less than this share of what was asked for is another rate; pacing is accurate to 1 %.
ENOUGH_OF_RATE = 0.99
# Reasons by which the channels and flows lose what is more than they carry, whatever the machine.
CHANNELS = ("flow_buffer_full", "scheduler_full", "wred_drop", "docsis_pie_drop")
RING = 8192  # packets, of a memif: run.py's rsize
# A ring is half full at times, so that a gap of half its time may overflow it.
FULL_SHARE = 0.5
# Packets lost for each that was due in a gap: a burst of a modem that is lost takes with it the
# pieces of frames in the bursts beside it.
LOST_BY_GAP = 2.0


@dataclass(frozen=True)
class Outcome:
    """One trial, judged."""

    verdict: Verdict
    bound_by: Bound | None  # None where it passed
    carried: float  # share of what was asked for that arrived, in the worse direction
    why: str
    answer: Json  # of the trial, whole


@dataclass(frozen=True)
class Way:
    """One direction of a trial."""

    name: str
    asked: float  # bit/s; 0: as much as goes
    sent: int
    missing: int  # lost or corrupted packets
    duplicated: int  # packets that came again
    sent_bytes: int
    gbps: float  # that came through
    seconds: float
    backpressure: int
    longest_gap: float  # s
    gaps: float  # s in all, at most
    channel_drops: int

    @property
    def bits_sent(self) -> float:
        return self.sent_bytes * 8 / self.seconds

    @property
    def sent_share(self) -> float:
        return self.bits_sent / self.asked if self.asked else 1.0

    @property
    def asked_pps(self) -> float:
        """Packets a second that were due."""
        return self.sent / self.seconds / max(self.sent_share, 1e-9)

    @property
    def carried(self) -> float:
        due = self.asked or self.bits_sent
        return min(1.0, self.gbps * 1e9 / due) if due else 0.0


def gaps_of(threads: list[Json]) -> tuple[float, float]:
    """The longest time without a core and the most that all of them can be, in seconds: while one
    thread is away, packets go nowhere."""
    gaps = [thread["descheduled"] for thread in threads if thread.get("descheduled")]
    longest = max((gap["longest_us"] for gap in gaps), default=0.0)
    total = sum(gap["count"] * gap["longest_us"] for gap in gaps)
    return longest / 1e6, total / 1e6


def way(answer: Json, name: str) -> Way:
    part = answer[name]
    asked = answer["trial"].get("rate" if name == "downstream" else "upstream_rate", 0)
    longest, gaps = gaps_of([part, *answer.get("workers", [])])
    drops = answer.get("drops", {}).get(name, {})
    return Way(
        name=name,
        asked=0.0 if asked == "max" else float(asked),
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


def ways(answer: Json) -> list[Way]:
    """Those directions in which something was asked for."""
    keys = {"downstream": "rate", "upstream": "upstream_rate"}
    used = [name for name in DIRECTIONS if answer["trial"].get(keys[name], 0)]
    return [way(answer, name) for name in used]


def lossy(way: Way, accepted_loss: float) -> bool:
    return way.missing > accepted_loss * way.sent


def short(way: Way) -> bool:
    return not way.sent or way.sent_share < ENOUGH_OF_RATE


def gaps_explain_loss(way: Way, ring: int) -> bool:
    """The rings did not bridge the longest one, and no more is missing than came in all of them."""
    bridged = way.longest_gap * way.asked_pps < FULL_SHARE * ring
    return not bridged and way.missing <= LOST_BY_GAP * way.gaps * way.asked_pps


def gaps_explain_rate(way: Way) -> bool:
    """The traffic makes up for a millisecond of a gap, and no more."""
    return way.gaps > 0 and way.sent_share + way.gaps / way.seconds >= ENOUGH_OF_RATE


def judge_way(way: Way, accepted_loss: float, ring: int) -> tuple[Verdict, Bound | None, str]:
    if way.duplicated > accepted_loss * way.sent:  # nobody's absence explains that
        return "failed", "data plane", f"{way.duplicated:,} packets came twice"
    loses, falls_short = lossy(way, accepted_loss), short(way)
    if not loses and not falls_short:
        return "passed", None, ""
    loss_excused = not loses or gaps_explain_loss(way, ring)
    if loss_excused and (not falls_short or gaps_explain_rate(way)):
        told = f"a core was taken away for up to {way.longest_gap * 1e3:.1f} ms"
        return "disturbed", "machine", told
    if loses:
        by: Bound = "channels" if way.channel_drops * 2 > way.missing else "data plane"
        return "failed", by, f"{way.missing:,} of {way.sent:,} packets lost"
    told = f"{way.sent_share:.1%} of the rate was sent"
    if way.backpressure:
        return "failed", "data plane", told + ", the data plane took no more"
    return "traffic", "traffic", told + ", the traffic made no more"


# The first of these that a direction has is the trial's: what is certain before what is repeated.
ORDER: tuple[Verdict, ...] = ("failed", "disturbed", "traffic", "passed")


def judge(answer: Json, accepted_loss: float = 0.0, ring: int = RING) -> Outcome:
    """The verdict on a trial's answer. `accepted_loss` is a share of the packets sent in each
    direction, `ring` the packets that the wires to and from the data plane hold."""
    found = ways(answer)
    judged = [(judge_way(one, accepted_loss, ring), one.name) for one in found]
    (verdict, bound_by, why), name = min(judged, key=lambda one: ORDER.index(one[0][0]))
    carried = min(one.carried for one in found)
    return Outcome(verdict, bound_by, carried, f"{name}: {why}" if why else "", answer)
