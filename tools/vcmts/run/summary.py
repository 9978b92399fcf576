# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run: what two programs say of it, as one document and on the terminal."""

from collections import Counter
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from vcmts.console import figures_table
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.run import expected, grants, groups, refusals

# What the data plane says of a direction, beside what the traffic proved.
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
# And of itself.
PROCESS = ("workers", "power", "ports", "shared_ports", "removed_groups", "measured", "host")
COUNTS = ("sent", "proven", "lost", "duplicated", "reordered", "corrupted")
# These are shown where they are not 0.
EXCEPTIONS = ("undecipherable", "overtaken", "unaccounted")
# What was not lost, and yet did not come as it has to.
ASTRAY = {
    "reordered": "out of order",
    "duplicated": "twice",
    "undecipherable": "undecipherable",
    "unaccounted": "unaccounted for",
    "unexpected_frames": "that nobody asked for",
}


def with_plane(sent: Json, served: Json) -> Json:
    """A direction as the traffic tells of it, and what the data plane adds."""
    whole = dict(sent)
    for key in PLANE:
        if key in served:
            if key in whole:
                whole[f"{key}_sent"] = whole[key]
            whole[key] = served[key]
    return whole


def merge(plane: Json, proven: Json, asked: dict[str, float | None]) -> Json:
    """One summary: what was asked for (Gbps, None: as much as goes), what the traffic proved, and
    what it cost the data plane. Where both have a key, the traffic's is what was sent."""
    whole: Json = dict(proven)
    for direction in directions(proven):
        sent = proven[direction] | {"asked_gbps": asked[direction]}
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
    """Those in which something was sent."""
    return [direction for direction in DIRECTIONS if direction in summary]


def unaccounted(summary: Json) -> bool:
    """Whether what was sent is not the sum of what became of it, of any group in any direction."""
    return any(
        part[direction].get("unaccounted", 0) != 0
        for part in (summary, *summary.get("groups", []))
        for direction in directions(part)
    )


def balanced(summary: Json) -> bool:
    """In all directions, of all service groups together and of each."""
    return all(
        part[direction].get("balanced", False)
        for part in (summary, *summary.get("groups", []))
        for direction in directions(part)
    )


def silent(summary: Json) -> list[tuple[int, str]]:
    """Service groups, by their IDs, and directions in which nothing of them was sent."""
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


# Below this share of the rate asked for, the machine did not carry it.
ENOUGH_OF_RATE = 0.95


def keeps_rate(part: Json) -> bool:
    """Whether so much was sent as was asked for; where nothing was, `max`, it is."""
    asked = part["asked_gbps"]
    return asked is None or sent_gbps(part) >= ENOUGH_OF_RATE * asked


def asked_for(part: Json) -> str:
    return "max" if part["asked_gbps"] is None else groups.rate(part["asked_gbps"])


def latency_rows(drawn: Table, title: str, latencies: list[Json | None]) -> None:
    """A row a percentile of what was measured, a column a direction."""
    measured = next((latency for latency in latencies if latency is not None), {})
    for key in measured:
        if key != "histogram":
            told = (f"{latency[key]:,.0f} us" if latency else "" for latency in latencies)
            drawn.add_row(f"{title} {key}", *told)


def counts_of(parts: list[Json]) -> list[str]:
    """Those that a table shows."""
    return [*COUNTS, *(key for key in EXCEPTIONS if any(part.get(key, 0) for part in parts))]


def drops_of(parts: list[Json]) -> dict[str, list[int]]:
    """Those that have to be, and the others by reason; of each direction."""
    told = {"dropped, as they have to be": [refusals.refused(part).total() for part in parts]}
    others = [refusals.accidental(part) for part in parts]
    reasons = sum(others, Counter[str]())
    return told | {f"dropped: {reason}": [one[reason] for one in others] for reason in reasons}


def packets_table(summary: Json) -> Table:
    """A column a direction; a reason for drops is shown where it was met."""
    shown = directions(summary)
    parts = [summary[direction] for direction in shown]
    drawn = figures_table(("", *shown), title="packets")
    for key in counts_of(parts):
        drawn.add_row(key, *(f"{part.get(key, 0):,}" for part in parts))
    for title, counts in drops_of(parts).items():
        if any(counts):
            drawn.add_row(title, *(f"{count:,}" if count else "" for count in counts))
    drawn.add_row("asked for", *map(asked_for, parts))
    drawn.add_row("sent at", *(groups.rate(sent_gbps(part)) for part in parts))
    drawn.add_row("throughput", *(groups.rate(part["gbps"]) for part in parts))
    for title, key in (("latency", "latency_us"), ("in the pipeline", "pipeline_latency_us")):
        latency_rows(drawn, title, [part.get(key) for part in parts])
    return drawn


