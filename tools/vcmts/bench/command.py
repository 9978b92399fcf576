# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench WHAT: measurements. Each has its own module bench/WHAT.py."""

import argparse
import importlib
from types import ModuleType

WHAT = {
    "all": "run all other measurements one after the other, and write a report",
    "pipeline": "measure cycles per packet of each stage, in both directions",
    "throughput": "search the highest rate without loss, by packet size and mix",
    "latency": "measure latency at shares of the rate without loss",
    "cost": "measure cycles, memory and start time over modems, rules, flows and channels",
    "scheduler": "measure the downstream scheduler, compared with DPDK's rte_sched",
    "changes": "measure how changes of the configuration affect traffic",
    "power": "measure what pauses and lower clocks cost, and losses at steps from idle to load",
    "goals": "measure the goals, and compare with them and with published figures",
}


def module(what: str) -> ModuleType:
    return importlib.import_module(f"vcmts.bench.{what}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    subparsers = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for what, text in WHAT.items():
        described = f"{text[0].upper()}{text[1:]}."
        module(what).add_arguments(subparsers.add_parser(what, help=text, description=described))


def main(arguments: argparse.Namespace) -> int:
    status: int = module(arguments.what).main(arguments)
    return status
