# SPDX-License-Identifier: BSD-3-Clause
"""Makes a plan from the facts of a host and the requirements of its service groups."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from host.prepare import arguments
from host.prepare import cards as host_cards
from host.prepare import cores as host_cores
from host.prepare import journal as host_journal
from host.prepare.cards import Card
from host.prepare.cores import Cores
from host.prepare.login import guarded, guarded_cards
from host.prepare.plan import CMDLINE, KERNELSTUB, Facts, Pages, Plan, PlannedCard
from host.prepare.ports import Candidate, assign_ports, candidates, planned_function, used_cards
from host.prepare.requirements import Requirements
from host.prepare.system import System
from vcmts.layout.machine import Machine
from vcmts.paths import MistakeError
from vcmts.system.files import Files, number

NODES = "sys/devices/system/node"
GIB_KB = 1 << 20
# Memory that huge pages leave to the system: a share of each node, and a total.
SYSTEM_SHARE = 0.25
SYSTEM_KB = GIB_KB


@dataclass(frozen=True)
class Options:
    """Options of `vcmts host plan`."""

    cards: tuple[str, ...] = ()
    page_kb: int = 2048
    no_iommu: bool = False


@dataclass(frozen=True)
class Decision:
    plan: Plan
    requirements: Requirements
    cores: Cores
    guarded: Mapping[str, str]  # interfaces that must not be changed, with the reason
    cards: Mapping[str, str]  # the same for cards
    notes: tuple[str, ...]  # limits of the plan


def loader(files: Files) -> str:
    """Returns the boot loader that stores the kernel arguments; "" if it is unknown."""

    def exists(*names: str) -> bool:
        return any(files.path(name).exists() for name in names)

    if exists(KERNELSTUB):
        return "kernelstub"
    if exists("usr/sbin/update-grub", "usr/bin/update-grub", "sbin/update-grub"):
        return "grub"
    if exists(CMDLINE) and exists("usr/bin/kernel-install", "bin/kernel-install"):
        return "cmdline"
    return ""


def plan_pages(
    files: Files, options: Options, requirements: Requirements, nodes: Sequence[int]
) -> tuple[Pages, ...]:
    """Plans huge pages per NUMA node with groups. Pages that are allocated already count."""
    numa = files.names(NODES, r"node[0-9]+")
    found = []
    for node, groups in sorted(Counter(nodes).items()):
        need_kb = requirements.memory_mb * 1024 * groups / len(nodes)
        count = max(1, math.ceil(need_kb / options.page_kb))
        pages = Pages(node if f"node{node}" in numa else None, options.page_kb, count)
        allocated = number(files.text(pages.file))
        if not isinstance(allocated, int):
            raise MistakeError(
                f"huge pages of {options.page_kb // 1024} MB: not supported (no /{pages.file}): "
                "choose another --page-size"
            )
        found.append(Pages(pages.node, pages.size_kb, max(allocated, count)))
    check_memory(files, found)
    return tuple(found)


def meminfo_kb(files: Files, node: int | None) -> int | None:
    name = "proc/meminfo" if node is None else f"{NODES}/node{node}/meminfo"
    total = re.search(r"MemTotal:\s*([0-9]+) kB", files.text(name))
    return int(total[1]) if total else None


def pools_kb(files: Files, node: int | None, planned: Sequence[Pages]) -> int:
    """Returns the size (kB) of all huge pages of a node, or of the host, with the planned ones."""
    folder = Pages(node, 0, 0).file.rpartition("/hugepages-")[0]
    counts = {
        int(name[10:-2]): number(files.text(f"{folder}/{name}/nr_hugepages"))
        for name in files.names(folder, r"hugepages-[0-9]{1,8}kB")
    }
    total = {size: count for size, count in counts.items() if isinstance(count, int)}
    for one in planned:
        if one.node == node:
            total[one.size_kb] = max(total.get(one.size_kb, 0), one.count)
    return sum(size * count for size, count in total.items())


def check_pages(wanted: int, where: str, total: int, kept: int) -> None:
    if wanted > total - kept:
        raise MistakeError(
            f"{wanted / GIB_KB:.1f} GiB of huge pages are needed on {where}, which has "
            f"{total / GIB_KB:.1f} GiB, allowed: {max(total - kept, 0) / GIB_KB:.1f} GiB, as the "
            f"system needs {kept / GIB_KB:.1f} GiB: plan fewer groups, or add memory"
        )


def check_memory(files: Files, planned: Sequence[Pages]) -> None:
    """Raises MistakeError if huge pages leave too little memory to the system.

    Pages of other sizes and of nodes without groups count too. Pages that are allocated already
    are never refused."""
    nodes: list[int | None] = [int(name[4:]) for name in files.names(NODES, r"node[0-9]{1,4}")]
    more = {one.node for one in planned if files.count(one.file) < one.count}
    everywhere = 0
    for node in nodes or [None]:
        total, wanted = meminfo_kb(files, node), pools_kb(files, node, planned)
        everywhere += wanted
        if total and node in more:
            where = "the machine" if node is None else f"node {node}"
            check_pages(wanted, where, total, int(SYSTEM_SHARE * total))
    machine = meminfo_kb(files, None)
    if machine and more:
        check_pages(everywhere, "the machine", machine, SYSTEM_KB)


def kernel_arguments(
    files: Files, cores: Cores, pages: Sequence[Pages]
) -> tuple[list[str], list[str]]:
    """Returns the arguments for cores and pages, and notes on conflicting arguments."""
    configured = arguments.configured_arguments(files, loader(files))
    words, notes = arguments.isolation(files, configured, cores.isolated)
    for_pages, more = arguments.for_pages(files, configured, pages)
    return [*words, *for_pages], [*notes, *more]


def page_notes(files: Files, planned: Sequence[Pages]) -> list[str]:
    """Notes on pages in use, which count as available: vcmtsd may be the program that uses them."""
    notes = []
    ours = host_journal.applied(files)
    for one in planned:
        total = number(files.text(one.file))
        free = number(files.text(one.file.replace("nr_hugepages", "free_hugepages")))
        if ("value", one.file) in ours or not isinstance(total, int) or not isinstance(free, int):
            continue
        if free < total:
            notes.append(
                f"{total - free} of {total} huge pages are in use (/{one.file}) and count as "
                "available; if vcmtsd does not use these, add as many"
            )
    return notes


def in_order(words: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in order if word in words)


def applied_notes(files: Files) -> list[str]:
    try:
        count = len(host_journal.read(System(files)).open_entries())
    except PermissionError:
        return ["a plan may be applied, which only root can read: plan as root"]
    if not count:
        return []
    return [
        f"a plan is applied ({count} changes): run `vcmts host undo` before you apply another one"
    ]


def planned_card(files: Files, candidate: Candidate, mtu: int, named: Sequence[str]) -> PlannedCard:
    card = candidate.card
    functions = tuple(
        planned_function(candidate, order, port) for order, port in enumerate(candidate.ports)
    )
    made = 0 if candidate.whole else card.functions or len(functions)
    ours = host_journal.created_function_cards(files)
    return PlannedCard(
        address=card.address,
        vendor=card.vendor,
        device=card.device,
        mac=card.mac,
        node=card.node,
        functions=functions,
        made=made,
        others=bool(made and card.functions and card.address not in ours),
        addresses=host_cards.function_addresses(files, card, made),
        bind=not card.keeps_kernel_driver,
        named=card.address in named,
        mtu=mtu,
    )


def plan_facts(files: Files, machine: Machine) -> Facts:
    return Facts(
        cores=tuple(
            (core.number, core.socket, core.node, core.siblings) for core in machine.cores.values()
        ),
        loader=loader(files),
    )


def preferred_node(found: Sequence[Candidate]) -> int | None:
    """The NUMA node of the best cards: those with virtual functions first."""
    nodes = [one.card.node for one in found if not one.whole] or [one.card.node for one in found]
    return next((node for node in nodes if node is not None), None)


def card_notes(files: Files, nodes: Sequence[int], found: Sequence[Candidate]) -> list[str]:
    notes = []
    used = [one for one in found if one.ports]
    far = {one.card.address for one in used if one.card.node not in (None, *nodes)}
    if far:
        notes.append(f"cards on another NUMA node than the cores: {', '.join(sorted(far))}")
    ours = host_journal.created_function_cards(files)
    for one in used:
        if one.card.functions and not one.whole and one.card.address not in ours:
            notes.append(
                f"{one.card.address} has {one.card.functions} functions of another program, "
                f"{len(one.free_indexes)} of them free: that program must create the functions "
                "at each boot, before vcmts-host.service, and set the MTU of the card"
            )
    return notes


def plan_notes(
    files: Files, requirements: Requirements, cores: Cores, found: Sequence[Candidate], plan: Plan
) -> list[str]:
    notes = applied_notes(files)
    if not found:
        notes.append("no card is free for the data plane: use memif or kernel interfaces as ports")
    if not cores.layout:
        notes.append(
            f"no layout fits {len(requirements.groups)} service groups: several share a core"
        )
    if not cores.isolated:
        notes.append("too few cores to isolate any")
    if set(plan.arguments) - set(arguments.running(files)) and not plan.facts.loader:
        notes.append("the boot loader is unknown: add the kernel arguments by hand, then reboot")
    if plan.cards and not plan.iommu and not plan.no_iommu:
        when = "the functions are bound after the reboot that the kernel arguments need"
        if "hypervisor" in files.fields("proc/cpuinfo").get("flags", "").split():
            when += "; a virtual machine without an IOMMU of its own needs --no-iommu"
        notes.append(f"no IOMMU works now: {when}")
    return [*notes, *card_notes(files, cores.nodes, found)]


def decide(
    files: Files, machine: Machine, requirements: Requirements, options: Options
) -> Decision:
    names = guarded(files)
    cards: list[Card] = host_cards.cards(files)
    used = used_cards(files, cards, host_journal.applied(files), options.cards)
    reasons = {**used, **guarded_cards(files, cards, names)}
    created = host_journal.created_function_cards(files)
    among = candidates(files, cards, reasons, options.cards, created)
    cores = host_cores.cores(machine, requirements, preferred_node(among))
    if among:
        assign_ports(requirements, dict(zip(requirements.groups, cores.nodes, strict=True)), among)
    pages = plan_pages(files, options, requirements, cores.nodes)
    works = host_cards.iommu(files)
    words, notes = kernel_arguments(files, cores, pages)
    words += arguments.for_iommu(files, no_iommu=options.no_iommu) if among else []
    plan = Plan(
        groups=requirements.groups,
        main_core=cores.main,
        polling=cores.polling,
        isolated=cores.isolated,
        pages=pages,
        arguments=in_order(words, arguments.possible(cores.isolated, pages)),
        cards=tuple(
            planned_card(files, one, max(requirements.mtu, 1500), options.cards)
            for one in among
            if one.ports
        ),
        iommu=works,
        no_iommu=options.no_iommu and not works,
        facts=plan_facts(files, machine),
    )
    if options.no_iommu and works:
        notes.append("an IOMMU works: --no-iommu is not needed and is ignored")
    notes += page_notes(files, pages)
    notes += plan_notes(files, requirements, cores, among, plan)
    return Decision(plan, requirements, cores, names, reasons, tuple(notes))
