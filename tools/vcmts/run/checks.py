# SPDX-License-Identifier: BSD-3-Clause
"""What a run holds against what: a table, with how many each check judged and found wrong."""

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
    text: str  # what is held against what
    judged: Count
    wrong: Count


def at(path: str) -> Count:
    """The sum of counts by their paths, such as "proven corrupted_by.hcs"."""

    def count(part: Json) -> int:
        return sum(identities.traffic_value(part, name) for name in path.split())

    return count


def within(key: str, names: str) -> Count:
    return at(" ".join(f"{key}.{name}" for name in names.split()))


def unexplained(part: Json) -> int:
    """Lost, beyond what --impair has to cost."""
    return int(part["lost"]) - int(part.get("expected", {}).get("lost", 0))


def down(name: str, text: str, judged: Count, wrong: Count) -> Check:
    return Check(name, "downstream", text, judged, wrong)


def every(direction: str) -> list[Check]:
    """Those of both directions."""
    return [
        Check("complete", direction, "each packet that was sent came", at("sent"), unexplained),
        Check(
            "order",
            direction,
            "packets of a service flow come once, as they were sent",
            at("proven"),
            at("reordered duplicated"),
        ),
        Check(
            "refusals",
            direction,
            "packets that have to be dropped = drops of vcmtsd by reason, and none comes out",
            at("refused_judged"),
            at("refused_wrong"),
        ),
        Check(
            "nothing else",
            direction,
            "each frame out of a port is one that was asked for",
            at("proven unexpected_frames"),
            at("unexpected_frames"),
        ),
    ]


WITNESSED = (
    "packets of the R-PHY port, taken at random = what a decoder that shares no code finds good"
)
LATENESS = (
    "half of the packets take no more than 5 ms, where no queue, rate or gap of the machine "
    "holds them up"
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
        "session, PSP flow, reserved bits, segments and bytes behind the table = the channel's",
        at("depi_frames"),
        within("depi_violations", "session psp psp_fields extra"),
    ),
    down(
        "PSP numbers",
        "packets of a session count on by one, and each DOCSIS frame is put together",
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
        "EN, SAID, key sequence and toggle = a key that the modem holds",
        within("formats", "aes_128 aes_256 des"),
        at("corrupted_by.privacy undecipherable"),
    ),
    down(
        "DSIDs",
        "DSID and priority = the service flow's; its numbers leave none out",
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
        "each byte of a packet = the one that was sent to this modem and service flow",
        ARRIVED,
        within("corrupted_by", "crypto tag stream ip_header payload"),
    ),
    down("delay", LATENESS, punctual, summary.late),
    down(
        "rates",
        "bytes of a service flow, modem or channel <= its rate x time + its burst, and >= 99 % of "
        "the rate where packets waited for it alone",
        at("qos_judged.rates"),
        at("qos_wrong.rates"),
    ),
    down(
        "priorities",
        "packets of a higher priority take no longer than those of a lower one in their bonding "
        "group",
        at("qos_judged.priorities"),
        at("qos_wrong.priorities"),
    ),
    down(
        "weights",
        "service flows of a modem and priority that wait together share by weight, to 20 %",
        at("qos_judged.weights"),
        at("qos_wrong.weights"),
    ),
    down("independent decoder", WITNESSED, at("witness.frames"), at("witness.wrong")),
    *every("downstream"),
    Check(
        "contents",
        "upstream",
        "each byte of a packet = the one that the modem sent",
        at("proven corrupted"),
        at("corrupted"),
    ),
    Check(
        "MAPs",
        "upstream",
        "MAPs tile the time; acknowledgement, lead, back-off, opportunities, SIDs and UCD count = "
        "those of the configuration",
        at("access_judged.maps"),
        at("access_wrong.maps"),
    ),
    Check(
        "requests",
        "upstream",
        "bytes asked for by modems = heard by vcmtsd = granted, but for whole minislots",
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
    """A row for each direction."""
    rows = []
    for direction in summary.directions(whole):
        count = sum(where.endswith(direction) for where, _, _ in identities.judged(whole))
        wrong = sum(text.split(":")[0].endswith(direction) for text in whole["identities_broken"])
        rows.append({"name": "identities", "direction": direction, "judged": count, "wrong": wrong})
    return rows


def rows(whole: Json) -> list[Json]:
    """As the summary of a run has them. `identities_broken` is in it."""
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
        return "sums of counters of both programs = each other (docs/counters.md)"
    return next(
        check.text
        for check in CHECKS
        if (check.name, check.direction) == (row["name"], row["direction"])
    )


def show(found: list[Json], console: Console) -> None:
    table = figures_table(("check", "judged", "wrong"), title="checks")
    table.add_column("what is held against what", justify="left")
    for row in found:
        judged = f"{row['judged']:,}" if row["judged"] else "nothing"
        name = f"{row['direction']}: {row['name']}"
        table.add_row(name, judged, f"{row['wrong']:,}", text_of(row))
    console.print(table)


def idle(found: list[Json]) -> str:
    """Those that had nothing to judge, in a line; empty where there are none."""
    names = [f"{row['direction']} {row['name']}" for row in found if not row["judged"]]
    return f"nothing to judge in this run for: {', '.join(names)}" if names else ""


def announced(seed: int) -> str:
    """The first line of a run."""
    return (
        f"{len(CHECKS)} checks compare each packet and frame with what was sent, and counters with "
        f"each other (--list-checks prints them); seed {seed}"
    )