def units_table(units: Json) -> Table:
    """What the upstream was made of."""
    keys = ("in", "out", "dropped", "held")
    drawn = figures_table(("", *keys), title="upstream in units")
    for name, unit in units.items():
        drawn.add_row(name, *(f"{unit[key]:,}" for key in keys))
    return drawn


def delay_table(delays: list[Json]) -> Table:
    """How long packets waited in the downstream's queues."""
    keys = ("mean", "p50", "p99", "p99_9")
    drawn = figures_table(("priority", "packets", *keys), title="delay in the scheduler, us")
    for delay in delays:
        told = (f"{delay[f'{key}_us']:,.0f}" for key in keys)
        drawn.add_row(str(delay["priority"]), f"{delay['packets']:,}", *told)
    return drawn


def fill(channels: list[Json], seconds: float) -> list[str]:
    """How much of their rate channels carried while packets came, a line a rate."""
    lines = []
    for bits in dict.fromkeys(channel["rate"] for channel in channels):
        alike = [channel for channel in channels if channel["rate"] == bits]
        shares = [channel["bytes"] * 8 / (bits * seconds) for channel in alike]
        low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
        told = low if low == high else f"{low} to {high}"
        noun = "channel" if len(alike) == 1 else "channels"
        lines.append(f"{len(alike)} {noun} of {groups.rate(bits / 1e9)}: {told} full")
    return lines


def skew(bonding_groups: list[Json]) -> str:
    """What the order of bonded flows cost, in a line."""
    bonded = [group for group in bonding_groups if group["channels"] > 1 and group["packets"]]
    packets = sum(group["packets"] for group in bonded)
    if not packets:
        return "no packets on bonded channels"
    early = sum(group["early_share"] * group["packets"] for group in bonded) / packets
    mean = sum(group["mean_skew_us"] * group["packets"] for group in bonded) / packets
    most = max(group["max_skew_us"] for group in bonded)
    return (
        f"skew of bonded channels: {early:.0%} of the packets wait for others, "
        f"all in the mean {mean:.0f} us, at most {most:.0f} us"
    )


def asked(requests: Json) -> str:
    """What became of bandwidth requests, in a line."""
    kinds = {kind: count for kind, count in requests["by_kind"].items() if count}
    told = ", ".join(f"{count:,} by {kind}" for kind, count in kinds.items()) or "none"
    modems = requests["modems"]
    return f"bandwidth requests: {told}, of {modems:,} {'modem' if modems == 1 else 'modems'}"


def cost(part: Json) -> int:
    """Packets that --impair has to have cost."""
    due = part.get("expected", {"lost": 0, "corrupted": 0})
    return int(due["lost"] + due["corrupted"])


def overtaken(part: Json) -> int:
    """Packets that a change overtook: of modems, rules or flows that the data plane had no more, or
    otherwise, by then."""
    return int(part.get("overtaken", 0))


def spared(parts: list[Json]) -> str:
    """What need not be proven, and why."""
    impaired = sum(cost(part) for part in parts)
    told = f" but {impaired:,} that --impair cost" if impaired else ""
    gone = sum(overtaken(part) for part in parts)
    return told + (f" but {gone:,} that changes of the configuration overtook" if gone else "")


def skipped(part: Json) -> int:
    """Numbers of DSIDs that no packet had: modems wait 18 ms for each."""
    return int(part.get("resequencing", {}).get("skipped", 0))


def misread(part: Json) -> int:
    return int(part.get("witness", {}).get("wrong", 0))


def late(part: Json) -> int:
    return int(part.get("late") or 0)


def kinds_wrong(part: Json, key: str) -> int:
    return sum(part.get(key, {}).values())


# Faults that the traffic program does not judge itself: how many there are in a direction.
JUDGED: dict[str, Callable[[Json], int]] = {
    "drops too few or too many": lambda part: int(part.get("refused_wrong", 0)),
    "faults found by the independent decoder": misread,
    "late without a reason": late,
    "rates, priorities or weights not kept": lambda part: kinds_wrong(part, "qos_wrong"),
    "faults of MAPs and requests": lambda part: kinds_wrong(part, "access_wrong"),
}


def misjudged(summary: Json) -> bool:
    """Whether there is one of these."""
    return any(of(summary[way]) for of in JUDGED.values() for way in directions(summary))


