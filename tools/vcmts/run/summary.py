# SPDX-License-Identifier: BSD-3-Clause
"""Merges the results of vcmtsd and the traffic program into the summary of a run, and prints it."""

from collections import Counter

from rich.console import Console
from rich.table import Table

from vcmts.console import figures_table
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.run import expected, grants, groups, refusals
from vcmts.telemetry.delay import delay_table
from vcmts.terminal import print_wrapped

# Keys of vcmtsd's results per direction that are added to those of the traffic program.
PLANE = (
    *(
        "cycles_per_packet",
        "pipeline_latency_us",
        "drops",
        "counters",
        "scheduler",
        "balanced",
        "held",
    ),
    *("units", "requests"),
)
# Keys of vcmtsd's results at the top level.
PROCESS = ("workers", "power", "ports", "shared_ports", "removed_groups", "measured", "host")
COUNTS = ("sent", "proven", "lost", "duplicated", "reordered", "corrupted")
# Counts that are shown only if they are not 0.
EXCEPTIONS = ("undecipherable", "overtaken", "unaccounted")


def with_plane(sent: Json, served: Json) -> Json:
    """The traffic program's results of a direction, with the keys PLANE of vcmtsd's. If both have a
    key, the traffic program's gets the suffix `_sent`."""
    whole = dict(sent)
    for key in PLANE:
        if key in served:
            if key in whole:
                whole[f"{key}_sent"] = whole[key]
            whole[key] = served[key]
    return whole


def merge(plane: Json, proven: Json, requested: dict[str, float | None]) -> Json:
    """Merges the results of both programs. `requested`: Gbps by direction; None: maximum."""
    whole: Json = dict(proven)
    for direction in directions(proven):
        sent = proven[direction] | {"asked_gbps": requested[direction]}
        whole[direction] = with_plane(sent, plane[direction])
    whole["groups"] = [
        group | {way: with_plane(group[way], served.get(way, {})) for way in directions(group)}
        for group, served in groups.pairs(plane, proven)
    ]
    for key in PROCESS:
        if key in plane:
            whole[key] = plane[key]
    return whole


def directions(summary: Json) -> list[str]:
    """The directions that were used."""
    return [direction for direction in DIRECTIONS if direction in summary]


def unaccounted(summary: Json) -> bool:
    """Whether the traffic program cannot account for a packet, in any direction or group."""
    return any(
        part[direction].get("unaccounted", 0) != 0
        for part in (summary, *summary.get("groups", []))
        for direction in directions(part)
    )


def balanced(summary: Json) -> bool:
    """Whether vcmtsd accounts for all packets, in total and per service group."""
    return all(
        part[direction].get("balanced", False)
        for part in (summary, *summary.get("groups", []))
        for direction in directions(part)
    )


def silent(summary: Json) -> list[tuple[int, str]]:
    """Service groups (by ID) and directions without any sent packet."""
    return [
        (group["id"], direction)
        for group in summary["groups"]
        for direction in directions(group)
        if group[direction]["sent"] == 0
    ]


def cycles_table(direction: str, served: Json) -> Table:
    cycles = served.get("cycles_per_packet", {"total": 0.0, "stages": {}})
    drawn = figures_table(("stage", "cycles"), title=f"{direction}, reference cycles per packet")
    for name, value in cycles["stages"].items():
        drawn.add_row(name, f"{value:.1f}")
    drawn.add_row("all stages", f"{cycles['total']:.1f}")
    drawn.add_row("of which reading the clock", f"{cycles.get('accounting', 0.0):.1f}")
    return drawn


def sent_gbps(part: Json) -> float:
    seconds: float = part["sent_seconds"]
    return part["sent_bytes"] * 8e-9 / seconds if seconds > 0 else 0.0


# Share of the requested rate that must be sent.
ENOUGH_OF_RATE = 0.95


def keeps_rate(part: Json) -> bool:
    """Whether the requested rate was sent; True for the rate `max`."""
    requested = part["asked_gbps"]
    return requested is None or sent_gbps(part) >= ENOUGH_OF_RATE * requested


def requested_rate(part: Json) -> str:
    return "max" if part["asked_gbps"] is None else groups.rate(part["asked_gbps"])


def latency_rows(drawn: Table, title: str, latencies: list[Json | None]) -> None:
    """Adds rows of latency percentiles, one column per direction."""
    measured = next((latency for latency in latencies if latency is not None), {})
    for key in measured:
        if key != "histogram":
            texts = (f"{latency[key]:,.0f} us" if latency else "" for latency in latencies)
            drawn.add_row(f"{title} {key}", *texts)


def counts_of(parts: list[Json]) -> list[str]:
    """The keys of the counts to show."""
    return [*COUNTS, *(key for key in EXCEPTIONS if any(part.get(key, 0) for part in parts))]


