# SPDX-License-Identifier: BSD-3-Clause
"""Packets that vcmtsd has to drop (--refuse-every): it has to count each under its reason.

The traffic program tells `refused` of a direction by drop reason. Nothing else may be dropped for
these reasons, and no such packet may come out. Where other packets were lost, or the network port
had no room, some of these may be lost, too.
"""

from collections import Counter
from typing import Any

from vcmts.paths import complain

Json = dict[str, Any]
# Behind the point where vcmtsd counts a packet as IPv4, IPv6 or LLC.
READ = ("ipv4_checksum", "multicast", "unknown_destination", "filter_deny")


def refused(part: Json) -> Counter[str]:
    """How many packets had to be dropped, by reason; none where the traffic program sent none."""
    return Counter({name: one["packets"] for name, one in part.get("refused", {}).items()})


def of_group(part: Json, key: str) -> int:
    """Their `packets`, `bytes`, or what of them is counted as `ipv4` or `ipv6`: of those that get
    as far as the group where it shares its port."""
    reasons = READ if key in ("ipv4", "ipv6") else part["drops"]
    return sum(one[key] for name, one in part.get("refused", {}).items() if name in reasons)


def accidental(part: Json) -> Counter[str]:
    """Drops but those of packets that had to be dropped."""
    return Counter[str](part["drops"]) - refused(part)


def counted(whole: Json, part: Json, reason: str) -> int:
    """Those of a service group, or of ports that several share."""
    if reason in part["drops"]:
        return int(part["drops"][reason])
    return sum(int(one["drops"].get(reason, 0)) for one in whole.get("shared_ports", []))


def differences(whole: Json, part: Json) -> list[tuple[str, int, int]]:
    """Reasons with how many packets were sent and how many dropped for them, where these differ."""
    found = []
    fewer = part["lost"] or whole.get("ports", {}).get("network", {}).get("missed", 0)
    for reason, sent in refused(part).items():
        dropped = counted(whole, part, reason)
        if dropped > sent or (dropped < sent and not fewer):
            found.append((reason, sent, dropped))
    return found


def add(whole: Json) -> None:
    """The downstream gets `refused_judged`, how many packets, and `refused_wrong`, how many too few
    or too many were dropped. Nothing is judged where the configuration changed meanwhile."""
    if "downstream" not in whole:
        return
    part = whole["downstream"]
    changed = whole.get("follow", {}).get("changes", 0) > 0
    wrong = [] if changed else differences(whole, part)
    part["refused_judged"] = 0 if changed else sum(refused(part).values())
    part["refused_wrong"] = sum(abs(sent - dropped) for _, sent, dropped in wrong)
    for reason, sent, dropped in wrong:
        complain(
            f"downstream: {sent:,} packets were sent that have to be dropped as {reason}, and "
            f"{dropped:,} were"
        )
