# SPDX-License-Identifier: BSD-3-Clause
"""vcmts simulate: TCP senders through the scheduler, or modems upstream, on a simulated clock."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.paths import MistakeError, missing, program
from vcmts.progress import progress
from vcmts.simulate import scenarios, upstream, upstream_scenarios
from vcmts.simulate.scenarios import AQMS, CASES, Scenario

Result = dict[str, Any]
COLUMNS = ("scenario", "drops by", "mean", "median", "p95", "p99", "used", "loss", "fairness")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "scenarios (rate, senders, round trip without the queue):",
            *(f"  {name:12} {case.about}" for name, case in CASES.items()),
            "with --upstream:",
            *(f"  {name:12} {case.about}" for name, case in upstream_scenarios.CASES.items()),
        ]
    )
    parser.add_argument(
        "scenario",
        nargs="*",
        help="which to run, by name, or a file.json of your own (default: all by name)",
    )
    parser.add_argument(
        "--upstream",
        action="store_true",
        help="modems that request and wait for their grants, instead of senders downstream",
    )
    parser.add_argument(
        "--aqm",
        action="append",
        choices=AQMS,
        help="how packets are dropped; may be repeated (default: each of them)",
    )
    parser.add_argument("--markdown", action="store_true", help="the table as docs/ has it")
    parser.add_argument("--json", metavar="FILE", help="also write all results there")
    parser.add_argument(
        "--plots",
        metavar="FOLDER",
        help="draw the pictures of docs/ there instead; needs matplotlib",
    )


def simulate(scenario: Scenario, name: str = "-") -> Result:
    """Runs one scenario; what is wrong with it is a mistake in `name`."""
    done = subprocess.run(
        [str(program("vcmts-simulate")), "-"],
        input=json.dumps(scenario),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("vcmts-simulate: -: ")
        raise MistakeError(f"{name}: {said}")
    result: Result = json.loads(done.stdout)
    return result


def row(name: str, aqm: str, result: Result, flow: int = 0) -> list[str]:
    """A line of the table; delays in ms, shares in percent."""
    of = result["service_flows"][flow]
    delays = [of["delay_ms"].get(key) for key in ("mean", "median", "p95", "p99")]
    fairness = next((s["fairness"] for s in result["senders"] if s["count"] > 1), None)
    return [
        name,
        aqm,
        *("-" if value is None else f"{value:.1f}" for value in delays),
        "-" if of["utilisation"] is None else f"{of['utilisation']:.1%}",
        "-" if of["loss"] is None else f"{of['loss']:.2%}",
        "-" if fairness is None else f"{fairness:.3f}",
    ]


def from_file(path: str) -> Scenario:
    try:
        scenario = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise MistakeError(f"{path}: {error}") from error
    if not isinstance(scenario, dict):
        raise MistakeError(f"{path}: an object is expected")
    return scenario


def rows_of_file(path: str, results: dict[str, Result]) -> list[list[str]]:
    """A line a service flow; how each drops is in the file."""
    scenario = from_file(path)
    results[path] = result = simulate(scenario, path)
    flows = scenario["service_flows"]
    return [
        row(f"{Path(path).name} {i}", flow.get("aqm", "docsis-pie"), result, i)
        for i, flow in enumerate(flows)
    ]


def rows_of_case(name: str, aqms: list[str], results: dict[str, Result]) -> list[list[str]]:
    if name not in CASES:
        raise MistakeError(f"{name}: no such scenario; allowed: {', '.join(CASES)}, or a file.json")
    rows = []
    for aqm in aqms:
        results[f"{name} {aqm}"] = result = simulate(CASES[name].scenario(aqm), name)
        rows.append(row(name, aqm, result))
    return rows


def as_table(rows: list[list[str]]) -> Table:
    table = Table()
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in COLUMNS[:2] else "right")
    for line in rows:
        table.add_row(*line)
    return table


def as_markdown(rows: list[list[str]]) -> str:
    lines = [list(COLUMNS), ["---", "---", *["---:"] * (len(COLUMNS) - 2)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(folder: str) -> int:
    place = Path(folder)
    if not place.is_dir():
        raise MistakeError(f"--plots {folder}: no such folder")
    try:
        from vcmts.simulate import plots

        plots.load()
    except ModuleNotFoundError as error:
        raise MistakeError(f"--plots: {missing(error.name, 'plot')}") from error
    over_time = {aqm: simulate(scenarios.rate_change(aqm)) for aqm in ("tail-drop", "docsis-pie")}
    points = [
        (aqm, rate, count)
        for aqm in ("tail-drop", "docsis-pie")
        for rate in scenarios.MATRIX_RATES
        for count in scenarios.MATRIX_COUNTS
    ]
    over_rates = {}
    with progress("simulate", len(points)) as shown:
        for aqm, rate, count in points:
            over_rates[aqm, rate, count] = simulate(scenarios.matrix(rate, count, aqm))
            shown.advance(text=f"{aqm}, {count} senders")
    for name, figure in (
        ("scheduler-pie.svg", plots.over_time(over_time)),
        ("scheduler-pie-rates.svg", plots.over_rates(over_rates)),
    ):
        plots.write(figure, place / name)
        print(place / name)
    return 0


def main(arguments: argparse.Namespace) -> int:
    if arguments.upstream:
        return upstream.main(arguments)
    if arguments.plots is not None:
        if arguments.scenario or arguments.aqm or arguments.json or arguments.markdown:
            raise MistakeError("--plots: goes alone")
        return draw(arguments.plots)
    rows: list[list[str]] = []
    results: dict[str, Result] = {}
    names = arguments.scenario or list(CASES)
    with progress("simulate", len(names)) as shown:
        for name in names:
            shown.at(shown.done, name)
            if name.endswith(".json"):
                rows += rows_of_file(name, results)
            else:
                rows += rows_of_case(name, arguments.aqm or list(AQMS), results)
            shown.advance()
    if arguments.json is not None:
        Path(arguments.json).write_text(json.dumps(results) + "\n", encoding="utf-8")
    if arguments.markdown:
        print(as_markdown(rows))
    else:
        Console(file=sys.stdout).print(as_table(rows))
        print("delays in the queue in ms; used: of the sustained rate")
    return 0
