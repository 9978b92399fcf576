# SPDX-License-Identifier: BSD-3-Clause
"""The service groups of a run, each beside all of them together."""

from rich.console import Console
from rich.table import Table

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json


def of_facts(facts: Json) -> list[Json]:
    """What `vcmtsd check --json` says of each group; of a file of one group it is all."""
    groups: list[Json] = facts.get("groups", [facts])
    return groups


def largest_mtu(facts: Json) -> int:
    return max(int(group["mtu"]) for group in of_facts(facts))


def pairs(plane: Json, proven: Json) -> list[tuple[Json, Json]]:
    """Each group as the traffic tells of it, and as the data plane does. What tells of no groups
    has one."""
    told: list[Json] = proven.get("groups", [])
    served = {group["id"]: group for group in plane.get("groups", [])}
    alone = plane if len(told) == 1 else {}
    return [(group, served.get(group["id"], alone)) for group in told]


def directions(group: Json) -> list[str]:
    return [direction for direction in DIRECTIONS if direction in group]


def not_proven(part: Json) -> int:
    return int(part["sent"] - part["proven"])


def rate(gbps: float) -> str:
    return f"{gbps:.2f} Gbps" if gbps >= 0.1 else f"{gbps * 1000:.2f} Mbps"


def cells(part: Json | None) -> list[str]:
    """Of a direction; None where the group sent nothing in it."""
    if part is None:
        return ["", "", ""]
    return [f"{part['sent']:,}", f"{not_proven(part):,}", rate(part["gbps"])]


def show(groups: list[Json], console: Console) -> None:
    """A line a group. Where the terminal is narrow, names are cut short and numbers are not."""
    drawn = Table(title="service groups", title_justify="left", padding=(0, 0, 0, 1))
    drawn.add_column("group", justify="right", no_wrap=True)
    drawn.add_column("name", overflow="ellipsis")
    shown = [way for way in DIRECTIONS if any(way in group for group in groups)]
    for direction in shown:
        for key in (direction, "unproven", "rate"):
            drawn.add_column(key, justify="right", no_wrap=True)
    for group in groups:
        told = [cell for direction in shown for cell in cells(group.get(direction))]
        drawn.add_row(str(group["id"]), group["name"], *told)
    console.print(drawn)
