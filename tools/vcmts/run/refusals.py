# SPDX-License-Identifier: BSD-3-Clause
"""Packets that vcmtsd has to drop (--refuse-every): it has to count each under its reason.

The traffic program tells `refused` of a direction by drop reason. Nothing else may be dropped for
these reasons, and no such packet may come out. Where other packets were lost, or a port had no
room, some of these may be lost, too.
"""

from collections import Counter

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import complain
from vcmts.run import expected

PORTS = {"downstream": "network", "upstream": "rphy"}
# Behind the point where vcmtsd counts a packet as IPv4, IPv6 or LLC.
READ = ("ipv4_checksum", "multicast", "unknown_destination", "cpe_limit", "filter_deny")


def refused(part: Json) -> Counter[str]:
    """How many packets had to be dropped, by reason; none where the traffic program sent none."""
    return Counter({name: one["packets"] for name, one in part.get("refused", {}).items()})


def of_group(part: Json, key: str) -> int:
    """Their `packets`, `bytes`, or what of them is counted as `ipv4` or `ipv6`: of those that get
    as far as the group where it shares its port; with `at_port_` of the others."""
    wanted, at_port = key.removeprefix("at_port_"), key.startswith("at_port_")
    sent = part.get("refused", {}).items()
    if wanted in ("ipv4", "ipv6"):
        return sum(one[wanted] for name, one in sent if name in READ)
    return sum(one[wanted] for name, one in sent if (name in part["drops"]) != at_port)


def accidental(part: Json) -> Counter[str]:
    """Drops but those of packets that had to be dropped."""
    return Counter[str](part["drops"]) - refused(part)


def counted(whole: Json, part: Json, reason: str) -> int:
    """Those of a service group, or of ports that several share."""
    if reason in part["drops"]:
        return int(part["drops"][reason])
    return sum(int(one["drops"].get(reason, 0)) for one in whole.get("shared_ports", []))


def differences(whole: Json, direction: str) -> list[tuple[str, int, int]]:
    """Reasons with how many packets were sent and how many dropped for them, where these differ."""
    part, found = whole[direction], []
    fewer = part["lost"] or whole.get("ports", {}).get(PORTS[direction], {}).get("missed", 0)
    for reason, sent in refused(part).items():
        dropped = counted(whole, part, reason)
        if dropped > sent or (dropped < sent and not fewer):
            found.append((reason, sent, dropped))
    return found


def add(whole: Json) -> None:
    """Directions get `refused_judged`, how many packets, and `refused_wrong`, how many too few or
    too many were dropped. Nothing is judged where the configuration changed meanwhile."""
    changed = expected.changed(whole)
    for direction in (way for way in DIRECTIONS if way in whole):
        part = whole[direction]
        wrong = [] if changed else differences(whole, direction)
        part["refused_judged"] = 0 if changed else refused(part).total()
        part["refused_wrong"] = sum(abs(sent - dropped) for _, sent, dropped in wrong)
        for reason, sent, dropped in wrong:
            complain(
                f"{direction}: {sent:,} packets were sent that have to be dropped as {reason}, and "
                f"{dropped:,} were"
            )