def drops_of(parts: list[Json]) -> dict[str, list[int]]:
    """Row titles and drops per direction: expected drops together, others by reason."""
    texts = {"dropped as expected": [refusals.refused(part).total() for part in parts]}
    others = [refusals.other_drops(part) for part in parts]
    reasons = sum(others, Counter[str]())
    return texts | {f"dropped: {reason}": [one[reason] for one in others] for reason in reasons}


def packets_table(summary: Json) -> Table:
    """The table of packets, drops, rates and latencies, with one column per direction."""
    shown = directions(summary)
    parts = [summary[direction] for direction in shown]
    drawn = figures_table(("", *shown), title="packets")
    for key in counts_of(parts):
        drawn.add_row(key, *(f"{part.get(key, 0):,}" for part in parts))
    for title, counts in drops_of(parts).items():
        if any(counts):
            drawn.add_row(title, *(f"{count:,}" if count else "" for count in counts))
    drawn.add_row("requested rate", *map(requested_rate, parts))
    drawn.add_row("sent rate", *(groups.rate(sent_gbps(part)) for part in parts))
    drawn.add_row("throughput", *(groups.rate(part["gbps"]) for part in parts))
    for title, key in (("latency", "latency_us"), ("in the pipeline", "pipeline_latency_us")):
        latency_rows(drawn, title, [part.get(key) for part in parts])
    return drawn


def units_table(units: Json) -> Table:
    """The table of upstream units: packets, bursts, segments, frames."""
    keys = ("in", "out", "dropped", "held")
    drawn = figures_table(("", *keys), title="upstream in units")
    for name, unit in units.items():
        drawn.add_row(name, *(f"{unit[key]:,}" for key in keys))
    return drawn


def utilisation_lines(channels: list[Json], seconds: float) -> list[str]:
    """Lines with the utilisation of channels, one per channel rate."""
    lines = []
    for bits in dict.fromkeys(channel["rate"] for channel in channels):
        alike = [channel for channel in channels if channel["rate"] == bits]
        shares = [channel["bytes"] * 8 / (bits * seconds) for channel in alike]
        low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
        texts = low if low == high else f"{low} to {high}"
        noun = "channel" if len(alike) == 1 else "channels"
        lines.append(f"{len(alike)} {noun} of {groups.rate(bits / 1e9)}: {texts} full")
    return lines


def skew_line(bonding_groups: list[Json]) -> str:
    """A line with the skew between bonded channels."""
    bonded = [group for group in bonding_groups if group["channels"] > 1 and group["packets"]]
    packets = sum(group["packets"] for group in bonded)
    if not packets:
        return "no packets on bonded channels"
    early = sum(group["early_share"] * group["packets"] for group in bonded) / packets
    mean = sum(group["mean_skew_us"] * group["packets"] for group in bonded) / packets
    most = max(group["max_skew_us"] for group in bonded)
    return (
        f"skew of bonded channels: {early:.0%} of the packets wait for earlier ones, "
        f"mean of all {mean:.0f} us, maximum {most:.0f} us"
    )


def requests_line(requests: Json) -> str:
    """A line with the bandwidth requests by kind."""
    kinds = {kind: count for kind, count in requests["by_kind"].items() if count}
    texts = ", ".join(f"{count:,} by {kind}" for kind, count in kinds.items()) or "none"
    modems = requests["modems"]
    return f"bandwidth requests: {texts}, of {modems:,} {'modem' if modems == 1 else 'modems'}"


def skipped_numbers(part: Json) -> int:
    """Skipped sequence numbers of DSIDs: modems wait 18 ms for each."""
    return int(part.get("resequencing", {}).get("skipped", 0))


def decoder_errors(part: Json) -> int:
    return int(part.get("witness", {}).get("wrong", 0))


def late_packets(part: Json) -> int:
    return int(part.get("late") or 0)


def kinds_wrong(part: Json, key: str) -> int:
    return sum(part.get(key, {}).values())


def show(summary: Json, console: Console) -> None:
    """Prints all tables."""
    for direction in directions(summary):
        console.print(cycles_table(direction, summary[direction]))
    host = summary["host"]
    print(f"TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz")
    if "scheduler" in summary.get("downstream", {}):
        scheduler, seconds = summary["downstream"]["scheduler"], summary["downstream"]["seconds"]
        console.print(delay_table(scheduler["delay"]))
        for line in utilisation_lines(scheduler["channels"], max(seconds, 1e-3)):
            print_wrapped(line)
        print_wrapped(skew_line(scheduler["bonding_groups"]))
    if "units" in summary.get("upstream", {}):
        console.print(units_table(summary["upstream"]["units"]))
    if "requests" in summary.get("upstream", {}):
        print_wrapped(requests_line(summary["upstream"]["requests"]))
    if "grants" in summary.get("upstream", {}):
        for line in grants.result_lines(summary["upstream"]):
            print_wrapped(line)
    console.print(packets_table(summary))
    if len(summary.get("groups", [])) > 1:
        groups.print_groups(summary["groups"], console)
    if expected.impaired(summary):
        expected.show(summary, console)
