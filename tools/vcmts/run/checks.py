# SPDX-License-Identifier: BSD-3-Clause
"""The checks of a run: what each compares, how many it checked, how many are wrong."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from vcmts.console import figures_table
from vcmts.jsons import Json
from vcmts.run import identities, summary

Count = Callable[[Json], int]


@dataclass(frozen=True)
class Check:
    name: str
    direction: str
    text: str  # what is compared
    judged: Count
    wrong: Count


def at(path: str) -> Count:
    """A count that sums values by their paths, such as "proven corrupted_by.hcs"."""

    def count(part: Json) -> int:
        return sum(identities.traffic_value(part, name) for name in path.split())

    return count


def within(key: str, names: str) -> Count:
    return at(" ".join(f"{key}.{name}" for name in names.split()))


def unexplained(part: Json) -> int:
    """Lost packets that --impair does not explain."""
    return int(part["lost"]) - int(part.get("expected", {}).get("lost", 0))


def down(name: str, text: str, judged: Count, wrong: Count) -> Check:
    return Check(name, "downstream", text, judged, wrong)


def every(direction: str) -> list[Check]:
    """The checks that both directions have."""
    return [
        Check("complete", direction, "each sent packet was received", at("sent"), unexplained),
        Check(
            "order",
            direction,
            "packets of a service flow are received once, in the order sent",
            at("proven"),
            at("reordered duplicated"),
        ),
        Check(
            "refusals",
            direction,
            "packets that must be dropped = drops of vcmtsd by reason, and none is transmitted",
            at("refused_judged"),
            at("refused_wrong"),
        ),
        Check(
            "nothing else",
            direction,
            "each frame from a port is an expected one",
            at("proven unexpected_frames"),
            at("unexpected_frames"),
        ),
    ]


WITNESSED = (
    "random packets of the R-PHY port are valid for an independent decoder, which shares no code"
)
LATENESS = (
    "half of the packets take at most 5 ms, unless a queue, a rate or a gap of the machine delays "
    "them"
)


def punctual(part: Json) -> int:
    return 0 if part.get("late") is None else int(part["proven"])


ARRIVED = at("proven corrupted undecipherable")
CHECKS = (
    down(
        "outer headers",
        "Ethernet and IP header of a DEPI frame = addresses, DSCP, TTL and MTU of the "
        "configuration, ECN 0, DF",
        at("depi_frames"),
        within("depi_violations", "mac ip address ip_fields mtu"),
    ),
    down(
        "sessions",
        "session, PSP flow, reserved bits, segments and bytes after the table = the channel's",
        at("depi_frames"),
        within("depi_violations", "session psp psp_fields extra"),
    ),
    down(
        "PSP numbers",
        "sequence numbers of a session increase by one, and each DOCSIS frame is complete",
        at("depi_frames"),
        within(
            "depi_violations",
            "no_sequence sequence_gap sequence_late sequence_duplicate segment_orphan "
            "segment_unfinished",
        ),
    ),
    down(
        "MAC headers",
        "HCS, FC, LEN and order of the extended headers = those of the packet",
        ARRIVED,
        within("corrupted_by", "hcs header length"),
    ),
    down(
        "channels",
        "destination = a modem, on a channel of its bonding groups",
        ARRIVED,
        within("corrupted_by", "destination channel"),
    ),
    down(
        "privacy",
        "EN, SAID, key sequence and toggle = a key of the modem",
        within("formats", "aes_128 aes_256 des"),
        at("corrupted_by.privacy undecipherable"),
    ),
    down(
        "DSIDs",
        "DSID and priority = the service flow's; its sequence numbers have no gaps",
        at("formats.numbered"),
        at("corrupted_by.dsid corrupted_by.ds_ehdr resequencing.skipped"),
    ),
    down(
        "CRC",
        "Ethernet CRC = that of the decrypted frame",
        at("formats.crc"),
        at("corrupted_by.crc"),
    ),
    down(
        "contents",
        "each byte of a packet = the byte sent to this modem and service flow",
        ARRIVED,
        within("corrupted_by", "crypto tag stream ip_header payload"),
    ),
    down("delay", LATENESS, punctual, summary.late),
    down(
        "rates",
        "bytes of a service flow, modem or channel <= its rate x time + its burst, and >= 99 % of "
        "the rate if packets waited only for it",
        at("qos_judged.rates"),
        at("qos_wrong.rates"),
    ),
    down(
        "priorities",
        "packets of a higher priority take no longer than those of a lower one in the same bonding "
        "group",
        at("qos_judged.priorities"),
        at("qos_wrong.priorities"),
    ),
    down(
        "weights",
        "service flows of a modem and priority with packets waiting share by weight, within 20 %",
        at("qos_judged.weights"),
        at("qos_wrong.weights"),
    ),
    down("independent decoder", WITNESSED, at("witness.frames"), at("witness.wrong")),
    *every("downstream"),
    Check(
        "contents",
        "upstream",
        "each byte of a packet = the byte that the modem sent",
        at("proven corrupted"),
        at("corrupted"),
    ),
    Check(
        "MAPs",
        "upstream",
        "MAPs cover time without gaps; acknowledgement, lead, back-off, opportunities, SIDs, UCD "
        "count = those of the configuration",
        at("access_judged.maps"),
        at("access_wrong.maps"),
    ),
    Check(
        "requests",
        "upstream",
        "bytes requested by modems = received by vcmtsd = granted, rounded up to minislots",
        at("access_judged.requests"),
        at("access_wrong.requests"),
    ),
    Check("delay", "upstream", LATENESS, punctual, summary.late),
    Check(
        "independent decoder",
        "upstream",
        WITNESSED,
        at("witness.frames"),
        at("witness.wrong"),
    ),
    *every("upstream"),
)


def identities_judged(whole: Json) -> list[Json]:
    """The check `identities` of each direction (identities.py)."""
    rows = []
    for direction in summary.directions(whole):
        count = sum(where.endswith(direction) for where, _, _ in identities.judged(whole))
        wrong = sum(text.split(":")[0].endswith(direction) for text in whole["identities_broken"])
        rows.append({"name": "identities", "direction": direction, "judged": count, "wrong": wrong})
    return rows


def rows(whole: Json) -> list[Json]:
    """The key `checks` of a run's summary, which must have the key `identities_broken`."""
    found = [
        {
            "name": check.name,
            "direction": check.direction,
            "judged": check.judged(whole[check.direction]),
            "wrong": check.wrong(whole[check.direction]),
        }
        for check in CHECKS
        if check.direction in whole
    ]
    return found + identities_judged(whole)


def text_of(row: Json) -> str:
    if row["name"] == "identities":
        return "sums of counters of both programs are equal (docs/counters.md)"
    return next(
        check.text
        for check in CHECKS
        if (check.name, check.direction) == (row["name"], row["direction"])
    )


def show(found: list[Json], console: Console) -> None:
    table = figures_table(("check", "checked", "wrong"), title="checks")
    table.add_column("comparison", justify="left")
    for row in found:
        judged = f"{row['judged']:,}" if row["judged"] else "nothing"
        name = f"{row['direction']}: {row['name']}"
        table.add_row(name, judged, f"{row['wrong']:,}", text_of(row))
    console.print(table)


def idle(found: list[Json]) -> str:
    """A line with the checks that had nothing to check; "" if there are none."""
    names = [f"{row['direction']} {row['name']}" for row in found if not row["judged"]]
    return f"checks without anything to check in this run: {', '.join(names)}" if names else ""


def announced(seed: int) -> str:
    """The first message of a run."""
    return (
        f"{len(CHECKS)} checks compare each packet and frame with what was sent, and counters with "
        f"each other (--list-checks lists them); seed {seed}"
    )
