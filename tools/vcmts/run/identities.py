# SPDX-License-Identifier: BSD-3-Clause
"""Compares counters of both programs: each identity states that two sums are equal.

A plain name is a counter of vcmtsd, `.name` and `.part.name` one of the traffic program, and
`channels.name` the sum over the downstream channels of the scheduler. `drop.name` is a drop reason,
`refused_name` counts packets that vcmtsd must drop. Other drops, losses, packets overtaken by a
change, and MAPs make sums of different stages differ. Then only identities of one stage are
checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.run import expected, refusals, summary

VLAN_TAG = 4  # bytes


@dataclass(frozen=True)
class Identity:
    text: str
    always: bool = False  # of one stage: drops do not matter
    frames: str = ""  # a counter: one side may have a VLAN tag for each of these frames
    unless: str = ""  # a counter: the identity is not checked if it is not 0
    impaired: bool = True  # holds with --impair; else expected.py checks the counter

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        left, right = self.text.split(" = ")
        return left.split(" + "), right.split(" + ")


def one_stage(text: str) -> Identity:
    return Identity(text, always=True)


def drops(*reasons: str) -> str:
    return " + ".join(f"drop.{name}" for name in reasons)


SEGMENTS = " + ".join(
    ["depi_segments_more", *(f"depi_segments_{number}" for number in range(1, 8))]
)
UNREAD = drops("ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length", "arp_malformed")
UNKNOWN = drops("ipv4_checksum", "multicast", "unknown_destination")
FILTERED = "filter_matched_permit + filter_matched_deny + filter_unmatched"
DOWNSTREAM = (
    Identity(".sent + refused_packets = received"),
    Identity(".sent_bytes + refused_bytes = received_bytes"),
    Identity(f"received = ipv4 + ipv6 + llc + {UNREAD}"),
    Identity(f"received = lookup_matched + {UNREAD} + {UNKNOWN}"),
    Identity(f"lookup_matched = {FILTERED} + drop.cpe_limit"),
    Identity(f"{FILTERED} = classifier_matched + classifier_unmatched + drop.filter_deny"),
    one_stage("classifier_matched = classifier_matched_ipv4 + classifier_matched_ipv6"),
    Identity(f"{FILTERED} = enqueued + drop.filter_deny"),
    Identity("enqueued = dequeued"),
    Identity("dequeued = channels.packets"),
    Identity("dequeued = framed"),
    Identity("framed = encrypted + clear"),
    one_stage("encrypted = encrypted_aes_128 + encrypted_aes_256 + encrypted_des"),
    Identity("clear = .formats.clear"),
    Identity("encrypted_aes_128 = .formats.aes_128"),
    Identity("encrypted_aes_256 = .formats.aes_256"),
    Identity("encrypted_des = .formats.des"),
    Identity("crc_generated = .formats.crc"),
    Identity("ipv4 = .formats.ipv4 + refused_ipv4"),
    Identity("ipv6 = .formats.ipv6 + refused_ipv6"),
    Identity("psp_segments = .formats.psp_segments"),
    Identity("psp_fragments = .formats.psp_fragments"),
    Identity("depi_frames = depi_full + depi_flushed", always=True, unless="messages"),
    one_stage("messages = messages_sent + messages_lost + messages_late"),
    Identity("framed = transmitted"),
    Identity("transmitted = .proven + .counted"),
    one_stage(f"depi_frames = {SEGMENTS}"),
    Identity("depi_frames = .depi_frames"),
    Identity("transmitted_bytes = .depi_bytes", frames="depi_frames"),
)
OUTER = drops("outer_address", "unknown_session", "l2tp_control", "outer_ip_checksum")
PRIVACY = drops("privacy_missing", "privacy_sid", "key_unknown")
UPSTREAM = (
    Identity(".uepi_reordered = psp_reordered", impaired=False),
    Identity(".uepi_segments = psp_segments"),
    Identity(".uepi_packets = received + refused_at_port_packets"),
    Identity(".uepi_bytes = received_bytes + refused_at_port_bytes", frames=".uepi_packets"),
    Identity(f"received = psp_packets + {OUTER}"),
    Identity(".bursts = bursts"),
    Identity("bursts = segments + no_bursts"),
    Identity(".concatenations = concatenations"),
    Identity(".requests_sent = requests_repeated + in_bursts", unless="requests_taken"),
    Identity("segments = extracted"),
    Identity(
        f"frames = decrypted + clear + management + request_frames + {PRIVACY}",
        unless="fragments",
    ),
    one_stage("decrypted = decrypted_aes_128 + decrypted_aes_256 + decrypted_des"),
    Identity(".management = management"),
    Identity("transmitted + drop.source_address = ipv4 + ipv6 + llc"),
    Identity("transmitted = .proven"),
    Identity("transmitted_bytes = .proven_bytes", frames="transmitted"),
    Identity(".request_records = records"),
    one_stage("requests = by_kind"),
    one_stage("requests = by_modem + of_left"),
)
REQUESTS = ("by_kind", "by_modem", "of_left", "records", "in_bursts")
IDENTITIES = {"downstream": DOWNSTREAM, "upstream": UPSTREAM}


# Counters in no identity, and why.
ALONE = {
    "classifier_matched_icmp": "also counted with IPv4 and IPv6",
    "transmit_retries": "only vcmtsd knows how often a port was full",
    "psp_ofdma": "the traffic program does not distinguish the kinds of its channels",
    "psp_partial": "depends on how the R-PHY device splits bursts into packets",
    "psp_gaps": "lost or reordered packets: none in a good run",
    "psp_missing": "as psp_gaps",
    "psp_resyncs": "as psp_gaps",
    "windows_full": "as psp_gaps",
    "odd_trailers": "broken packets: none in a good run",
    "fec_uncorrectable": "none in a good run",
    "segment_bytes": "the traffic program counts no bytes of bursts",
    "segment_gaps": "as psp_gaps",
    "segments_missing": "as psp_gaps",
    "segments_reordered": "depends on the timing of the channels",
    "segment_resyncs": "as psp_gaps",
    "resync_bytes": "broken frames: none in a good run",
    "padding_bytes": "the traffic program counts no padding",
    "crc_verified": "also counted with decrypted and clear",
    "fragments": "compared by the frames that they form",
    "requests_lost": "none in a good run",
    "bad_requests": "none in a good run",
    "requests_taken": "of modems that wait for grants: maps.py compares them",
    "requests_cut": "as requests_taken",
    "requests_no_flow": "none in a good run",
    "requests_nothing": "none in a good run",
    "maps": "messages count a MAP once per pseudowire",
    "ucds": "as maps",
    "messages_made": "as maps",
    "messages_unsent": "none in a good run",
    "grants_refused": "service flows, not packets",
    "clock_jumps": "of the system's clock",
}


@dataclass(frozen=True)
class Broken:
    """An identity that does not hold."""

    where: str  # direction, and service group if it is of one
    identity: Identity
    left: int
    right: int

    def __str__(self) -> str:
        return f"{self.where}: {self.identity.text}: found {self.left:,} and {self.right:,}"


def requests(part: Json, name: str) -> int | None:
    """A sum of bandwidth requests, by a name in REQUESTS; None if vcmtsd does not report them."""
    reported = part.get("requests", {})
    if "by_modem" not in reported:
        return None
    if name == "by_modem":
        return sum(sum(kinds.values()) for kinds in reported["by_modem"].values())
    if name == "of_left":
        return int(reported["of_left"])
    kinds: dict[str, int] = reported["by_kind"]
    match name:
        case "records":
            return kinds["record"]
        case "in_bursts":
            return sum(kinds.values()) - kinds["record"]
        case _:
            return sum(kinds.values())


def traffic_value(part: Json, name: str) -> int:
    """A counter of the traffic program by its path, such as `formats.crc`; 0 if it is missing."""
    *within, last = name.split(".")
    for key in within:
        part = part.get(key, {})
    return int(part.get(last, 0))


def value(part: Json, name: str) -> int | None:
    """The value of a name in an identity; None if the programs do not report it."""
    if name.startswith("."):
        return traffic_value(part, name[1:])
    if name.startswith("channels."):
        channels = part.get("scheduler", {}).get("channels")
        key = name.removeprefix("channels.")
        return None if channels is None else sum(int(one[key]) for one in channels)
    if name.startswith("refused_"):
        return refusals.refused_sum(part, name.removeprefix("refused_"))
    if name.startswith("drop."):
        return int(part["drops"].get(name.removeprefix("drop."), 0))
    if name in REQUESTS:
        return requests(part, name)
    counter: int | None = part["counters"].get(name)
    return counter


def total(part: Json, names: list[str]) -> int | None:
    values = [number for name in names if (number := value(part, name)) is not None]
    return sum(values) if len(values) == len(names) else None


def is_complete(part: Json) -> bool:
    """Whether all sent packets were delivered, and nothing else."""
    counts = ("lost", "overtaken", "corrupted", "undecipherable", "duplicated")
    return (
        not any(part.get(key, 0) for key in counts)
        and not refusals.other_drops(part)
        and not part["counters"].get("messages_sent", 0)
    )


def identities_to_check(whole: Json) -> Iterator[tuple[str, Json, Identity]]:
    """Yields the identities to check, each with the name and results of its part."""
    groups = whole.get("groups", [])
    parts = [("", whole)]
    parts += [(f"service group {group['id']}, ", group) for group in groups]
    changed, impaired = expected.configuration_changed(whole), expected.impaired(whole)
    for name, part in parts:
        for direction in summary.directions(part):
            if "counters" not in part[direction]:
                continue  # a removed group: its counters are only in the sums of all groups
            every = is_complete(part[direction]) and not changed
            for identity in IDENTITIES[direction]:
                if identity.frames and part is whole and len(groups) > 1:
                    continue  # only some groups may have VLANs
                if impaired and not identity.impaired:
                    continue
                if every or identity.always:
                    yield f"{name}{direction}", part[direction], identity


def broken_identities(whole: Json) -> list[Broken]:
    """The identities that do not hold in a run."""
    found = []
    for where, part, identity in identities_to_check(whole):
        if identity.unless and value(part, identity.unless):
            continue
        left, right = (total(part, side) for side in identity.sides)
        if left is None or right is None:
            continue
        tags = VLAN_TAG * (value(part, identity.frames) or 0) if identity.frames else 0
        if abs(left - right) not in (0, tags):
            found.append(Broken(where, identity, left, right))
    return found
