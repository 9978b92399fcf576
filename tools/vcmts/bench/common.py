# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all `vcmts bench`: common options, running a benchmark program, storing its results."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from vcmts import configuration, options
from vcmts.bench.trials import ProgramError, StopError
from vcmts.child import INTERRUPTED, Stopped, check_writable, stoppable, temporary_folder
from vcmts.console import wide_console
from vcmts.jsons import Json
from vcmts.output import is_stdout
from vcmts.paths import TOOL, MistakeError, notify
from vcmts.results import Measurement
from vcmts.terminal import print_wrapped
from vcmts.watch import OnMessage, OnProgress, print_to_stderr, run_watched

LIMITS = {"runs": (1, 101), "milliseconds": (10, 600000)}
NO_MORE: Mapping[str, tuple[int, int]] = {}


def add_arguments(
    parser: argparse.ArgumentParser, *, milliseconds: int, stored: str, runs: int = 5
) -> None:
    parser.add_argument(
        "--runs", type=int, default=runs, metavar="N", help="runs of each (default: %(default)s)"
    )
    parser.add_argument(
        "--milliseconds",
        type=int,
        default=milliseconds,
        metavar="N",
        help="duration of a run (default: %(default)s)",
    )
    add_stored(parser, stored)


def add_stored(parser: argparse.ArgumentParser, default: str) -> None:
    options.add_json(parser, "the results", default)


def add_only(parser: argparse.ArgumentParser, parts: Sequence[str], metavar: str = "WHAT") -> None:
    text = f"measure only this; may be repeated ({', '.join(parts)})"
    parser.add_argument(
        "--only", action="append", choices=parts, default=[], metavar=metavar, help=text
    )


def selected_parts(parts: Iterable[str], given: argparse.Namespace) -> list[str]:
    """The parts selected by --only, in their order; all without it."""
    return [part for part in parts if not given.only or part in given.only]


def check_options(
    arguments: argparse.Namespace, more: Mapping[str, tuple[int, int]] = NO_MORE
) -> None:
    """Raises MistakeError for an option outside of its limits, or an unwritable --json."""
    for option, (least, most) in {**LIMITS, **more}.items():
        found = getattr(arguments, option)
        if not least <= found <= most:
            raise MistakeError(f"--{option}: found {found}, allowed: {least} to {most}")
    check_writable(arguments.json)


def command_line() -> list[str]:
    return [TOOL, *sys.argv[1:]]


def run_benchmark(
    command: Sequence[str],
    folder: Path,
    tell: OnProgress,
    stopped: Stopped,
    say: OnMessage = print_to_stderr,
) -> tuple[int, Json | None]:
    """Runs a benchmark program. Returns its exit status, and its report; None: no results."""
    path = folder / "measured.json"
    path.unlink(missing_ok=True)
    status = run_watched([*command, "--json", str(path)], tell, stopped, say)
    if not path.exists():
        return status, None
    report: Json = json.loads(path.read_text(encoding="utf-8"))
    return status, report if report["results"] else None


def write(measurement: Measurement, path: str) -> None:
    """Writes the results, and prints where they are."""
    measurement.write(path)
    if not is_stdout(path):
        print(f"all results: {path}")


def store(measurement: Measurement, path: str, stopped: Stopped, status: int) -> int:
    """Writes the measurement, also an incomplete one. Returns the exit status of the tool."""
    measurement.complete = status == 0 and not stopped.by_signal
    write(measurement, path)
    if stopped.by_signal:
        notify(f"{stopped.text}: the results so far are in {path}")
        return INTERRUPTED
    return status


def goals_verdict(verdicts: Sequence[tuple[str, str]]) -> str:
    """One line: whether all goals were reached. `verdicts`: goals with theirs, such as "missed"."""
    of = {
        word: [goal for goal, verdict in verdicts if verdict == word]
        for word in ("reached", "missed", "disturbed")
    }
    reached = f"{len(of['reached'])} of {sum(map(len, of.values()))} goals reached"
    again = f", {len(of['disturbed'])} disturbed: measure again" if of["disturbed"] else ""
    if of["missed"]:
        return f"FAIL: missed: {'; '.join(of['missed'])}{again}; {reached}"
    return f"PASS: {reached}{again}"


def end_with_verdict(status: int, verdicts: Sequence[tuple[str, str]]) -> int:
    """Prints the verdict after a complete measurement. Returns the exit status: 1 for a miss."""
    if status != 0:
        return status
    text = goals_verdict(verdicts)
    print_wrapped(text)
    return int(text.startswith("FAIL"))


def no_results(stopped: Stopped, status: int) -> int:
    """The exit status of the tool if there is nothing to store."""
    if stopped.by_signal:
        notify(f"{stopped.text}: nothing was measured")
        return INTERRUPTED
    return status


def run_and_store(
    to: Measurement,
    given: argparse.Namespace,
    measure: Callable[[Path, Path, argparse.Namespace, Stopped, Measurement], int],
    show: Callable[[Measurement, Console], None],
) -> int:
    """Runs `measure`; prints stored results even after an error. Returns the exit status."""
    check_writable(given.json)
    with temporary_folder() as folder, stoppable() as stopped:
        config = configuration.configuration_file(given, folder)
        try:
            status, why = measure(config, folder, given, stopped, to), ""
        except StopError as error:
            status, why = INTERRUPTED, str(error)
        except ProgramError as error:
            status, why = 1, str(error)
    if why:
        text = f"{len(to.results)} results were measured and stored"
        notify(f"{why}: {text if to.results else 'nothing was measured'}")
    if to.results:
        show(to, wide_console())
        write(to, given.json)
    return status


def machine_line(report: Json) -> str:
    """A line with the CPU, its clocks, pages, and the number of runs."""
    host = report["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    return (
        f"{host['cpu']}: TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz "
        f"({ratio:.2f} core cycles per reference cycle), "
        f"{'huge' if host['huge_pages'] else 'ordinary'} pages, "
        f"median of {report['results'][0]['runs']} runs"
    )
