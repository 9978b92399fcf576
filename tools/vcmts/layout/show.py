# SPDX-License-Identifier: BSD-3-Clause
"""Prints a placement: a table with one row per core, the notes, and the proposal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from vcmts.console import print_line
from vcmts.layout.case import BETTER, KNOWN, REFUSED, Case, Note, numbered
from vcmts.layout.machine import Core, Machine, cpu_list
from vcmts.layout.propose import MOST_GROUPS, Fit, Proposal

LEVELS = {REFUSED: "cannot run", BETTER: "improve", KNOWN: "note"}


def optional(value: int | None) -> str:
    return "" if value is None else str(value)


def state(machine: Machine, core: Core) -> str:
    """Why a core cannot be used, or else its isolation."""
    number = core.number
    if number not in machine.present:
        return "missing"
    if number not in machine.online:
        return "offline"
    if number not in machine.usable:
        return "not allowed"
    words = [
        word for word, holds in (("isolated", core.isolated), ("nohz_full", core.tickless)) if holds
    ]
    return ", ".join(words)


def runs_on(case: Case, core: int) -> str:
    received = [port["port"] for port in case.placement["shared_ports"] if port["core"] == core]
    words = ["management"] if core == case.main() else []
    words += [case.runs()[core]] if core in case.runs() else []
    words += [f"receives for all from the {port} port" for port in received]
    return "; ".join(words)


def cores_table(case: Case) -> Table:
    machine = case.machine
    table = Table()
    for heading in ("core", "socket", "node"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("sibling of", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("runs")
    for number in sorted(machine.present | set(case.runs()) | {case.main()}):
        core = machine.core(number)
        table.add_row(
            str(number),
            optional(core.socket),
            optional(core.node),
            cpu_list(core.siblings) if core.siblings else "",
            state(machine, core),
            runs_on(case, number),
        )
    return table


def placement_text(case: Case) -> str:
    """How the configuration sets threads: layout, keys or nothing; with the groups of each."""
    if not case.configured:
        return "configured: nothing; the table shows the default placement"
    kinds: dict[str, list[int]] = {}
    for group in case.groups():
        keys = [key for key in group["given"] if key not in ("layout", "cores")]
        words = [f"layout {group['layout']}"] if group["layout"] else []
        words += [", ".join(keys)] if keys else []
        kinds.setdefault(" and ".join(words) or "nothing", []).append(group["service_group"])
    texts = [f"{words} ({numbered('service group', groups)})" for words, groups in kinds.items()]
    return "configured: " + "; ".join(texts)


def machine_text(machine: Machine) -> str:
    sockets = {core.socket for core in machine.cores.values()} - {None}
    nodes = {core.node for core in machine.cores.values()} - {None}
    physical = {machine.physical(number) for number in machine.cores}
    words = [f"{len(machine.cores)} cores online, {len(physical)} of them physical"]
    words += [f"{len(sockets)} socket{'s' * (len(sockets) > 1)}"] if sockets else []
    words += [f"{len(nodes)} NUMA node{'s' * (len(nodes) > 1)}"] if nodes else []
    words += [f"usable {cpu_list(sorted(machine.usable))}"]
    if machine.isolated():
        words += [f"isolated {cpu_list(sorted(machine.isolated()))}"]
    if machine.cpuset:
        words += [f"cpuset {cpu_list(sorted(machine.cpuset.cores))}"]
    return "machine: " + ", ".join(words)


def show_notes(notes: Sequence[Note], console: Console) -> None:
    for note in notes:
        print_line(console, f"{LEVELS[note.level]}: {note.text}")
        print_line(console, f"    {note.todo}")
    if not notes:
        console.print("no problems found")


def fits_text(fits: Sequence[Fit]) -> str:
    words = [f"{fit.layout.name} {fit.groups}{'+' * (fit.groups == MOST_GROUPS)}" for fit in fits]
    return "service groups that fit by layout: " + ", ".join(words)


def show_proposal(proposal: Proposal, groups: int, console: Console) -> None:
    what = f"proposal for {groups} service group{'s' * (groups > 1)}"
    if not proposal.layout:
        console.print(f"{what}: no layout fits so many, so several share a core:")
    else:
        console.print(f"{what}, to replace the key `threads`:")
    console.print()
    console.print(proposal.threads, soft_wrap=True, markup=False)
    for group, threads in proposal.own:
        console.print(f"  # in the item of service group {group}:", soft_wrap=True, markup=False)
        console.print(f"    {threads}", soft_wrap=True, markup=False)


def show(
    case: Case,
    notes: Sequence[Note],
    fits: Sequence[Fit],
    proposal: Proposal | None,
    console: Console,
) -> None:
    print_line(console, placement_text(case))
    print_line(console, machine_text(case.machine))
    console.print(cores_table(case))
    show_notes(notes, console)
    print_line(console, fits_text(fits))
    if proposal is not None:
        show_proposal(proposal, len(case.groups()), console)
