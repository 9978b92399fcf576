# SPDX-License-Identifier: BSD-3-Clause
"""MAPs and requests, as modems that wait for their grants see them (--grants scheduled).

The traffic program finds what is wrong with single MAPs. What is asked for and granted is held
against vcmtsd's counters and each other here, where the machine gave both programs the time that
MAPs have.
"""

from vcmts.jsons import Json
from vcmts.paths import complain
from vcmts.run import expected, gaps

# Of MAPs that came too late for modems, and of the time that the machine stood still: with more of
# either, requests are repeated without a fault.
MOST_LATE = 0.05
MOST_GAPS = 0.2
# Of MAPs where the machine did not stand still for long: a few came late, not most.
LATE_SHARE = 0.5
# Of requests and grants: requests that are repeated, as their MAP was late, may be granted twice.
# Of few, some are few.
MOST_WRONG, FEW = 0.05, 200
# Of minislots: with more of them for data flows take turns, and get parts of what they ask for.
LIGHT = 0.05
NAMES = ("maps", "requests")


def left_out(whole: Json) -> int:
    """MAPs that vcmtsd did not make, as they were late, and messages that were late behind it."""
    counters = whole.get("downstream", {}).get("counters", {})
    not_made = int(whole["upstream"].get("scheduler", {}).get("late", 0))
    return not_made + sum(int(counters.get(key, 0)) for key in ("messages_late", "messages_lost"))


def map_faults(whole: Json, grants: Json) -> dict[str, int]:
    """How many MAPs are wrong, by what is said of them."""
    told = grants["maps"]
    found = {
        "are broken": told["bad"],
        "are not of the latest UCD, or out of order": told["wrong"],
        "are left out without vcmtsd counting them": max(told["skipped"] - left_out(whole), 0),
        "grant something to a SID that no modem has": grants["bursts"]["unknown"],
    }
    found |= {f"have a wrong {name}": count for name, count in grants["map_faults"].items()}
    share = gaps.share(whole, whole["upstream"]["seconds"])
    late = told["late"] - told["delayed"]
    if told["seen"] and share < MOST_GAPS and late > LATE_SHARE * told["seen"]:
        found["come too late for every modem"] = late
    return found


def is_impaired(whole: Json, grants: Json) -> bool:
    """Whether MAPs, requests or modems are not as they should be on purpose."""
    maps, modems = grants["maps"], grants["modems"]
    lost = maps["lost"] + maps["delayed"] + grants["requests"]["lost"] + sum(modems.values())
    return expected.impaired(whole) or lost > 0


def is_calm(grants: Json) -> bool:
    """Whether requests are answered by the MAPs that have to."""
    maps = grants["maps"]
    return bool(maps["late"] + maps["skipped"] <= MOST_LATE * maps["seen"])


def data_share(grants: Json) -> float:
    """Of the minislots of the channel that is most used."""
    shares = (
        one["minislots"]["data"] / max(sum(one["minislots"].values()), 1)
        for one in grants["channels"]
    )
    return max(shares, default=1.0)


def most_wrong(count: int) -> float:
    return max(MOST_WRONG * count, FEW)


def requests_made(grants: Json) -> int:
    return sum(int(grants["requests"][way]) for way in ("contention", "poll", "piggyback"))


def answer_faults(grants: Json) -> dict[str, int]:
    """Requests without an answer, and grants of another size than what was asked for, where flows
    get what they ask for at once."""
    asked, bursts, found = grants["requests"], grants["bursts"], {}
    if grants["limited"] or data_share(grants) >= LIGHT:
        return {}
    if not is_calm(grants):
        return {}
    unanswered = asked["unanswered"] - asked["collided"] - bursts["late"]
    if unanswered > most_wrong(requests_made(grants)):
        found["requests that were not answered, or not in full"] = unanswered
    for size, kind in (("larger", "excessive"), ("smaller", "partial")):
        if bursts[kind] > most_wrong(bursts["all"]):
            found[f"grants that are {size} than what was asked for"] = bursts[kind]
    return found


def request_faults(whole: Json, grants: Json) -> dict[str, int]:
    """How many bytes, requests or grants are wrong, by what is said of them."""
    upstream = whole["upstream"]
    scheduler = upstream.get("scheduler")
    if is_impaired(whole, grants):
        return {}
    found = answer_faults(grants)
    if scheduler and not upstream["lost"]:
        differ = abs(scheduler["asked_bytes"] - grants["requests"]["heard_bytes"])
        found["bytes that modems asked for and vcmtsd did not hear, or the other way"] = differ
    return found


def judge(whole: Json, grants: Json) -> tuple[dict[str, int], list[str]]:
    maps, requests = map_faults(whole, grants), request_faults(whole, grants)
    said = [f"{count:,} MAPs {what}" for what, count in maps.items() if count]
    said += [f"{count:,} {what}" for what, count in requests.items() if count]
    return {"maps": sum(maps.values()), "requests": sum(requests.values())}, said


def add(whole: Json) -> None:
    """The upstream gets `access_judged` and `access_wrong`, by name, and what is wrong is told.
    Nothing is judged where the configuration changed meanwhile, or a clock was set."""
    upstream: Json = whole.get("upstream", {})
    grants = upstream.get("grants")
    upstream |= {"access_judged": dict.fromkeys(NAMES, 0), "access_wrong": dict.fromkeys(NAMES, 0)}
    changed = expected.changed(whole)
    if grants is None or changed or grants["maps"]["clock_jumps"] or not gaps.noted(whole):
        return
    requests = requests_made(grants)
    upstream["access_judged"] = {"maps": grants["maps"]["seen"], "requests": requests}
    upstream["access_wrong"], said = judge(whole, grants)
    for line in said:
        complain(f"upstream: {line}")
