# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench: measure. What can be measured has a module of its own: WHAT.py."""

import argparse
import importlib
from types import ModuleType

WHAT = {
    "all": "everything else here, one after the other, and a report of it",
    "pipeline": "both directions, stage by stage",
    "throughput": "the highest rate without loss, by packet size and for the mixes",
    "latency": "how long packets take, at shares of the rate without loss",
    "cost": "what modems, rules, classifiers, flows and channels add, in cycles and memory",
    "scheduler": "the downstream scheduler, beside DPDK's rte_sched",
    "changes": "what changes of a server cost the packets beside them",
    "power": "what pauses and lower clocks cost, and what steps from idle to a load lose",
    "goals": "what is to be reached, beside what was published and what is measured",
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
