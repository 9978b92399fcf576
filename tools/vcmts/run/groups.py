# SPDX-License-Identifier: BSD-3-Clause
"""The results of a run per service group."""

from rich.console import Console
from rich.table import Table

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json


def group_facts(facts: Json) -> list[Json]:
    """The facts of each group of `vcmtsd check --json`; of a single group they are not nested."""
    groups: list[Json] = facts.get("groups", [facts])
    return groups


def largest_mtu(facts: Json) -> int:
    return max(int(group["mtu"]) for group in group_facts(facts))


def pairs(plane: Json, proven: Json) -> list[tuple[Json, Json]]:
    """The results of each group, of both programs."""
    reported: list[Json] = proven.get("groups", [])
    served = {group["id"]: group for group in plane.get("groups", [])}
    alone = plane if len(reported) == 1 else {}
    return [(group, served.get(group["id"], alone)) for group in reported]


def directions(group: Json) -> list[str]:
    return [direction for direction in DIRECTIONS if direction in group]


def not_proven(part: Json) -> int:
    return int(part["sent"] - part["proven"])


def rate(gbps: float) -> str:
    return f"{gbps:,.2f} Gbps" if gbps >= 0.1 else f"{gbps * 1000:.2f} Mbps"


def cells(part: Json | None) -> list[str]:
    """The table cells of a direction; None: the group did not use it."""
    if part is None:
        return ["", "", ""]
    return [f"{part['sent']:,}", f"{not_proven(part):,}", rate(part["gbps"])]


def print_groups(groups: list[Json], console: Console) -> None:
    """Prints a table with one row per group. On a narrow terminal only names are truncated."""
    drawn = Table(title="service groups", title_justify="left", padding=(0, 0, 0, 1))
    drawn.add_column("group", justify="right", no_wrap=True)
    drawn.add_column("name", overflow="ellipsis")
    shown = [way for way in DIRECTIONS if any(way in group for group in groups)]
    for direction in shown:
        for key in (direction, "unproven", "rate"):
            drawn.add_column(key, justify="right", no_wrap=True)
    for group in groups:
        reported = [cell for direction in shown for cell in cells(group.get(direction))]
        drawn.add_row(str(group["id"]), group["name"], *reported)
    console.print(drawn)
