# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench goals: measures the goals of config/goals.yaml, beside published figures."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from vcmts.bench import common as bench_common
from vcmts.bench import goals_list as goals
from vcmts.bench import goals_measure, goals_stored, trials
from vcmts.bench.goals_measure import BASE, Bench
from vcmts.child import Stopped, stoppable, temporary_folder
from vcmts.console import print_line, wide_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.progress import Progress, progress
from vcmts.results import Measurement

Part = Callable[[Bench, trials.Server], Iterable[Json]]
PARTS: dict[str, Part] = {
    "downstream": goals_measure.downstream,
    "upstream": goals_measure.upstream,
    "channels": goals_measure.channels,
    "cores": goals_measure.cores,
    "modems": goals_measure.modems,
    "threads": goals_measure.threads,
    "memory": goals_measure.memory,
    "grants": goals_stored.grants,
    "latency": goals_stored.latency,
    "scheduler": goals_stored.scheduler,
    "zero-loss": goals_stored.zero_loss,
    "power": goals_stored.power,
}
STAGES = "stage"  # prefix of goals by packet size, which the part downstream measures
# Parts that read a stored measurement, and its kind.
STORED = {"latency": "latency", "scheduler": "scheduler", "zero-loss": "throughput"}
STORED |= {"power": "power"}
# Runs of a part, per run of --runs.
RUNS = {"downstream": 1 + len(goals_measure.SIZES), "upstream": 2, "grants": 1, "zero-loss": 2}
SECOND = {"channels": 2, "cores": 3, "modems": 2, "threads": 2}  # parts with a second service group
RUNS |= SECOND


def add_arguments(parser: argparse.ArgumentParser) -> None:
    bench_common.add_only(parser, [*PARTS])
    for part, kind in STORED.items():
        parser.add_argument(
            f"--{kind}",
            metavar="FILE",
            help=f"results of `vcmts bench {kind}` for the goals of {part} (default: skip these)",
        )
    bench_common.add_arguments(parser, milliseconds=400, stored="bench-goals.json")


def part_of(goal: str) -> str:
    """The part that measures a goal."""
    first = goal.split(".")[0]
    return "downstream" if first == STAGES else first


def table(file: Json) -> Table:
    """The table for a terminal, without columns that only the report has."""
    out = Table(box=box.SIMPLE_HEAD)
    out.add_column("what", no_wrap=True)
    out.add_column("published")
    for name in ("goal", "measured", "of goal"):
        out.add_column(name, justify="right", no_wrap=True)
    out.add_column("", no_wrap=True)
    for row in goals.rows(file):
        out.add_row(row.what, row.published, row.goal, row.measured, row.ratio, row.verdict)
    return out


def show(file: Json, console: Console) -> None:
    console.print(
        "goals: reference cycles per packet unless another unit is given", highlight=False
    )
    console.print(table(file))
    noted = [row for row in goals.rows(file) if row.note not in ("", goals.LEFT_OUT)]
    notes = [f"{row.what.strip()}: {row.note}" for row in noted]
    for line in (*notes, *goals.bounds(file), *goals.conditions(file)):
        print_line(console, line)
    console.print(bench_common.machine_line(file))


class Parts:
    """Measures the parts one after the other. A failed part does not affect the others."""

    def __init__(self, to: Measurement, given: argparse.Namespace) -> None:
        self.to, self.given, self.status, self.ended = to, given, 0, ""
        self.missing = {part: why for part in PARTS if (why := self.skip_reason(part))}
        self.chosen = [part for part in PARTS if part not in self.missing]

    def skip_reason(self, part: str) -> str:
        """Why a part is skipped; "" if it is not."""
        if self.given.only and part not in self.given.only:
            return goals.LEFT_OUT
        kind = STORED.get(part)
        return f"no --{kind} FILE" if kind and not getattr(self.given, kind) else ""

    def add(self, part: str, found: Iterable[Json]) -> None:
        try:
            for result in found:  # one by one, to keep the results before a signal
                self.to.results.append(result)
        except (MistakeError, trials.ProgramError) as error:
            notify(f"{part}: {error}")
            self.missing[part] = str(error)
            if part in self.given.only or not isinstance(error, goals_measure.LackError):
                self.status = 1

    def measure(self, bench: Bench) -> None:
        with bench.group(BASE, goals_measure.own_core()) as base:
            self.to.host = base.ready["host"]
            for part in self.chosen:
                self.add(part, PARTS[part](bench, base))

    def not_measured(self) -> dict[str, str]:
        """The reason per goal without a result."""
        measured = {result["goal"] for result in self.to.results}
        return {
            goal: self.missing.get(part_of(goal), self.ended)
            for goal in goals.load()
            if goal not in measured
        }


def measure(
    given: argparse.Namespace, folder: Path, shown: Progress, stopped: Stopped, to: Measurement
) -> int:
    """Fills the measurement. Returns the exit status."""
    parts = Parts(to, given)
    groups = 1 + len(set(parts.chosen) & set(SECOND))
    shown.total = given.runs * sum(RUNS.get(part, 0) for part in parts.chosen)
    shown.total += goals_measure.WARM_UP * groups
    files = {kind: getattr(given, kind) for kind in STORED.values()}
    try:
        parts.measure(Bench(given.runs, given.milliseconds / 1000, folder, stopped, shown, files))
    except trials.StopError as error:
        parts.status, parts.ended = 1, str(error)
    except (MistakeError, trials.ProgramError) as error:
        notify(str(error))
        parts.status, parts.ended = 1, str(error)
    to.more["not_measured"] = parts.not_measured()
    return parts.status


def main(arguments: argparse.Namespace) -> int:
    bench_common.check_options(arguments)
    program("vcmts-bench")
    goals.load()  # raises if the file is invalid, before anything is measured
    to = Measurement("goals", bench_common.command_line(), BASE, {})
    with temporary_folder() as folder, stoppable() as stopped:
        with progress("bench goals", 1) as shown:
            status = measure(arguments, folder, shown, stopped, to)
        if not to.host or not to.results:
            return bench_common.no_results(stopped, status)
        show(to.as_json(), wide_console())
        status = bench_common.store(to, arguments.json, stopped, status)
    verdicts = [(row.what.strip(), row.verdict) for row in goals.rows(to.as_json())]
    return bench_common.end_with_verdict(status, verdicts)
