# SPDX-License-Identifier: BSD-3-Clause
"""vcmts simulate --upstream: modems that wait for their grants, on a simulated clock."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.paths import MistakeError, missing, program
from vcmts.progress import progress
from vcmts.simulate.upstream_scenarios import CASES, LOADS, Scenario, loaded

Result = dict[str, Any]
NAME = "vcmts-simulate-upstream"
COLUMNS = ("scenario", "p50", "p99", "docsis-ns3", "data", "used", "collided")
# What the picture shows: modems, for each of them all loads.
CROWDS = (300, 3000)


def simulate(scenario: Scenario, name: str = "-") -> Result:
    """Runs one scenario; what is wrong with it is a mistake in `name`."""
    began = time.monotonic()
    done = subprocess.run(
        [str(program(NAME)), "-"],
        input=json.dumps(scenario),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix(f"{NAME}: -: ")
        raise MistakeError(f"{name}: {said}")
    result: Result = json.loads(done.stdout)
    return result | {"took": time.monotonic() - began}


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def rows(name: str, result: Result, ns3: tuple[float, float] | None) -> list[list[str]]:
    """A line a group of flows; delays in ms."""
    use, requests = result["use"], result["requests"]
    lines: list[list[str]] = []
    for flow in result["flows"]:
        delay = flow["latency_ms"]
        if not delay:
            continue
        first = not lines
        lines.append(
            [
                name if len(result["flows"]) == 1 else f"{name} {flow['label']}",
                *(f"{delay[key]:.2f}" for key in ("p50", "p99")),
                "-" if ns3 is None else f"{ns3[0]:.2f}, {ns3[1]:.2f}",
                share(use["data"]) if first else "",
                share(use["data_used"]) if first else "",
                share(requests["collided"] / max(requests["contention"], 1)) if first else "",
            ]
        )
    return lines


def scenario_of(name: str) -> Scenario:
    if name in CASES:
        return CASES[name].scenario()
    if not name.endswith(".json"):
        raise MistakeError(f"{name}: no such scenario; allowed: {', '.join(CASES)}, or a file.json")
    try:
        scenario = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MistakeError(f"{name}: {error}") from error
    if not isinstance(scenario, dict):
        raise MistakeError(f"{name}: an object is expected")
    return scenario


def as_table(lines: list[list[str]]) -> Table:
    table = Table()
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == COLUMNS[0] else "right")
    for line in lines:
        table.add_row(*line)
    return table


def as_markdown(lines: list[list[str]]) -> str:
    table = [list(COLUMNS), ["---", *["---:"] * (len(COLUMNS) - 1)], *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def draw(folder: str) -> int:
    """Latency, and what the channels carry, against load."""
    place = Path(folder)
    if not place.is_dir():
        raise MistakeError(f"--plots {folder}: no such folder")
    try:
        from vcmts.simulate import plots, upstream_plots

        plots.load()
    except ModuleNotFoundError as error:
        raise MistakeError(f"--plots: {missing(error.name, 'plot')}") from error
    points = [(count, load) for count in CROWDS for load in LOADS]
    results = {}
    with progress("simulate", len(points)) as shown:
        for count, load in points:
            results[count, load] = simulate(loaded(count, load))
            shown.advance(text=f"{count} modems, {load:.0%}")
    path = place / "upstream-simulation.svg"
    figure = upstream_plots.over_load(results)
    plots.write(figure, path, "`vcmts simulate`, options `upstream` and `plots`")
    print(path)
    return 0


def summary(results: dict[str, Result]) -> str:
    simulated = sum(result["seconds"] for result in results.values())
    took = sum(result["took"] for result in results.values())
    return (
        "delays in ms, from a packet's arrival at the modem until it leaves the CMTS; docsis-ns3: "
        "its p50, p99\ndata: of the minislots; used: of these, by bytes that were granted; "
        f"collided: of the requests in contention\n{simulated:.0f} s simulated in {took:.1f} s"
    )


def main(arguments: argparse.Namespace) -> int:
    if arguments.aqm:
        raise MistakeError("--aqm: is of the downstream")
    if arguments.plots is not None:
        if arguments.scenario or arguments.json or arguments.markdown:
            raise MistakeError("--plots: goes alone, or with --upstream")
        return draw(arguments.plots)
    lines: list[list[str]] = []
    results: dict[str, Result] = {}
    names = arguments.scenario or list(CASES)
    with progress("simulate", len(names)) as shown:
        for name in names:
            shown.at(shown.done, name)
            scenario = scenario_of(name)
            results[name] = simulate(scenario, name)
            ns3 = CASES[name].ns3 if name in CASES else None
            lines += rows(Path(name).name, results[name], ns3)
            shown.advance()
    if arguments.json is not None:
        Path(arguments.json).write_text(json.dumps(results) + "\n", encoding="utf-8")
    if arguments.markdown:
        print(as_markdown(lines))
    else:
        Console(file=sys.stdout).print(as_table(lines))
        print(summary(results))
    return 0
