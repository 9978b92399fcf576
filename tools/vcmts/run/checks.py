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
    checked: Count
    wrong: Count


def sum_of(path: str) -> Count:
    """A count that sums values by their paths, such as "proven corrupted_by.hcs"."""

    def count(part: Json) -> int:
        return sum(identities.traffic_value(part, name) for name in path.split())

    return count


def sum_within(key: str, names: str) -> Count:
    return sum_of(" ".join(f"{key}.{name}" for name in names.split()))


def unexplained(part: Json) -> int:
    """Lost packets that --impair does not explain."""
    return int(part["lost"]) - int(part.get("expected", {}).get("lost", 0))


def down_check(name: str, text: str, checked: Count, wrong: Count) -> Check:
    return Check(name, "downstream", text, checked, wrong)


def common_checks(direction: str) -> list[Check]:
    """The checks that both directions have."""
    return [
        Check("complete", direction, "each sent packet was received", sum_of("sent"), unexplained),
        Check(
            "order",
            direction,
            "packets of a service flow are received once, in the order sent",
            sum_of("proven"),
            sum_of("reordered duplicated"),
        ),
        Check(
            "refusals",
            direction,
            "packets that must be dropped = drops of vcmtsd by reason, and none is transmitted",
            sum_of("refused_judged"),
            sum_of("refused_wrong"),
        ),
        Check(
            "nothing else",
            direction,
            "each frame from a port is an expected one",
            sum_of("proven unexpected_frames"),
            sum_of("unexpected_frames"),
        ),
    ]


DECODED = (
    "random packets of the R-PHY port are valid for an independent decoder, which shares no code"
)
LATENESS = (
    "half of the packets take at most 5 ms, unless a queue, a rate or a gap of the machine delays "
    "them"
)


def delay_checked(part: Json) -> int:
    """The packets whose delay was checked."""
    return 0 if part.get("late") is None else int(part["proven"])


