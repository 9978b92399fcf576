# SPDX-License-Identifier: BSD-3-Clause
"""Which cores poll for the groups, on which NUMA node each group is, and which are isolated."""

from dataclasses import dataclass

from host.prepare.wish import Wish
from vcmts.layout import propose
from vcmts.layout.machine import Machine
from vcmts.layout.propose import Layout, Proposal
from vcmts.paths import MistakeError


@dataclass(frozen=True)
class Cores:
    main: int
    polling: tuple[int, ...]
    isolated: tuple[int, ...]
    nodes: tuple[int, ...]  # of each group
    layout: str  # "": several groups on a core; "as given": the file says it
    threads: tuple[str, ...]  # text for the file


def slots(layout: Layout, index: int, upstream: bool) -> int:
    """How many cores of the list the group with that index takes."""
    second = index % 2 == 1
    own_upstream = upstream and layout.own_upstream
    if layout.shared_downstream:
        return 0 if second else 1
    if layout.downstream == 1:
        return 1 + own_upstream
    shared = layout.shared_upstream and second
    return 2 + (own_upstream and not shared)


def nodes_of(machine: Machine, proposal: Proposal, wish: Wish) -> tuple[int, ...]:
    layout = next((one for one in propose.LAYOUTS if one.name == proposal.layout), None)
    found: list[int] = []
    at = 0
    for index, upstream in enumerate(wish.upstreams):
        if layout is None:
            core = proposal.cores[index % len(proposal.cores)]
        else:
            core = proposal.cores[min(at, len(proposal.cores) - 1)]
            taken = slots(layout, index, upstream)
            core = core if taken else proposal.cores[max(at - 1, 0)]
            at += taken
        found.append(machine.core(core).node or 0)
    return tuple(found)


def isolated(machine: Machine, polling: tuple[int, ...], main: int) -> tuple[int, ...]:
    """With the idle threads of the same physical cores, but for one that must run all else."""
    whole = {n for core in polling for n in machine.physical(core)}
    kept = machine.online - whole - {main}
    wanted = whole - {main}
    return tuple(sorted(wanted)) if kept or main not in polling else ()


def cores(machine: Machine, wish: Wish, node: int | None) -> Cores:
    """`node`: where the cards are."""
    if not machine.usable:
        raise MistakeError("no core is told of in /sys and /proc: nothing can be planned")
    if wish.placement is not None:
        placed = wish.placement
        main = int(placed["main_core"])
        polling = tuple(sorted(worker["core"] for worker in placed["workers"]))
        nodes = tuple(machine.core(group["upper_mac"]).node or 0 for group in placed["groups"])
        return Cores(main, polling, isolated(machine, polling, main), nodes, "as given", ())
    proposal = propose.proposal(machine, wish.groups, wish.upstreams, node)
    polling = tuple(dict.fromkeys(proposal.cores))
    return Cores(
        main=proposal.main_core,
        polling=tuple(sorted(polling)),
        isolated=isolated(machine, polling, proposal.main_core),
        nodes=nodes_of(machine, proposal, wish),
        layout=proposal.layout,
        threads=(proposal.threads, *(f"{group}: {text}" for group, text in proposal.own)),
    )
