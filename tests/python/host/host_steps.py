# SPDX-License-Identifier: BSD-3-Clause
"""Plans for the machines of the tests, made as the command makes them."""

import argparse
from pathlib import Path

from host import command
from host.prepare import apply as host_apply
from host.prepare.decide import Decided, decide
from host.prepare.plan import Plan
from host.prepare.wish import wish
from python.host.host_kernel import Kernel, system
from python.host.host_machines import MACHINES
from vcmts.layout import machine as host_machine
from vcmts.system.files import Files

WORDS = {
    "server": ("--groups", "2", "--network-vlan", "10"),
    "single": ("--groups", "1"),
    "cloud": ("--groups", "1", "--no-iommu"),
    "laptop": ("--groups", "1"),
    "small": ("--groups", "1"),
}


def machine(name: str, root: Path) -> Kernel:
    root.mkdir(parents=True, exist_ok=True)
    return MACHINES[name](root)


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def decided(kernel: Kernel, *words: str) -> Decided:
    files = Files(kernel.root, kernel.ask)
    found = host_machine.read(files)
    arguments = parsed("plan", *words)
    return decide(files, found, wish(arguments, found), command.options_of(arguments))


def quiet(line: str) -> None:
    pass


def apply(kernel: Kernel, plan: Plan) -> int:
    return host_apply.apply(system(kernel), plan, quiet)


def undo(kernel: Kernel, *, forget: bool = False) -> tuple[int, list[str]]:
    said: list[str] = []
    return host_apply.undo(system(kernel), said.append, forget=forget), said


def prepared(tmp_path: Path, name: str = "server") -> tuple[Kernel, Plan]:
    kernel = machine(name, tmp_path)
    return kernel, decided(kernel, *WORDS[name]).plan
