# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench pipeline: measures the cycles per packet of each stage."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from vcmts import configuration, watch
from vcmts.bench import common as bench_common
from vcmts.bench import fit
from vcmts.child import Stopped, stoppable, temporary_folder
from vcmts.console import figures_table, out_console, print_line
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.progress import progress
from vcmts.results import Measurement, now

THREADS = {"1": (1,), "2": (2,), "both": (1, 2)}
FIGURES = (
    ("all stages", "cycles_per_packet", "{:.0f}"),
    ("  smallest run", "min", "{:.0f}"),
    ("  largest run", "max", "{:.0f}"),
    ("without accounting", "cycles_without_accounting", "{:.0f}"),
    ("measuring latency adds", "cycles_latency", "{:.0f}"),
    ("core cycles", "core_cycles_per_packet", "{:.0f}"),
    ("Gbps per core", "gbps_per_core", "{:.1f}"),
    ("crypto alone", "crypto_bound_cycles", "{:.0f}"),
    ("share of crypto bound", "share_of_crypto_bound", "{:.2f}"),
)
PAIR = (
    ("upper MAC, own core", "upper_mac", "{:.0f}"),
    ("lower MAC, own core", "lower_mac", "{:.0f}"),
    ("Gbps of the pair", "gbps", "{:.1f}"),
    ("  per core", "gbps_per_core", "{:.1f}"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    configuration.add_arguments(parser)
    parser.add_argument(
        "--direction",
        choices=[*DIRECTIONS, "both"],
        default="both",
        help="direction to measure (default: %(default)s)",
    )
    parser.add_argument(
        "--mix",
        action="append",
        default=[],
        help="packet mix: imix, upstream-imix, a size, or 84:15,256:10,1280:75; may be repeated "
        "(default: the published mix of each direction, and sizes)",
    )
    parser.add_argument(
        "--threads",
        choices=THREADS,
        default="1",
        help="1: all on one core; 2: upper and lower MAC of the downstream on two cores at once "
        "(default: %(default)s)",
    )
    bench_common.add_arguments(parser, milliseconds=900, stored="bench-pipeline.json")


def table(results: list[Json]) -> Table:
    """The table of a direction, with one column per mix and one row per stage."""
    out = Table()
    out.add_column("stage", no_wrap=True)
    for result in results:
        out.add_column(result["mix"].replace("upstream-", "upstream-\n"), justify="right")
    for stage in results[0]["stages"]:
        out.add_row(stage, *[f"{r['stages'][stage]:.0f}" for r in results])
    out.add_section()
    paired = "pair" in results[0]
    for name, key, text in FIGURES:
        if not (paired and key == "gbps_per_core"):
            out.add_row(name, *[text.format(r[key]) for r in results])
    if paired:
        out.add_section()
        for name, key, text in PAIR:
            out.add_row(name, *[text.format(r["pair"][key]) for r in results])
    return out


def fits(results: list[Json]) -> Iterator[Json]:
    """Fits the cycles of each stage over packet size: cycles per packet and per byte."""
    sized = [r for r in results if r["mix"].isdigit()]
    ways = dict.fromkeys((r["direction"], r.get("threads", 1)) for r in sized)
    for direction, threads in ways:
        of = [r for r in sized if (r["direction"], r.get("threads", 1)) == (direction, threads)]
        for stage in (*of[0]["stages"], "all"):
            found = fit.line(
                (r["mean_bytes"], r["cycles_per_packet"] if stage == "all" else r["stages"][stage])
                for r in of
            )
            if found is not None:
                yield {
                    "direction": direction,
                    "threads": threads,
                    "stage": stage,
                    "fixed": found.fixed,
                    "per_byte": found.slope,
                    "r2": found.r2,
                    "points": found.points,
                }


def fit_table(found: list[Json]) -> Table:
    out = figures_table(("stage", "per packet", "per byte", "R2"), no_wrap=True)
    for one in found:
        if one["stage"] == "all":
            out.add_section()
        out.add_row(
            "all stages" if one["stage"] == "all" else one["stage"],
            f"{one['fixed']:.1f}",
            f"{one['per_byte']:.4f}",
            f"{one['r2']:.2f}",
        )
    return out


def show(report: Json, console: Console) -> None:
    """Prints the tables of each direction, and the machine."""
    ways = [(direction, threads) for direction in DIRECTIONS for threads in (1, 2)]
    for direction, threads in ways:
        results = [
            r
            for r in report["results"]
            if (r["direction"], r.get("threads", 1)) == (direction, threads)
        ]
        if not results:
            continue
        ending = ", two concurrent threads" if threads == 2 else ""
        title = f"{direction}, {report['configuration']}{ending}, reference cycles"
        print_line(console, f"{title} per packet")
        console.print(table(results))
        lines = list(fits(results))
        if lines:
            sizes = f"{lines[0]['points']} sizes"
            print_line(console, f"{title}, linear fit of {sizes} (Theil-Sen)")
            console.print(fit_table(lines))
    console.print(bench_common.machine_line(report))


def check_mix(mix: str, config: Path) -> int:
    """Checks a mix with vcmts-traffic, and prints its errors. Returns its exit status."""
    command = [str(program("vcmts-traffic")), "--check", "--config", str(config), "--mix", mix]
    command += ["--network", "net_null0", "--rphy", "net_null1"]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    print(done.stderr.replace("vcmts-traffic: ", "vcmts: "), end="", file=sys.stderr)
    return done.returncode


def thread_counts(arguments: argparse.Namespace) -> tuple[int, ...]:
    """The numbers of threads to measure. Raises MistakeError if there are too few cores; `both`
    then only prints a message and measures one thread."""
    requested = THREADS[arguments.threads]
    if 2 not in requested:
        return requested
    if arguments.direction == "upstream":
        raise MistakeError(
            f"--threads {arguments.threads}: not allowed with --direction upstream, which has "
            "one thread; choose --direction downstream, or --threads 1"
        )
    cores = len(os.sched_getaffinity(0))
    if cores >= 2:
        return requested
    text = f"--threads {arguments.threads}: found {cores} usable core, needed: 2"
    if requested == (2,):
        raise MistakeError(f"{text}; choose --threads 1")
    notify(f"{text}; measuring only --threads 1")
    return (1,)


def command_of(arguments: argparse.Namespace, config: Path, threads: int) -> list[str]:
    command = [str(program("vcmts-bench")), "--config", str(config), "--threads", str(threads)]
    command += ["--runs", str(arguments.runs), "--milliseconds", str(arguments.milliseconds)]
    command += ["--direction", "downstream" if threads == 2 else arguments.direction]
    for mix in arguments.mix:
        command += ["--mix", mix]
    return command


def measure(
    arguments: argparse.Namespace, config: Path, folder: Path, stopped: Stopped
) -> tuple[int, Measurement | None]:
    """Measures each number of threads. Returns the exit status, and the results; None: none."""
    measurement: Measurement | None = None
    started = now()
    for threads in thread_counts(arguments):
        with progress(f"bench pipeline, {threads} thread{'s' * (threads - 1)}", 1) as shown:
            status, report = bench_common.run_benchmark(
                command_of(arguments, config, threads), folder, watch.whole_progress(shown), stopped
            )
        if report is not None:
            if measurement is None:
                measurement = Measurement(
                    kind="pipeline",
                    command=bench_common.command_line(),
                    configuration=report["configuration"],
                    host=report["host"],
                    more={key: report[key] for key in ("memory", "start")},
                    started=started,
                )
            measurement.results += report["results"]
        if status != 0 or stopped.by_signal:
            break
    return status, measurement


def main(arguments: argparse.Namespace) -> int:
    bench_common.check_options(arguments)
    with temporary_folder() as folder, stoppable() as stopped:
        config = configuration.configuration_file(arguments, folder)
        for mix in arguments.mix:
            status = check_mix(mix, config)
            if status != 0:
                return status
        status, measurement = measure(arguments, config, folder, stopped)
        if measurement is None:
            return bench_common.no_results(stopped, status)
        measurement.more["fits"] = list(fits(measurement.results))
        show(measurement.as_json(), out_console())
        return bench_common.store(measurement, arguments.json, stopped, status)
