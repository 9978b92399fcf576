# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench: measure. `pipeline` prints the cycles of a packet, stage by stage."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts import configuration
from vcmts.child import folder, start, stoppable, writable
from vcmts.paths import program

INTERRUPTED = 130
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
    parser.add_argument("what", choices=["pipeline"], help="what to measure")
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
    parser.add_argument("--runs", type=int, default=5, help="of each mix (default: %(default)s)")
    parser.add_argument(
        "--milliseconds", type=int, default=900, help="of a run (default: %(default)s)"
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        default="bench-pipeline.json",
        help="where the figures are stored (default: %(default)s)",
    )


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
    host = report["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    for direction in DIRECTIONS:
        results = [r for r in report["results"] if r["direction"] == direction]
        if results:
            title = f"{direction}, {report['configuration']}, reference cycles a packet"
            # a title of the table would be broken where its columns end
            console.print(title, soft_wrap=True, markup=False, highlight=False)
            console.print(table(results))
    console.print(
        f"{host['cpu']}: TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz "
        f"({ratio:.2f} core cycles a reference cycle), "
        f"{'huge' if host['huge_pages'] else 'ordinary'} pages, "
        f"median of {report['results'][0]['runs']} runs"
    )


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
        command += ["--json", arguments.json]
        status = stopped.wait(start(command))
    if stopped.asked:
        return INTERRUPTED
    if status != 0:
        return status
    report = json.loads(Path(arguments.json).read_text(encoding="utf-8"))
    show(report, Console(file=sys.stdout))
    print(f"every value: {arguments.json}")
    return 0
