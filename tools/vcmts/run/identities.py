# SPDX-License-Identifier: BSD-3-Clause
"""Counters of both programs held against each other: each sum on the left is that on the right.

A plain name is a counter of vcmtsd, `.name` and `.part.name` what the traffic program counted, and
`channels.name` the sum over the downstream channels of the scheduler. `drop.name` are those of a
reason, and `refused_` tells of packets that vcmtsd has to drop. Where others were dropped, lost or
overtaken by a change, or MAPs are sent, too, sums of different stages differ by these; then an
identity is not judged, unless it is of one stage alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.run import expected, refusals, summary

VLAN_TAG = 4  # bytes


@dataclass(frozen=True)
class Identity:
    text: str
    always: bool = False  # of one stage alone: drops do not matter
    frames: str = ""  # a counter: one side may have a VLAN tag for each of these
    unless: str = ""  # a counter: not judged where it is not 0
    impaired: bool = True  # holds with --impair; if not, its account of the counter is judged alone

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


# Counters that no sum of another program or stage can be held against, and why.
ALONE = {
    "classifier_matched_icmp": "counts again what stands with IPv4 and IPv6",
    "transmit_retries": "how often a port was full is known to nobody else",
    "psp_ofdma": "the traffic program does not tell the kinds of its channels apart",
    "psp_partial": "depends on how the R-PHY device cuts bursts into packets",
    "psp_gaps": "packets that were lost or came out of order: none in a good run",
    "psp_missing": "as psp_gaps",
    "psp_resyncs": "as psp_gaps",
    "windows_full": "as psp_gaps",
    "odd_trailers": "broken packets: none in a good run",
    "fec_uncorrectable": "none in a good run",
    "segment_bytes": "the traffic program counts no bytes of bursts",
    "segment_gaps": "as psp_gaps",
    "segments_missing": "as psp_gaps",
    "segments_reordered": "depends on the times at which channels send",
    "segment_resyncs": "as psp_gaps",
    "resync_bytes": "broken frames: none in a good run",
    "padding_bytes": "the traffic program counts no padding",
    "crc_verified": "counts again what stands with decrypted and clear",
    "fragments": "is compared by the frames that they make",
    "requests_lost": "none in a good run",
    "bad_requests": "none in a good run",
    "requests_taken": "by modems that wait for grants (MAPs)",
    "requests_cut": "counts again what stands with requests_taken",
    "requests_no_flow": "none in a good run",
    "requests_nothing": "none in a good run",
    "maps": "MAPs are counted for each way that they go in messages",
    "ucds": "as maps",
    "messages_made": "as maps",
    "messages_unsent": "none in a good run",
    "grants_refused": "service flows, not packets",
    "clock_jumps": "the system's clock",
}


@dataclass(frozen=True)
class Broken:
    where: str  # of all service groups, or of one
    identity: Identity
    left: int
    right: int

    def __str__(self) -> str:
        return f"{self.where}: {self.identity.text}: found {self.left:,} and {self.right:,}"


def requests(part: Json, name: str) -> int | None:
    """Bandwidth requests: all by their kinds, by record, in bursts, of modems, and of modems that
    have left."""
    asked = part.get("requests", {})
    if "by_modem" not in asked:
        return None
    if name == "by_modem":
        return sum(sum(kinds.values()) for kinds in asked["by_modem"].values())
    if name == "of_left":
        return int(asked["of_left"])
    kinds: dict[str, int] = asked["by_kind"]
    match name:
        case "records":
            return kinds["record"]
        case "in_bursts":
            return sum(kinds.values()) - kinds["record"]
        case _:
            return sum(kinds.values())


def traffic_value(part: Json, name: str) -> int:
    """A count of the traffic program's, such as `formats.crc`; 0 where there is none."""
    *within, last = name.split(".")
    for key in within:
        part = part.get(key, {})
    return int(part.get(last, 0))


def value(part: Json, name: str) -> int | None:
    """None where the programs do not tell it."""
    if name.startswith("."):
        return traffic_value(part, name[1:])
    if name.startswith("channels."):
        channels = part.get("scheduler", {}).get("channels")
        key = name.removeprefix("channels.")
        return None if channels is None else sum(int(one[key]) for one in channels)
    if name.startswith("refused_"):
        return refusals.of_group(part, name.removeprefix("refused_"))
    if name.startswith("drop."):
        return int(part["drops"].get(name.removeprefix("drop."), 0))
    if name in REQUESTS:
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
        and not refusals.accidental(part)
        and not part["counters"].get("messages_sent", 0)
    )


def judged(whole: Json) -> Iterator[tuple[str, Json, Identity]]:
    """The identities that hold of a run, and of what."""
    groups = whole.get("groups", [])
    parts = [("", whole)]
    parts += [(f"service group {group['id']}, ", group) for group in groups]
    changed, impaired = expected.changed(whole), expected.impaired(whole)
    for name, part in parts:
        for direction in summary.directions(part):
            if "counters" not in part[direction]:
                continue  # a removed group: only the sums of all groups have its counters
            every = is_whole(part[direction]) and not changed
            for identity in IDENTITIES[direction]:
                if identity.frames and part is whole and len(groups) > 1:
                    continue  # some groups have VLANs, others none
                if impaired and not identity.impaired:
                    continue
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
