# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts power simulate`: models the watts of a server over a day, and the savings by
pauses and lower frequencies. docs/power.md describes the model and its accuracy."""

import argparse
from pathlib import Path

from planning.day import load as day_load
from planning.power import show, simulate
from vcmts import options, output, version
from vcmts.child import check_writable
from vcmts.console import out_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.power import machine as power_machine
from vcmts.power import policy
from vcmts.run.planner import PUBLISHED_DAY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    text = "modelled watts of a described machine over a day, with and without saving"
    part = parts.add_parser("simulate", help=text, description=text[0].upper() + text[1:] + ".")
    part.add_argument(
        "--machine",
        metavar="FILE",
        type=Path,
        default=power_machine.PUBLISHED,
        help="cores, frequencies and watts (YAML; default: the energy paper's server, "
        "config/power.yaml)",
    )
    part.add_argument(
        "--day",
        metavar="FILE",
        type=Path,
        default=PUBLISHED_DAY,
        help="the load, lines such as 18:30 85%% (default: config/day.txt)",
    )
    part.add_argument(
        "--saving",
        action="append",
        choices=simulate.MODES,
        help="way to save power, compared with polling; may be repeated (default: all)",
    )
    part.add_argument(
        "--policy",
        metavar="NAME",
        help=f"governor's policy: {', '.join(policy.policies())} (default: the machine's)",
    )
    part.add_argument(
        "--latency",
        metavar="TIME",
        type=policy.microseconds,
        help="latency that the governor may add, such as 200us (default: "
        f"{policy.LATENCY_US:g}us); needs --policy",
    )
    options.add_json(part, "all values, in steps of five minutes,")
    options.add_plot(part, "draw the day")


def draw(path: Path, answer: Json) -> None:
    from planning.power import plot

    plot.write(plot.day(answer), path)


def main(arguments: argparse.Namespace) -> int:
    plot = options.picture_path(arguments.plot) if arguments.plot else None
    check_writable(arguments.json)
    machine = power_machine.read(arguments.machine)
    if arguments.policy is not None:
        machine = policy.with_governor(machine, arguments.policy, arguments.latency)
    elif arguments.latency is not None:
        raise MistakeError("--latency: allowed only with --policy")
    day = day_load.read(arguments.day)
    steps = simulate.simulate_day(machine, day, arguments.saving or simulate.MODES)
    answer = show.as_json(machine, day, steps)
    if not output.is_stdout(arguments.json):
        show.show(machine, answer, out_console())
    if arguments.json:
        output.write_json(arguments.json, answer | {"version": version.facts()})
    if output.file_name(arguments.json):
        print(f"every value: {arguments.json}")
    if plot:
        draw(plot, answer)
        print(plot)
    return 0
