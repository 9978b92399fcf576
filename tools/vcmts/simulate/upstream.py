# SPDX-License-Identifier: BSD-3-Clause
"""vcmts simulate --upstream: modems that request grants from the upstream scheduler."""

import argparse
import time
from pathlib import Path

from vcmts.paths import MistakeError
from vcmts.progress import progress
from vcmts.simulate import running
from vcmts.simulate.running import Result
from vcmts.simulate.upstream_scenarios import CASES, LOADS, Scenario, loaded

NAME = "vcmts-simulate-upstream"
COLUMNS = ("scenario", "p50", "p99", "docsis-ns3", "data", "used", "collided")
# Numbers of modems in the figure, each with all loads.
MODEM_COUNTS = (300, 3000)


def simulate(scenario: Scenario, name: str = "-") -> Result:
    """Runs one scenario; `name` is for messages. Adds `took`, seconds of real time."""
    began = time.monotonic()
    result = running.run_simulator(NAME, scenario, name)
    return result | {"took": time.monotonic() - began}


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def flow_rows(name: str, result: Result, ns3: tuple[float, float] | None) -> list[list[str]]:
    """One row per group of flows; delays in ms. `ns3`: p50 and p99 of docsis-ns3."""
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


def find_scenario(name: str) -> Scenario:
    if name in CASES:
        return CASES[name].scenario()
    if not name.endswith(".json"):
        raise running.unknown_scenario(name, list(CASES))
    try:
        return running.read_scenario(name)
    except OSError as error:
        raise MistakeError(f"{name}: {error}") from error


def draw_figure(given: str) -> int:
    """Draws latency and use of minislots over load. Returns the exit status."""
    path, plots = running.open_plot(given)
    from vcmts.simulate import upstream_plots

    points = [(count, load) for count in MODEM_COUNTS for load in LOADS]
    results = {}
    with progress("simulate", len(points)) as shown:
        for count, load in points:
            results[count, load] = simulate(loaded(count, load))
            shown.advance(text=f"{count} modems, {load:.0%}")
    figure = upstream_plots.over_load(results)
    plots.write(figure, path, "`vcmts simulate`, options `upstream` and `plot`")
    print(path)
    return 0


def summary(results: dict[str, Result]) -> str:
    simulated = sum(result["seconds"] for result in results.values())
    real_time = sum(result["took"] for result in results.values())
    return (
        "p50, p99: ms from a packet's arrival at the modem until it leaves the CMTS; docsis-ns3: "
        "its p50, p99\ndata: share of minislots granted for data; used: share of granted bytes; "
        f"collided: share of contention requests\n{simulated:.0f} s simulated in {real_time:.1f} s"
    )


def main(arguments: argparse.Namespace) -> int:
    if arguments.aqm:
        raise MistakeError("--aqm: not allowed with --upstream")
    if arguments.plot is not None:
        if arguments.scenario or arguments.json or arguments.markdown:
            raise MistakeError("--plot: not allowed together with scenarios, --json or --markdown")
        return draw_figure(arguments.plot)
    lines: list[list[str]] = []
    results: dict[str, Result] = {}
    names = arguments.scenario or list(CASES)
    with progress("simulate", len(names)) as shown:
        for name in names:
            shown.at(shown.done, name)
            scenario = find_scenario(name)
            results[name] = simulate(scenario, name)
            ns3 = CASES[name].ns3 if name in CASES else None
            lines += flow_rows(Path(name).name, results[name], ns3)
            shown.advance()
    running.store_results(arguments.json, results)
    running.print_table(COLUMNS, 1, lines, markdown=arguments.markdown, below=summary(results))
    return 0
