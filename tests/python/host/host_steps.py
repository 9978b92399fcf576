# SPDX-License-Identifier: BSD-3-Clause
"""Makes plans for simulated machines as the command does, and applies and undoes them."""

import argparse
from pathlib import Path

from host import command
from host.prepare import apply as host_apply
from host.prepare.decide import Decision, decide
from host.prepare.plan import Plan
from host.prepare.requirements import requirements
from python.host.host_kernel import Kernel, system
from python.host.host_machines import MACHINES
from vcmts.layout import machine as host_machine
from vcmts.system.files import Files

OPTIONS = {
    "server": ("--groups", "2", "--network-vlan", "10"),
    "single": ("--groups", "1"),
    "cloud": ("--groups", "1", "--no-iommu"),
    "laptop": ("--groups", "1"),
    "small": ("--groups", "1"),
}


def make_machine(name: str, root: Path) -> Kernel:
    """Makes the files of a simulated machine."""
    root.mkdir(parents=True, exist_ok=True)
    return MACHINES[name](root)


def parse(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(options)


def make_plan(kernel: Kernel, *options: str) -> Decision:
    """Returns what `vcmts host plan` decides for the machine."""
    files = Files(kernel.root, kernel.ask)
    result = host_machine.read(files)
    arguments = parse("plan", *options)
    return decide(files, result, requirements(arguments, result), command.parse_options(arguments))


def ignore(line: str) -> None:
    pass


def apply(kernel: Kernel, plan: Plan) -> int:
    """Applies the plan. Returns the number of steps that changed something."""
    return host_apply.apply(system(kernel), plan, ignore)


def undo(kernel: Kernel, *, forget: bool = False) -> tuple[int, list[str]]:
    """Undoes the plan. Returns the number of steps that are left, and the messages."""
    messages: list[str] = []
    return host_apply.undo(system(kernel), messages.append, forget=forget), messages


def set_up(tmp_path: Path, name: str = "server") -> tuple[Kernel, Plan]:
    """Makes a simulated machine, and its plan."""
    kernel = make_machine(name, tmp_path)
    return kernel, make_plan(kernel, *OPTIONS[name]).plan
