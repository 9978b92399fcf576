# SPDX-License-Identifier: BSD-3-Clause
"""The verdict of a run: PASS or FAIL, what failed, and what is allowed.

The words for packets are those of the summary's keys (docs/results.md): proven, lost, overtaken,
corrupted, duplicated, reordered, undecipherable, unaccounted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from vcmts.jsons import Json
from vcmts.run import expected, gaps, groups, summary

# Minimum share of an asked rate, outside of gaps of the machine. A lower rate fails the run.
LEAST_SHARE = 0.9
FEWEST = 100  # packets for a meaningful rate

# Counts of packets and frames that must be 0, by key, in the order of the verdict.
COUNTS = ("duplicated", "undecipherable", "unaccounted")
# Other errors of a direction: words and counts.
ERRORS: dict[str, Callable[[Json], int]] = {
    "unexpected frames": lambda part: int(part.get("unexpected_frames", 0)),
    "violations of DEPI": lambda part: summary.kinds_wrong(part, "depi_violations"),
    "skipped DSID sequence numbers": summary.skipped_numbers,
    "drops too few or too many": lambda part: int(part.get("refused_wrong", 0)),
    "errors found by the independent decoder": summary.decoder_errors,
    "late without a reason": summary.late_packets,
    "rates, priorities or weights violated": lambda part: summary.kinds_wrong(part, "qos_wrong"),
    "errors of MAPs and requests": lambda part: summary.kinds_wrong(part, "access_wrong"),
}


@dataclass(frozen=True)
class Verdict:
    """The texts have counts: "43 corrupted"."""

    proven: int
    sent: int
    groups: int = 1
    lost: int = 0  # without a reason that allows it
    failures: list[str] = field(default_factory=list)  # if lost is not 0, with "LOST lost"
    allowed: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.failures

    def text(self) -> str:
        """One line, such as `FAIL: 43 corrupted, 51 overtaken by changes (allowed), 0 lost; ..`."""
        of = f" of {self.groups} service groups" if self.groups > 1 else ""
        proven = f"{self.proven:,} of {self.sent:,} packets{of} proven"
        lost = [] if self.lost else ["0 lost"]
        allowed = [f"{text} (allowed)" for text in self.allowed]
        if self.passed:
            return f"PASS: {', '.join([proven, *allowed, *lost])}"
        return f"FAIL: {', '.join([*self.failures, *allowed, *lost])}; {proven}"

    def document(self) -> Json:
        return {"passed": self.passed, "failures": self.failures, "allowed": self.allowed}


def gap_share(whole: Json, part: Json) -> float:
    """The share of the time of sending that is known to be in gaps of the machine."""
    return gaps.gap_share_of(whole, *part["sent_tsc"]) if gaps.are_recorded(whole) else 0.0


def set_least_rates(whole: Json, asked: frozenset[str]) -> None:
    """Adds `least_gbps` to the directions: the rate below which the run fails. None unless the
    direction is in `asked`, or for the rate `max`."""
    for direction in summary.directions(whole):
        part = whole[direction]
        rate = part["asked_gbps"] if direction in asked else None
        least = None if rate is None else LEAST_SHARE * rate * (1 - gap_share(whole, part))
        part["least_gbps"] = least


def is_slow(part: Json) -> bool:
    """Whether less than LEAST_SHARE of an asked rate was sent, of enough packets to tell."""
    if part.get("least_gbps") is None:
        return False
    sent, asked = summary.sent_gbps(part), part["asked_gbps"]
    return sent < LEAST_SHARE * asked and (sent == 0 or part["sent"] / sent * asked >= FEWEST)


def rate_texts(whole: Json, *, failed: bool) -> list[str]:
    """Words for asked rates that were not sent, at most one text. `failed`: those that gaps do not
    explain."""
    parts = {way: whole[way] for way in summary.directions(whole) if is_slow(whole[way])}
    slow = {
        way: f"{groups.rate(summary.sent_gbps(part))} of {summary.requested_rate(part)}"
        for way, part in parts.items()
        if (summary.sent_gbps(part) < part["least_gbps"]) is failed
    }
    if not slow:
        return []
    text = "only " + " and ".join(f"{rates} sent {way}" for way, rates in slow.items())
    share = 100 * max(gap_share(whole, whole[way]) for way in slow)
    away = f" while the system used a core for {share:.0f} % of the time"
    return [text if failed else text + away]


def silent_failures(whole: Json) -> list[str]:
    """Of groups without any sent packet: nothing of them is proven."""
    several = len(whole["groups"]) > 1
    return [
        f"no packet{f' of service group {group}' if several else ''} was sent {direction}"
        for group, direction in summary.silent(whole)
    ]


def counts_of(whole: Json, key: str) -> int:
    return sum(int(whole[way].get(key) or 0) for way in summary.directions(whole))


def expected_count(whole: Json, key: str) -> int:
    """The number of packets that --impair must have lost or corrupted."""
    return sum(whole[way].get("expected", {}).get(key, 0) for way in summary.directions(whole))


def unexplained_count(whole: Json, key: str) -> int:
    """Lost or reordered packets that neither gaps of the machine nor --impair explain."""
    if whole.get("unexplained") is not None:
        return sum(part[key] for part in whole["unexplained"].values())
    return max(counts_of(whole, key) - expected_count(whole, key), 0)


def gap_text(whole: Json) -> str:
    """Words for lost and reordered packets that gaps explain; "" if there are none."""
    if whole.get("unexplained") is None:
        return ""
    counts = {key: counts_of(whole, key) - unexplained_count(whole, key) for key in gaps.EXPLAINED}
    texts = " and ".join(f"{count:,} {key}" for key, count in counts.items() if count)
    if not texts:
        return ""
    return f"{texts} while the system used a core for up to {gaps.longest_ms(whole):,.0f} ms"


def allowed_texts(whole: Json) -> list[str]:
    due = {key: expected_count(whole, key) for key in ("lost", "corrupted")}
    impaired = " and ".join(f"{count:,} {key}" for key, count in due.items() if count)
    overtaken = counts_of(whole, "overtaken")
    texts = [
        gap_text(whole),
        f"{impaired} by --impair" if impaired else "",
        f"{overtaken:,} overtaken by changes" if overtaken else "",
        *rate_texts(whole, failed=False),
    ]
    return [text for text in texts if text]


def packet_failures(whole: Json) -> list[str]:
    counts = {
        "corrupted": max(counts_of(whole, "corrupted") - expected_count(whole, "corrupted"), 0),
        "lost": unexplained_count(whole, "lost"),
        "reordered": unexplained_count(whole, "reordered"),
    }
    counts |= {key: counts_of(whole, key) for key in COUNTS}
    for words, count in ERRORS.items():
        counts[words] = sum(count(whole[way]) for way in summary.directions(whole))
    return [f"{count:,} {words}" for words, count in counts.items() if count]


def other_failures(whole: Json) -> list[str]:
    found = []
    if expected.impaired(whole) and not expected.as_expected(whole):
        found.append("drops and counters differ from those of --impair")
    if broken := whole.get("identities_broken"):
        found.append(f"{len(broken):,} differing sums of counters")
    if not summary.balanced(whole):
        found.append("packets in vcmtsd unaccounted")
    return found + silent_failures(whole)


def of_run(whole: Json, status: int = 0, more: list[str] | None = None) -> Verdict:
    """The verdict on a summary. `status`: of vcmts-traffic. `more`: further failures."""
    parts = [whole[way] for way in summary.directions(whole)]
    failures = packet_failures(whole) + other_failures(whole) + (more or [])
    failures += rate_texts(whole, failed=True)
    allowed = allowed_texts(whole)
    if status not in (0, 1) or (status == 1 and not failures and not allowed):
        failures.append(f"vcmts-traffic ended with status {status}")
    return Verdict(
        proven=sum(part["proven"] for part in parts),
        sent=sum(part["sent"] for part in parts),
        groups=len(whole["groups"]),
        lost=unexplained_count(whole, "lost"),
        failures=failures,
        allowed=allowed,
    )
