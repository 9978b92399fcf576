# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench scheduler: measures the downstream scheduler, and DPDK's rte_sched beside it."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from vcmts import watch
from vcmts.bench import common as bench_common
from vcmts.bench import goals_list
from vcmts.child import stoppable, temporary_folder
from vcmts.console import figures_table, out_console, print_line
from vcmts.jsons import Json
from vcmts.paths import program
from vcmts.progress import progress
from vcmts.results import Measurement, now

CASES = ("6ofdm", "2ofdm-32sc-qam", "8ofdm-192sc-qam")
LOADS = (50, 95, 120)
FIRST, LARGE = CASES[0], CASES[-1]
GROWTH = "growth"  # the large case over the first one at the same load

FIGURES = (
    ("  enqueue", "enqueue", "{:.0f}"),
    ("  dequeue", "dequeue", "{:.0f}"),
    ("  both", "cycles_per_packet", "{:.0f}"),
    ("    smallest run", "min", "{:.0f}"),
    ("    largest run", "max", "{:.0f}"),
    ("    core cycles", "core_cycles_per_packet", "{:.0f}"),
    ("  call without a packet", "idle_call", "{:.0f}"),
    ("  Gbps offered", "offered_gbps", "{:.2f}"),
    ("  Gbps carried", "gbps", "{:.2f}"),
    ("  dropped", "dropped", "{:.1%}"),
)
# Other schedulers: title, key of the figures in a result, key of the ratio to them.
OTHER_SCHEDULERS = (
    ("rte_sched", "rte_sched", "ratio"),
    ("rte_sched, pipes round robin", "rte_sched_turns", "ratio_turns"),
)
PRIORITIES = "vcmts, four flows per modem with priorities"


@dataclass(frozen=True)
class Ratio:
    """A ratio of cycles per packet that has a goal."""

    goal: str  # id of the goal
    cycles: float
    other: float
    value: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--case", choices=CASES, help="channels and modems (default: all)")
    parser.add_argument(
        "--load",
        action="append",
        type=int,
        default=[],
        metavar="PERCENT",
        help="load, of the channels' capacity; may be repeated (default: 50, 95, 120)",
    )
    parser.add_argument(
        "--real-time", action="store_true", help="send bursts at their time, as on a wire"
    )
    bench_common.add_arguments(parser, milliseconds=300, stored="bench-scheduler.json")


def figures(title: str, sources: list[Json]) -> Iterator[list[str]]:
    """The rows of one scheduler, with one column per source."""
    yield [title, *("" for _ in sources)]
    for name, key, text in FIGURES:
        # idle_call is 0 if every call returned packets
        yield [
            name,
            *("-" if s[key] == 0 and key == "idle_call" else text.format(s[key]) for s in sources),
        ]


def table(results: list[Json]) -> Table:
    """The table of a case, with one column per load."""
    heads = ("load", *(f"{result['load']} %" for result in results))
    out = figures_table(heads, figures("vcmts", results))
    for title, key, _ in OTHER_SCHEDULERS:
        out.add_section()
        for row in figures(title, [r[key] for r in results]):
            out.add_row(*row)
    out.add_section()
    for row in figures(PRIORITIES, [r["priorities"] for r in results]):
        out.add_row(*row)
    out.add_section()
    for title, _, ratio in OTHER_SCHEDULERS:
        out.add_row(f"vcmts / {title}", *[f"{r[ratio]:.2f}" for r in results])
    return out


def ratios(results: list[Json]) -> Iterator[Ratio]:
    """Yields the measured ratios that have goals."""
    cycles = {(r["case"], r["load"]): r["cycles_per_packet"] for r in results}
    for r in results:
        case, load, own = r["case"], r["load"], r["cycles_per_packet"]
        turns = r["rte_sched_turns"]["cycles_per_packet"]
        found = [Ratio(f"scheduler.{case}.{load}", own, turns, r["ratio_turns"])]
        if case == LARGE and (FIRST, load) in cycles:
            small = cycles[FIRST, load]
            found.append(Ratio(f"scheduler.{GROWTH}.{load}", own, small, own / small))
        yield from (ratio for ratio in found if ratio.goal in goals_list.load())


def verdicts(results: list[Json]) -> Iterator[str]:
    """Yields a line per goal of config/goals.yaml."""
    for ratio in ratios(results):
        goal = goals_list.load()[ratio.goal]
        value = goals_list.format_value(ratio.value, goal.limit)
        verdict = goal.verdict({"value": ratio.value})
        yield f"{verdict}: {goal.what}: {value}, goal {goal.words}"


def show(report: Json, console: Console) -> None:
    """Prints a table per case, the goals, and the machine."""
    for case in CASES:
        results = [r for r in report["results"] if r["case"] == case]
        if results:
            one = results[0]
            title = (
                f"{case}: {one['flows']:,} flows of {one['modems']:,} modems, "
                f"{one['channels']} channels, reference cycles per packet"
            )
            print_line(console, title)
            console.print(table(results))
    for verdict in verdicts(report["results"]):
        print_line(console, verdict)
    console.print(bench_common.machine_line(report))


def main(arguments: argparse.Namespace) -> int:
    bench_common.check_options(arguments)
    command = [str(program("vcmts-bench-scheduler"))]
    command += ["--runs", str(arguments.runs), "--milliseconds", str(arguments.milliseconds)]
    if arguments.case is not None:
        command += ["--case", arguments.case]
    if arguments.real_time:
        command += ["--real-time"]
    for load in arguments.load or LOADS:
        command += ["--load", str(load)]
    started = now()
    with temporary_folder() as folder, stoppable() as stopped:
        with progress("bench scheduler", 1) as shown:
            status, report = bench_common.run_benchmark(
                command, folder, watch.whole_progress(shown), stopped
            )
        if report is None:
            return bench_common.no_results(stopped, status)
        measurement = Measurement(
            kind="scheduler",
            command=bench_common.command_line(),
            configuration=", ".join(dict.fromkeys(r["case"] for r in report["results"])),
            host=report["host"],
            results=report["results"],
            started=started,
        )
        show(measurement.as_json(), out_console())
        return bench_common.store(measurement, arguments.json, stopped, status)
