# SPDX-License-Identifier: BSD-3-Clause
"""Chooses polling cores, isolated cores, and the NUMA node of each service group."""

from dataclasses import dataclass

from host.prepare.requirements import Requirements
from vcmts.layout import propose
from vcmts.layout.machine import Machine
from vcmts.layout.propose import Layout, Proposal
from vcmts.paths import MistakeError


@dataclass(frozen=True)
class Cores:
    main: int
    polling: tuple[int, ...]
    isolated: tuple[int, ...]
    nodes: tuple[int, ...]  # NUMA node per group
    layout: str  # "": several groups per core; "as given": configured
    threads: tuple[str, ...]  # lines for the configuration file


def cores_used(layout: Layout, index: int, upstream: bool) -> int:
    """Returns how many cores the group with that index adds to the list."""
    second = index % 2 == 1
    own_upstream = upstream and layout.own_upstream
    if layout.shared_downstream:
        return 0 if second else 1
    if layout.downstream == 1:
        return 1 + own_upstream
    shared = layout.shared_upstream and second
    return 2 + (own_upstream and not shared)


def group_nodes(
    machine: Machine, proposal: Proposal, requirements: Requirements
) -> tuple[int, ...]:
    """The NUMA node of each group: that of its first core."""
    layout = next((one for one in propose.LAYOUTS if one.name == proposal.layout), None)
    found: list[int] = []
    position = 0
    for index, upstream in enumerate(requirements.upstreams):
        if layout is None:
            core = proposal.cores[index % len(proposal.cores)]
        else:
            core = proposal.cores[min(position, len(proposal.cores) - 1)]
            used = cores_used(layout, index, upstream)
            core = core if used else proposal.cores[max(position - 1, 0)]
            position += used
        found.append(machine.core(core).node or 0)
    return tuple(found)


def isolated(machine: Machine, polling: tuple[int, ...], main: int) -> tuple[int, ...]:
    """Returns the polling cores and their SMT siblings. Empty if no core is left for the rest of
    the system."""
    whole = {n for core in polling for n in machine.physical(core)}
    kept = machine.online - whole - {main}
    wanted = whole - {main}
    return tuple(sorted(wanted)) if kept or main not in polling else ()


def cores(machine: Machine, requirements: Requirements, node: int | None) -> Cores:
    """Returns the configured cores, else proposed ones near the cards' NUMA node `node`."""
    if not machine.usable:
        raise MistakeError("/sys and /proc list no cores: mount both to make a plan")
    if requirements.placement is not None:
        placed = requirements.placement
        main = int(placed["main_core"])
        polling = tuple(sorted(worker["core"] for worker in placed["workers"]))
        nodes = tuple(machine.core(group["upper_mac"]).node or 0 for group in placed["groups"])
        return Cores(main, polling, isolated(machine, polling, main), nodes, "as given", ())
    proposal = propose.proposal(machine, requirements.groups, requirements.upstreams, node)
    polling = tuple(dict.fromkeys(proposal.cores))
    return Cores(
        main=proposal.main_core,
        polling=tuple(sorted(polling)),
        isolated=isolated(machine, polling, proposal.main_core),
        nodes=group_nodes(machine, proposal, requirements),
        layout=proposal.layout,
        threads=(proposal.threads, *(f"{group}: {text}" for group, text in proposal.own)),
    )
