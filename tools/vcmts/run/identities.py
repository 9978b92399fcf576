# SPDX-License-Identifier: BSD-3-Clause
"""Counters of both programs held against each other: each sum on the left is that on the right.

A plain name is a counter of vcmtsd, `.name` what the traffic program counted, and `channels.name`
the sum over the downstream channels of the scheduler. Where packets were dropped, lost or overtaken
by a change, or MAPs are sent, too, sums of different stages differ by these; then an identity is
not judged, unless it is of one stage alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vcmts.run import summary

Json = dict[str, Any]
VLAN_TAG = 4  # bytes


@dataclass(frozen=True)
class Identity:
    text: str
    always: bool = False  # of one stage alone: drops do not matter
    frames: str = ""  # a counter: one side may have a VLAN tag for each of these
    unless: str = ""  # a counter: not judged where it is not 0

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        left, right = self.text.split(" = ")
        return left.split(" + "), right.split(" + ")


def one_stage(text: str) -> Identity:
    return Identity(text, always=True)


SEGMENTS = " + ".join(
    ["depi_segments_more", *(f"depi_segments_{number}" for number in range(1, 8))]
)
DOWNSTREAM = (
    Identity(".sent = received"),
    Identity(".sent_bytes = received_bytes"),
    Identity("received = ipv4 + ipv6 + llc"),
    Identity("received = lookup_matched"),
    Identity("lookup_matched = filter_matched_permit + filter_unmatched"),
    Identity("lookup_matched = classifier_matched + classifier_unmatched"),
    one_stage("classifier_matched = classifier_matched_ipv4 + classifier_matched_ipv6"),
    Identity("lookup_matched = enqueued"),
    Identity("enqueued = dequeued"),
    Identity("dequeued = channels.packets"),
    Identity("dequeued = framed"),
    Identity("framed = encrypted + clear"),
    one_stage("encrypted = encrypted_aes_128 + encrypted_aes_256 + encrypted_des"),
    Identity("framed = transmitted"),
    Identity("transmitted = .proven + .counted"),
    one_stage(f"depi_frames = {SEGMENTS}"),
    Identity("depi_frames = .depi_frames"),
    Identity("transmitted_bytes = .depi_bytes", frames="depi_frames"),
)
UPSTREAM = (
    Identity(".uepi_packets = received"),
    Identity(".uepi_bytes = received_bytes", frames="received"),
    Identity("received = psp_packets"),
    Identity(".bursts = bursts"),
    Identity("segments = extracted"),
    Identity("frames = decrypted + clear + management + request_frames", unless="fragments"),
    one_stage("decrypted = decrypted_aes_128 + decrypted_aes_256 + decrypted_des"),
    Identity(".management = management"),
    Identity("transmitted = ipv4 + ipv6 + llc"),
    Identity("transmitted = .proven"),
    Identity("transmitted_bytes = .proven_bytes", frames="transmitted"),
    Identity(".request_records = records"),
    one_stage("requests = by_kind"),
    one_stage("requests = by_modem"),
)
IDENTITIES = {"downstream": DOWNSTREAM, "upstream": UPSTREAM}


@dataclass(frozen=True)
class Broken:
    where: str  # of all service groups, or of one
    identity: Identity
    left: int
    right: int

    def __str__(self) -> str:
        return f"{self.where}: {self.identity.text}: found {self.left:,} and {self.right:,}"


def requests(part: Json, name: str) -> int | None:
    """Bandwidth requests: those by record, all, and what modems have of them."""
    asked = part.get("requests", {})
    if "by_modem" not in asked:
        return None
    if name == "by_modem":
        return sum(sum(kinds.values()) for kinds in asked["by_modem"].values())
    kinds: dict[str, int] = asked["by_kind"]
    return kinds["record"] if name == "records" else sum(kinds.values())


def value(part: Json, name: str) -> int | None:
    """None where the programs do not tell it."""
    if name.startswith("."):
        return int(part.get(name[1:], 0))
    if name.startswith("channels."):
        channels = part.get("scheduler", {}).get("channels")
        key = name.removeprefix("channels.")
        return None if channels is None else sum(int(one[key]) for one in channels)
    if name in ("by_kind", "by_modem", "records"):
        return requests(part, name)
    counter: int | None = part["counters"].get(name)
    return counter


def total(part: Json, names: list[str]) -> int | None:
    values = [number for name in names if (number := value(part, name)) is not None]
    return sum(values) if len(values) == len(names) else None


def is_whole(part: Json) -> bool:
    """Whether all that was sent went all the way, and nothing else did."""
    gone = ("lost", "overtaken", "corrupted", "undecipherable", "duplicated")
    return (
        not any(part.get(key, 0) for key in gone)
        and not any(part["drops"].values())
        and not part["counters"].get("messages_sent", 0)
    )


def judged(whole: Json) -> Iterator[tuple[str, Json, Identity]]:
    """The identities that hold of a run, and of what."""
    groups = whole.get("groups", [])
    parts = [("", whole)]
    parts += [(f"service group {group['id']}, ", group) for group in groups]
    changed = whole.get("follow", {}).get("changes", 0) > 0
    for name, part in parts:
        for direction in summary.directions(part):
            if "counters" not in part[direction]:
                continue  # a removed group: only the sums of all groups have its counters
            every = is_whole(part[direction]) and not changed
            for identity in IDENTITIES[direction]:
                if identity.frames and part is whole and len(groups) > 1:
                    continue  # some groups have VLANs, others none
                if every or identity.always:
                    yield f"{name}{direction}", part[direction], identity


def broken(whole: Json) -> list[Broken]:
    found = []
    for where, part, identity in judged(whole):
        if identity.unless and value(part, identity.unless):
            continue
        left, right = (total(part, side) for side in identity.sides)
        if left is None or right is None:
            continue
        tags = VLAN_TAG * (value(part, identity.frames) or 0) if identity.frames else 0
        if abs(left - right) not in (0, tags):
            found.append(Broken(where, identity, left, right))
    return found