RECEIVED = sum_of("proven corrupted undecipherable")
CHECKS = (
    down_check(
        "outer headers",
        "Ethernet and IP header of a DEPI frame = addresses, DSCP, TTL and MTU of the "
        "configuration, ECN 0, DF",
        sum_of("depi_frames"),
        sum_within("depi_violations", "mac ip address ip_fields mtu"),
    ),
    down_check(
        "sessions",
        "session, PSP flow, reserved bits, segments and bytes after the table = the channel's",
        sum_of("depi_frames"),
        sum_within("depi_violations", "session psp psp_fields extra"),
    ),
    down_check(
        "PSP numbers",
        "sequence numbers of a session increase by one, and each DOCSIS frame is complete",
        sum_of("depi_frames"),
        sum_within(
            "depi_violations",
            "no_sequence sequence_gap sequence_late sequence_duplicate segment_orphan "
            "segment_unfinished",
        ),
    ),
    down_check(
        "MAC headers",
        "HCS, FC, LEN and order of the extended headers = those of the packet",
        RECEIVED,
        sum_within("corrupted_by", "hcs header length"),
    ),
    down_check(
        "channels",
        "destination = a modem, on a channel of its bonding groups",
        RECEIVED,
        sum_within("corrupted_by", "destination channel"),
    ),
    down_check(
        "privacy",
        "EN, SAID, key sequence and toggle = a key of the modem",
        sum_within("formats", "aes_128 aes_256 des"),
        sum_of("corrupted_by.privacy undecipherable"),
    ),
    down_check(
        "DSIDs",
        "DSID and priority = the service flow's; its sequence numbers have no gaps",
        sum_of("formats.numbered"),
        sum_of("corrupted_by.dsid corrupted_by.ds_ehdr resequencing.skipped"),
    ),
    down_check(
        "CRC",
        "Ethernet CRC = that of the decrypted frame",
        sum_of("formats.crc"),
        sum_of("corrupted_by.crc"),
    ),
    down_check(
        "contents",
        "each byte of a packet = the byte sent to this modem and service flow",
        RECEIVED,
        sum_within("corrupted_by", "crypto tag stream ip_header payload"),
    ),
    down_check("delay", LATENESS, delay_checked, summary.late_packets),
    down_check(
        "rates",
        "bytes of a service flow, modem or channel <= its rate x time + its burst, and >= 99 % of "
        "the rate if packets waited only for it",
        sum_of("qos_judged.rates"),
        sum_of("qos_wrong.rates"),
    ),
    down_check(
        "priorities",
        "packets of a higher priority take no longer than those of a lower one in the same bonding "
        "group",
        sum_of("qos_judged.priorities"),
        sum_of("qos_wrong.priorities"),
    ),
    down_check(
        "weights",
        "service flows of a modem and priority with packets waiting share by weight, within 20 %",
        sum_of("qos_judged.weights"),
        sum_of("qos_wrong.weights"),
    ),
    down_check("independent decoder", DECODED, sum_of("witness.frames"), sum_of("witness.wrong")),
    *common_checks("downstream"),
    Check(
        "contents",
        "upstream",
        "each byte of a packet = the byte that the modem sent",
        sum_of("proven corrupted"),
        sum_of("corrupted"),
    ),
    Check(
        "MAPs",
        "upstream",
        "MAPs cover time without gaps; acknowledgement, lead, back-off, opportunities, SIDs, UCD "
        "count = those of the configuration",
        sum_of("access_judged.maps"),
        sum_of("access_wrong.maps"),
    ),
    Check(
        "requests",
        "upstream",
        "bytes requested by modems = received by vcmtsd = granted, rounded up to minislots",
        sum_of("access_judged.requests"),
        sum_of("access_wrong.requests"),
    ),
    Check("delay", "upstream", LATENESS, delay_checked, summary.late_packets),
    Check(
        "independent decoder",
        "upstream",
        DECODED,
        sum_of("witness.frames"),
        sum_of("witness.wrong"),
    ),
    *common_checks("upstream"),
)


def identity_rows(whole: Json) -> list[Json]:
    """The check `identities` of each direction (identities.py)."""
    rows = []
    for direction in summary.directions(whole):
        count = sum(
            where.endswith(direction) for where, _, _ in identities.identities_to_check(whole)
        )
        wrong = sum(text.split(":")[0].endswith(direction) for text in whole["identities_broken"])
        rows.append({"name": "identities", "direction": direction, "judged": count, "wrong": wrong})
    return rows


def check_rows(whole: Json) -> list[Json]:
    """The key `checks` of a run's summary, which must have the key `identities_broken`."""
    found = [
        {
            "name": check.name,
            "direction": check.direction,
            "judged": check.checked(whole[check.direction]),
            "wrong": check.wrong(whole[check.direction]),
        }
        for check in CHECKS
        if check.direction in whole
    ]
    return found + identity_rows(whole)


def description(row: Json) -> str:
    if row["name"] == "identities":
        return "sums of counters of both programs are equal (docs/counters.md)"
    return next(
        check.text
        for check in CHECKS
        if (check.name, check.direction) == (row["name"], row["direction"])
    )


def print_checks(found: list[Json], console: Console) -> None:
    table = figures_table(("check", "checked", "wrong"), title="checks")
    table.add_column("comparison", justify="left")
    for row in found:
        checked = f"{row['judged']:,}" if row["judged"] else "nothing"
        name = f"{row['direction']}: {row['name']}"
        table.add_row(name, checked, f"{row['wrong']:,}", description(row))
    console.print(table)


def idle_checks_text(found: list[Json]) -> str:
    """A line with the checks that had nothing to check; "" if there are none."""
    names = [f"{row['direction']} {row['name']}" for row in found if not row["judged"]]
    return f"checks without anything to check in this run: {', '.join(names)}" if names else ""