def astray(parts: list[Json]) -> list[str]:
    """What came and should not have come so."""
    counts = {title: sum(part.get(key, 0) for part in parts) for key, title in ASTRAY.items()}
    counts["violations of DEPI"] = sum(kinds_wrong(part, "depi_violations") for part in parts)
    counts["numbers of DSIDs skipped"] = sum(map(skipped, parts))
    counts |= {title: sum(map(of, parts)) for title, of in JUDGED.items()}
    return [f"{count:,} {title}" for title, count in counts.items() if count]


def faults(summary: Json) -> list[str]:
    """What was not as it has to be, beside packets that are missing."""
    wrong = astray([summary[direction] for direction in directions(summary)])
    if broken := summary.get("identities_broken"):
        wrong.append(f"{len(broken):,} sums of counters that differ")
    return wrong


def is_proven(summary: Json) -> bool:
    """Whether every packet was proven that --impair and changes of the configuration spared."""
    parts = (summary[direction] for direction in directions(summary))
    came = all(part["proven"] + cost(part) + overtaken(part) == part["sent"] for part in parts)
    return came and not faults(summary)


def verdict(summary: Json) -> str:
    parts = [summary[direction] for direction in directions(summary)]
    told = [
        f"{part['proven']:,} of {part['sent']:,} {direction} at {part['gbps']:.2f} Gbps"
        for direction, part in zip(directions(summary), parts, strict=True)
    ]
    lost, seconds = sum(part["lost"] for part in parts), max(part["seconds"] for part in parts)
    several = summary.get("groups", [])
    of = f" of {len(several)} service groups" if len(several) > 1 else ""
    proven = "every packet" if is_proven(summary) else "NOT every packet"
    return (
        f"{proven}{of} proven{spared(parts)}: "
        f"{', '.join([*told, f'{lost:,} lost', *faults(summary)])}, in {seconds:.1f} s"
    )


def paused(times: Json) -> str:
    """Of a worker's time, where it pauses at all."""
    whole = times["busy"] + times["idle"]
    if times["kind"] == "poll" or whole <= 0:
        return ""
    return f", {times['paused'] / whole:.0%} paused ({times['kind']})"


def busy(summary: Json, cores: list[int]) -> list[str]:
    """How busy the workers of vcmtsd were, a line each; `cores` are theirs, in their order."""
    pauses = summary["power"]["workers"]
    return [
        f"core {core} ({worker['name']}): {worker['busy_share']:.0%} busy{paused(times)}"
        for core, worker, times in zip(cores, summary["workers"], pauses, strict=True)
    ]


def in_a_line(direction: str, part: Json) -> str:
    """What became of a direction's packets, how fast, and what they cost."""
    cycles = part.get("cycles_per_packet", {}).get("total", 0.0)
    delay = part.get("latency_us")
    late = f", latency {delay['mean']:,.0f} us (99.9%: {delay['p99_9']:,.0f} us)" if delay else ""
    return (
        f"{direction + ':':<11} {groups.rate(part['gbps'])} of {asked_for(part)} asked for, "
        f"{cycles:,.0f} reference cycles per packet{late}"
    )


def show_short(summary: Json, console: Console, cores: list[int]) -> None:
    """What matters of a run, and the packets of one that went wrong."""
    if not is_proven(summary):
        console.print(packets_table(summary))
    if expected.impaired(summary) and not expected.as_expected(summary):
        expected.show(summary, console)
    for direction in directions(summary):
        print(in_a_line(direction, summary[direction]))
    for told in busy(summary, cores):
        print(told)
    print("all figures: --verbose prints them, --json FILE writes them")
    print(verdict(summary), flush=True)


def show(summary: Json, console: Console, cores: list[int]) -> None:
    """All figures, and the verdict."""
    for direction in directions(summary):
        console.print(cycles_table(direction, summary[direction]))
    host = summary["host"]
    print(f"TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz")
    if "scheduler" in summary.get("downstream", {}):
        scheduler, seconds = summary["downstream"]["scheduler"], summary["downstream"]["seconds"]
        console.print(delay_table(scheduler["delay"]))
        for line in fill(scheduler["channels"], max(seconds, 1e-3)):
            print(line)
        print(skew(scheduler["bonding_groups"]))
    if "units" in summary.get("upstream", {}):
        console.print(units_table(summary["upstream"]["units"]))
    if "requests" in summary.get("upstream", {}):
        print(asked(summary["upstream"]["requests"]))
    if "grants" in summary.get("upstream", {}):
        for line in grants.lines(summary["upstream"]):
            print(line)
    console.print(packets_table(summary))
    if len(summary.get("groups", [])) > 1:
        groups.show(summary["groups"], console)
    if expected.impaired(summary):
        expected.show(summary, console)
    for line in busy(summary, cores):
        print(line)
    print(verdict(summary), flush=True)
