# SPDX-License-Identifier: BSD-3-Clause
"""Checks MAPs and requests with --grants scheduled.

The traffic program finds errors of single MAPs. This module compares requests and grants with
vcmtsd's counters and each other, unless the machine delayed one of the programs.
"""

from vcmts.jsons import Json
from vcmts.paths import notify
from vcmts.run import expected, gaps

# Maximum share of late MAPs, and of time in gaps: with more, modems have to repeat requests.
MOST_LATE = 0.05
MOST_GAPS = 0.2
# Maximum share of late MAPs in a run with few gaps.
LATE_SHARE = 0.5
# Maximum share, and number, of wrong requests or grants: repeated requests may be granted twice.
MOST_WRONG, FEW = 0.05, 200
# Share of minislots for data above which flows share grants, and get less than they request.
LIGHT = 0.05
NAMES = ("maps", "requests")


def counted_missing(whole: Json) -> int:
    """MAPs that vcmtsd counted as not made in time, or as late or lost messages."""
    counters = whole.get("downstream", {}).get("counters", {})
    not_made = int(whole["upstream"].get("scheduler", {}).get("late", 0))
    return not_made + sum(int(counters.get(key, 0)) for key in ("messages_late", "messages_lost"))


def map_faults(whole: Json, grants: Json) -> dict[str, int]:
    """The number of wrong MAPs by the text of a message."""
    counts = grants["maps"]
    found = {
        "are malformed": counts["bad"],
        "have an old UCD count, or are out of order": counts["wrong"],
        "are missing without a counter of vcmtsd": max(
            counts["skipped"] - counted_missing(whole), 0
        ),
        "have a grant for an unknown SID": grants["bursts"]["unknown"],
    }
    found |= {f"have a wrong {name}": count for name, count in grants["map_faults"].items()}
    share = gaps.gap_share(whole, whole["upstream"]["seconds"])
    late = counts["late"] - counts["delayed"]
    if counts["seen"] and share < MOST_GAPS and late > LATE_SHARE * counts["seen"]:
        found["are too late for every modem"] = late
    return found


def is_impaired(whole: Json, grants: Json) -> bool:
    """Whether MAPs, requests or modems are impaired on purpose."""
    maps, modems = grants["maps"], grants["modems"]
    lost = maps["lost"] + maps["delayed"] + grants["requests"]["lost"] + sum(modems.values())
    return expected.impaired(whole) or lost > 0


def is_calm(grants: Json) -> bool:
    """Whether enough MAPs arrived in time to answer requests."""
    maps = grants["maps"]
    return bool(maps["late"] + maps["skipped"] <= MOST_LATE * maps["seen"])


def data_share(grants: Json) -> float:
    """The share of minislots for data on the busiest channel."""
    shares = (
        one["minislots"]["data"] / max(sum(one["minislots"].values()), 1)
        for one in grants["channels"]
    )
    return max(shares, default=1.0)


def max_wrong(count: int) -> float:
    return max(MOST_WRONG * count, FEW)


def requests_made(grants: Json) -> int:
    return sum(int(grants["requests"][way]) for way in ("contention", "poll", "piggyback"))


def answer_faults(grants: Json) -> dict[str, int]:
    """Unanswered requests, and grants of another size; checked only at a light load."""
    counted, bursts, found = grants["requests"], grants["bursts"], {}
    if grants["limited"] or data_share(grants) >= LIGHT:
        return {}
    if not is_calm(grants):
        return {}
    unanswered = counted["unanswered"] - counted["collided"] - bursts["late"]
    if unanswered > max_wrong(requests_made(grants)):
        found["requests not answered, or not in full"] = unanswered
    for size, kind in (("larger", "excessive"), ("smaller", "partial")):
        if bursts[kind] > max_wrong(bursts["all"]):
            found[f"grants {size} than the request"] = bursts[kind]
    return found


def request_faults(whole: Json, grants: Json) -> dict[str, int]:
    """The number of wrong bytes, requests or grants by the text of a message."""
    upstream = whole["upstream"]
    scheduler = upstream.get("scheduler")
    if is_impaired(whole, grants):
        return {}
    found = answer_faults(grants)
    if scheduler and not upstream["lost"]:
        differ = abs(scheduler["asked_bytes"] - grants["requests"]["heard_bytes"])
        found["bytes differ between the requests of modems and those that vcmtsd received"] = differ
    return found


def find_faults(whole: Json, grants: Json) -> tuple[dict[str, int], list[str]]:
    maps, requests = map_faults(whole, grants), request_faults(whole, grants)
    messages = [f"{count:,} MAPs {what}" for what, count in maps.items() if count]
    messages += [f"{count:,} {what}" for what, count in requests.items() if count]
    return {"maps": sum(maps.values()), "requests": sum(requests.values())}, messages


def add(whole: Json) -> None:
    """Adds `access_judged` and `access_wrong` to the upstream: counts by name in NAMES; prints what
    is wrong. Skips the checks if the configuration changed or the clock jumped."""
    upstream: Json = whole.get("upstream", {})
    grants = upstream.get("grants")
    upstream |= {"access_judged": dict.fromkeys(NAMES, 0), "access_wrong": dict.fromkeys(NAMES, 0)}
    changed = expected.configuration_changed(whole)
    if grants is None or changed or grants["maps"]["clock_jumps"] or not gaps.are_recorded(whole):
        return
    requests = requests_made(grants)
    upstream["access_judged"] = {"maps": grants["maps"]["seen"], "requests": requests}
    upstream["access_wrong"], messages = find_faults(whole, grants)
    for line in messages:
        notify(f"upstream: {line}")
