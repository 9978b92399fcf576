# SPDX-License-Identifier: BSD-3-Clause
"""Prints stages and drop reasons from `vcmtsd describe`, for `vcmts capture --list`."""

import json
import subprocess

from rich.table import Table

from vcmts.console import wide_console
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import program

NO_PACKETS = ("upstream scheduler", "upstream grants")  # stage lists without packets
NO_BURST = ("expire",)  # stages without input and output


def describe() -> Json:
    done = subprocess.run([program("vcmtsd"), "describe"], check=True, capture_output=True)
    found: Json = json.loads(done.stdout)
    return found


def stages(direction: Json) -> list[Json]:
    lists = (one for one in direction["lists"] if one["name"] not in NO_PACKETS)
    found = [stage for one in lists for stage in one["stages"]]
    return [stage for stage in found if stage["name"] not in NO_BURST]


def show() -> None:
    status, console = describe(), wide_console()
    for name in DIRECTIONS:
        drawn = Table("stage", "does", title=f"{name}: --stage", title_justify="left")
        for stage in stages(status[name]):
            drawn.add_row(stage["name"], stage["about"])
        console.print(drawn)
    for name in (*DIRECTIONS, "shared_port"):
        drawn = Table("reason", "means", title=f"{name}: --dropped", title_justify="left")
        for reason, drop in status[name]["drops"].items():
            drawn.add_row(reason, drop["meaning"])
        console.print(drawn)
