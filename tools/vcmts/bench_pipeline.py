# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench pipeline: the cycles of a packet, stage by stage."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts import bench_common, configuration
from vcmts.child import folder, stoppable, writable
from vcmts.paths import program

DIRECTIONS = ("downstream", "upstream")
FIGURES = (
    ("all stages", "cycles_per_packet", "{:.0f}"),
    ("  smallest run", "min", "{:.0f}"),
    ("  largest run", "max", "{:.0f}"),
    ("without accounting", "cycles_without_accounting", "{:.0f}"),
    ("core cycles", "core_cycles_per_packet", "{:.0f}"),
    ("Gbps a core", "gbps_per_core", "{:.1f}"),
    ("crypto alone", "crypto_bound_cycles", "{:.0f}"),
    ("share of crypto bound", "share_of_crypto_bound", "{:.2f}"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    configuration.add_arguments(parser)
    parser.add_argument(
        "--direction",
        choices=[*DIRECTIONS, "both"],
        default="both",
        help="which way to measure (default: %(default)s)",
    )
    parser.add_argument(
        "--mix",
        action="append",
        default=[],
        help="imix, upstream-imix, a size, or 84:15,256:10,1280:75; may be repeated "
        "(default: the published mix of each direction, and sizes)",
    )
    bench_common.add_arguments(parser, milliseconds=900, stored="bench-pipeline.json")


def table(results: list[dict[str, Any]]) -> Table:
    """A column a mix, a row a stage."""
    out = Table()
    out.add_column("stage")
    for result in results:
        out.add_column(result["mix"], justify="right")
    for stage in results[0]["stages"]:
        out.add_row(stage, *[f"{r['stages'][stage]:.0f}" for r in results])
    out.add_section()
    for name, key, text in FIGURES:
        out.add_row(name, *[text.format(r[key]) for r in results])
    return out


def show(report: dict[str, Any], console: Console) -> None:
    """A table a direction, and below them what it was measured on."""
    for direction in DIRECTIONS:
        results = [r for r in report["results"] if r["direction"] == direction]
        if results:
            title = f"{direction}, {report['configuration']}, reference cycles a packet"
            # a title of the table would be broken where its columns end
            console.print(title, soft_wrap=True, markup=False, highlight=False)
            console.print(table(results))
    console.print(bench_common.machine(report))


def mistaken(mix: str, config: Path) -> int:
    """Whether a mix is none, or not for this configuration; the program that reads it says why.
    Returns its exit status, 0 for no mistake."""
    command = [str(program("vcmts-traffic")), "--check", "--config", str(config), "--mix", mix]
    command += ["--network", "net_null0", "--rphy", "net_null1"]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    print(done.stderr.replace("vcmts-traffic: ", "vcmts: "), end="", file=sys.stderr)
    return done.returncode


def main(arguments: argparse.Namespace) -> int:
    writable(arguments.json)
    with folder() as place, stoppable() as stopped:
        config = configuration.chosen(arguments, place)
        for mix in arguments.mix:
            status = mistaken(mix, config)
            if status != 0:
                return status
        command = [str(program("vcmts-bench")), "--config", str(config)]
        command += ["--runs", str(arguments.runs), "--milliseconds", str(arguments.milliseconds)]
        command += ["--direction", arguments.direction]
        for mix in arguments.mix:
            command += ["--mix", mix]
        report = bench_common.measured(command, arguments.json, stopped)
    if isinstance(report, int):
        return report
    show(report, Console(file=sys.stdout))
    print(f"every value: {arguments.json}")
    return 0
