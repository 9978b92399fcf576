# SPDX-License-Identifier: BSD-3-Clause
"""The service groups of a run, each beside all of them together."""

from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.directions import DIRECTIONS

Json = dict[str, Any]


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


def dropped(part: Json) -> int:
    return int(sum(part.get("drops", {}).values()))


def show(groups: list[Json], console: Console) -> None:
    """A line a group."""
    drawn = Table(title="service groups", title_justify="left")
    drawn.add_column("group", justify="right")
    drawn.add_column("name")
    shown = [way for way in DIRECTIONS if any(way in group for group in groups)]
    keys = ("sent", "not proven", "dropped", "Gbps")
    for direction in shown:
        for key in keys:
            drawn.add_column(f"{direction}\n{key}", justify="right")
    for group in groups:
        told = []
        for direction in shown:
            part = group.get(direction)
            told += (
                [
                    f"{part['sent']:,}",
                    f"{not_proven(part):,}",
                    f"{dropped(part):,}",
                    f"{part['gbps']:.3f}",
                ]
                if part is not None
                else [""] * len(keys)
            )
        drawn.add_row(str(group["id"]), group["name"], *told)
    console.print(drawn)
