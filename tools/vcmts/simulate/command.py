# SPDX-License-Identifier: BSD-3-Clause
"""vcmts simulate: runs TCP senders through the downstream scheduler, or modems through the upstream
scheduler, on a simulated clock. Prints delay, utilisation and loss."""

import argparse
from pathlib import Path

from vcmts import options
from vcmts.paths import MistakeError
from vcmts.progress import progress
from vcmts.simulate import running, scenarios, upstream, upstream_scenarios
from vcmts.simulate.running import Result, read_scenario
from vcmts.simulate.scenarios import AQMS, CASES, Scenario

COLUMNS = ("scenario", "drops by", "mean", "median", "p95", "p99", "used", "loss", "fairness")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "scenarios (rate, senders, round-trip time without queueing):",
            *(f"  {name:12} {case.about}" for name, case in CASES.items()),
            "with --upstream:",
            *(f"  {name:12} {case.about}" for name, case in upstream_scenarios.CASES.items()),
        ]
    )
    parser.add_argument(
        "scenario",
        nargs="*",
        help="scenario name, or a file.json of your own (default: all scenarios)",
    )
    parser.add_argument(
        "--upstream",
        action="store_true",
        help="simulate modems that request grants, instead of downstream TCP senders",
    )
    parser.add_argument(
        "--aqm",
        action="append",
        choices=AQMS,
        help="active queue management; may be repeated (default: each of them)",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    options.add_json(parser, "all results")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="instead, draw the figures of docs/scheduler.md: FILE.svg over time and FILE-rates.svg"
        " over rates, or with --upstream one; their folder is made if needed; needs matplotlib",
    )


def simulate(scenario: Scenario, name: str = "-") -> Result:
    """Runs one scenario. `name` is its name in error messages."""
    return running.run_simulator("vcmts-simulate", scenario, name)


def flow_row(name: str, aqm: str, result: Result, flow: int = 0) -> list[str]:
    """The row of one service flow in the table; delays in ms."""
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


def rows_of_file(path: str, results: dict[str, Result]) -> list[list[str]]:
    """Runs a scenario from a file. One row per service flow; the file names the AQM of each."""
    scenario = read_scenario(path)
    results[path] = result = simulate(scenario, path)
    flows = scenario["service_flows"]
    return [
        flow_row(f"{Path(path).name} {i}", flow.get("aqm", "docsis-pie"), result, i)
        for i, flow in enumerate(flows)
    ]


def rows_of_case(name: str, aqms: list[str], results: dict[str, Result]) -> list[list[str]]:
    if name not in CASES:
        raise running.unknown_scenario(name, list(CASES))
    rows = []
    for aqm in aqms:
        results[f"{name} {aqm}"] = result = simulate(CASES[name].scenario(aqm), name)
        rows.append(flow_row(name, aqm, result))
    return rows


def draw_figures(given: str) -> int:
    """Draws a figure over time, and beside it one over rates. Returns the exit status."""
    path, plots = running.open_plot(given)
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
    for target, figure in (
        (path, plots.over_time(over_time)),
        (path.with_stem(f"{path.stem}-rates"), plots.over_rates(over_rates)),
    ):
        plots.write(figure, target)
        print(target)
    return 0


def main(arguments: argparse.Namespace) -> int:
    if arguments.upstream:
        return upstream.main(arguments)
    if arguments.plot is not None:
        if arguments.scenario or arguments.aqm or arguments.json or arguments.markdown:
            raise MistakeError(
                "--plot: not allowed together with scenarios, --aqm, --json or --markdown"
            )
        return draw_figures(arguments.plot)
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
    running.store_results(arguments.json, results)
    below = "delays: in the queue, ms; used: share of the sustained rate"
    running.print_table(COLUMNS, 2, rows, markdown=arguments.markdown, below=below)
    return 0
