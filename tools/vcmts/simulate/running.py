# SPDX-License-Identifier: BSD-3-Clause
"""Runs a simulator, reads scenario files, prints and stores results, for both directions."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from vcmts import options, version
from vcmts.console import figures_table, out_console
from vcmts.jsons import Json
from vcmts.output import write_json
from vcmts.paths import MistakeError, missing_package, program
from vcmts.simulate.scenarios import Scenario
from vcmts.terminal import print_wrapped

Result = Json


def run_simulator(simulator: str, scenario: Scenario, name: str) -> Result:
    """Runs the program `simulator`. Raises MistakeError; `name` is the scenario in messages."""
    done = subprocess.run(
        [str(program(simulator)), "-"],
        input=json.dumps(scenario),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        message = done.stderr.strip().removeprefix(f"{simulator}: -: ")
        raise MistakeError(f"{name}: {message}")
    result: Result = json.loads(done.stdout)
    return result


def read_scenario(path: str) -> Scenario:
    try:
        scenario = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise MistakeError(f"{path}: {error}") from error
    if not isinstance(scenario, dict):
        raise MistakeError(f"{path}: not a JSON object (docs/scheduler.md)")
    return scenario


def unknown_scenario(name: str, cases: Sequence[str]) -> MistakeError:
    return MistakeError(f"{name}: no such scenario; allowed: {', '.join(cases)}, or a file.json")


def open_plot(given: str) -> tuple[Path, ModuleType]:
    """The file of --plot, and the module that draws. Raises MistakeError if it cannot be written or
    matplotlib is missing."""
    path = options.picture_path(given, [".svg"])
    try:
        from vcmts.simulate import plots

        plots.load()
    except ModuleNotFoundError as error:
        raise MistakeError(f"--plot: {missing_package(error.name, 'plot')}") from error
    return path, plots


def as_markdown(columns: Sequence[str], left: int, rows: list[list[str]]) -> str:
    """A Markdown table. The first `left` columns are left-aligned text, the others numbers."""
    rule = [*["---"] * left, *["---:"] * (len(columns) - left)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(columns), rule, *rows])


def store_results(path: str | None, results: dict[str, Result]) -> None:
    """Writes the results by scenario, and the version that made them."""
    if path is not None:
        write_json(path, {"version": version.facts(), "scenarios": results}, indent=None)


def print_table(
    columns: Sequence[str], left: int, rows: list[list[str]], *, markdown: bool, below: str
) -> None:
    if markdown:
        print(as_markdown(columns, left, rows))
    else:
        out_console().print(figures_table(columns, rows, texts=columns[:left]))
        print_wrapped(below)
