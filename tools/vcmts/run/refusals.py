# SPDX-License-Identifier: BSD-3-Clause
"""Checks the packets that vcmtsd must drop (--refuse-every): it must count each under its reason.

The traffic program reports `refused` per direction: the packets it sent, by expected drop reason.
No other packet may be dropped for these reasons, and none of them may be transmitted. If packets
were lost, or a port was full, some of them may be lost too.
"""

from collections import Counter

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import notify
from vcmts.run import expected

PORTS = {"downstream": "network", "upstream": "rphy"}
# Drop reasons after vcmtsd has counted a packet as IPv4, IPv6 or LLC.
READ = ("ipv4_checksum", "multicast", "unknown_destination", "cpe_limit", "filter_deny")


def refused(part: Json) -> Counter[str]:
    """The number of packets that must be dropped, by reason."""
    return Counter({name: one["packets"] for name, one in part.get("refused", {}).items()})


def refused_sum(part: Json, key: str) -> int:
    """A sum over packets that must be dropped, in the group or, with `at_port_`, at its port."""
    field, at_port = key.removeprefix("at_port_"), key.startswith("at_port_")
    sent = part.get("refused", {}).items()
    if field in ("ipv4", "ipv6"):
        return sum(one[field] for name, one in sent if name in READ)
    return sum(one[field] for name, one in sent if (name in part["drops"]) != at_port)


def other_drops(part: Json) -> Counter[str]:
    """Drops by reason, without those of packets that must be dropped."""
    return Counter[str](part["drops"]) - refused(part)


def drops_for(whole: Json, part: Json, reason: str) -> int:
    """The drops for a reason, of service groups or of shared ports."""
    if reason in part["drops"]:
        return int(part["drops"][reason])
    return sum(int(one["drops"].get(reason, 0)) for one in whole.get("shared_ports", []))


def differences(whole: Json, direction: str) -> list[tuple[str, int, int]]:
    """Reasons whose count is wrong, with the numbers of packets sent and dropped."""
    part, found = whole[direction], []
    fewer = part["lost"] or whole.get("ports", {}).get(PORTS[direction], {}).get("missed", 0)
    for reason, sent in refused(part).items():
        dropped = drops_for(whole, part, reason)
        if dropped > sent or (dropped < sent and not fewer):
            found.append((reason, sent, dropped))
    return found


def add(whole: Json) -> None:
    """Adds `refused_judged` and `refused_wrong` to the directions: packets that must be dropped,
    and how many too few or too many were. Skips the check if the configuration changed."""
    changed = expected.configuration_changed(whole)
    for direction in (way for way in DIRECTIONS if way in whole):
        part = whole[direction]
        wrong = [] if changed else differences(whole, direction)
        part["refused_judged"] = 0 if changed else refused(part).total()
        part["refused_wrong"] = sum(abs(sent - dropped) for _, sent, dropped in wrong)
        for reason, sent, dropped in wrong:
            notify(
                f"{direction}: {sent:,} packets were sent that must be dropped as {reason}, but "
                f"{dropped:,} were dropped"
            )
