# SPDX-License-Identifier: BSD-3-Clause
"""From what a machine is and what is wished for to a plan."""

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
from host.prepare.ports import Candidate, candidates, dealt, function, taken_cards
from host.prepare.system import System
from host.prepare.wish import Wish
from vcmts.layout.machine import Machine
from vcmts.paths import MistakeError
from vcmts.system.files import Files, number

NODES = "sys/devices/system/node"
GIB_KB = 1 << 20
# Beside huge pages the system keeps this share of each node, and this much in all.
SYSTEM_SHARE = 0.25
SYSTEM_KB = GIB_KB


@dataclass(frozen=True)
class Options:
    """What the operator chose."""

    cards: tuple[str, ...] = ()
    page_kb: int = 2048
    no_iommu: bool = False


@dataclass(frozen=True)
class Decided:
    plan: Plan
    wish: Wish
    cores: Cores
    guarded: Mapping[str, str]  # interfaces that are not touched, and why
    cards: Mapping[str, str]  # the same of cards
    notes: tuple[str, ...]  # what the plan cannot do


def loader(files: Files) -> str:
    """Who keeps the kernel's arguments."""

    def there(*names: str) -> bool:
        return any(files.path(name).exists() for name in names)

    if there(KERNELSTUB):
        return "kernelstub"
    if there("usr/sbin/update-grub", "usr/bin/update-grub", "sbin/update-grub"):
        return "grub"
    if there(CMDLINE) and there("usr/bin/kernel-install", "bin/kernel-install"):
        return "cmdline"
    return ""


def pages_of(files: Files, options: Options, wish: Wish, nodes: Sequence[int]) -> tuple[Pages, ...]:
    """By the nodes on which groups are. Pages that are there already count."""
    numa = files.names(NODES, r"node[0-9]+")
    found = []
    for node, groups in sorted(Counter(nodes).items()):
        need_kb = wish.memory_mb * 1024 * groups / len(nodes)
        count = max(1, math.ceil(need_kb / options.page_kb))
        pages = Pages(node if f"node{node}" in numa else None, options.page_kb, count)
        there = number(files.text(pages.file))
        if not isinstance(there, int):
            raise MistakeError(
                f"huge pages of {options.page_kb // 1024} MB: the kernel has none (/{pages.file}): "
                "choose another --page-size"
            )
        found.append(Pages(pages.node, pages.size_kb, max(there, count)))
    enough_memory(files, found)
    return tuple(found)


def meminfo_kb(files: Files, node: int | None) -> int | None:
    name = "proc/meminfo" if node is None else f"{NODES}/node{node}/meminfo"
    total = re.search(r"MemTotal:\s*([0-9]+) kB", files.text(name))
    return int(total[1]) if total else None


def pools_kb(files: Files, node: int | None, planned: Sequence[Pages]) -> int:
    """All huge pages of a node, or of the machine, when the planned ones are there."""
    folder = Pages(node, 0, 0).file.rpartition("/hugepages-")[0]
    counts = {
        int(name[10:-2]): number(files.text(f"{folder}/{name}/nr_hugepages"))
        for name in files.names(folder, r"hugepages-[0-9]{1,8}kB")
    }
    there = {size: count for size, count in counts.items() if isinstance(count, int)}
    for one in planned:
        if one.node == node:
            there[one.size_kb] = max(there.get(one.size_kb, 0), one.count)
    return sum(size * count for size, count in there.items())


def refuse_pages(wanted: int, where: str, total: int, kept: int) -> None:
    if wanted > total - kept:
        raise MistakeError(
            f"{wanted / GIB_KB:.1f} GiB of huge pages are needed on {where}, which has "
            f"{total / GIB_KB:.1f} GiB, allowed: {max(total - kept, 0) / GIB_KB:.1f} GiB, as the "
            f"system keeps {kept / GIB_KB:.1f} GiB: plan fewer groups, or more memory"
        )


def enough_memory(files: Files, planned: Sequence[Pages]) -> None:
    """Raises MistakeError: a node has less, or the system would have too little beside the pages,
    of which those of other sizes, and those of nodes without groups, count too. Pages that are
    there already are not refused."""
    nodes: list[int | None] = [int(name[4:]) for name in files.names(NODES, r"node[0-9]{1,4}")]
    more = {one.node for one in planned if files.count(one.file) < one.count}
    everywhere = 0
    for node in nodes or [None]:
        total, wanted = meminfo_kb(files, node), pools_kb(files, node, planned)
        everywhere += wanted
        if total and node in more:
            where = "the machine" if node is None else f"node {node}"
            refuse_pages(wanted, where, total, int(SYSTEM_SHARE * total))
    machine = meminfo_kb(files, None)
    if machine and more:
        refuse_pages(everywhere, "the machine", machine, SYSTEM_KB)


def kernel_arguments(
    files: Files, cores: Cores, pages: Sequence[Pages]
) -> tuple[list[str], list[str]]:
    """For cores and pages, and what is in their way."""
    stands = arguments.standing(files, loader(files))
    words, notes = arguments.isolation(files, stands, cores.isolated)
    for_pages, more = arguments.for_pages(files, stands, pages)
    return [*words, *for_pages], [*notes, *more]


def page_notes(files: Files, planned: Sequence[Pages]) -> list[str]:
    """Pages that were there count as there: vcmtsd's own may be those that are in use."""
    notes = []
    ours = host_journal.applied(files)
    for one in planned:
        there = number(files.text(one.file))
        free = number(files.text(one.file.replace("nr_hugepages", "free_hugepages")))
        if ("value", one.file) in ours or not isinstance(there, int) or not isinstance(free, int):
            continue
        if free < there:
            notes.append(
                f"{there - free} of {there} huge pages are in use (/{one.file}): they count as "
                "there; where they are not vcmtsd's, so many more are needed"
            )
    return notes


def in_order(words: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in order if word in words)


def applied_notes(files: Files) -> list[str]:
    try:
        count = len(host_journal.read(System(files)).open_entries())
    except PermissionError:
        return ["a plan may be applied here, which root alone can read: plan as root"]
    if not count:
        return []
    return [
        f"a plan is applied here ({count} changes): `vcmts host undo` takes it back before another "
        "one is applied"
    ]


def planned_card(files: Files, candidate: Candidate, mtu: int, named: Sequence[str]) -> PlannedCard:
    card = candidate.card
    functions = tuple(function(candidate, at, port) for at, port in enumerate(candidate.taken))
    made = 0 if candidate.whole else card.functions or len(functions)
    ours = host_journal.made_cards(files)
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
        bind=not card.beside_kernel,
        named=card.address in named,
        mtu=mtu,
    )


def facts_of(files: Files, machine: Machine) -> Facts:
    return Facts(
        cores=tuple(
            (core.number, core.socket, core.node, core.siblings) for core in machine.cores.values()
        ),
        loader=loader(files),
    )


def near(found: Sequence[Candidate]) -> int | None:
    """The node of the best cards."""
    nodes = [one.card.node for one in found if not one.whole] or [one.card.node for one in found]
    return next((node for node in nodes if node is not None), None)


def card_notes(files: Files, nodes: Sequence[int], found: Sequence[Candidate]) -> list[str]:
    notes = []
    taken = [one for one in found if one.taken]
    far = {one.card.address for one in taken if one.card.node not in (None, *nodes)}
    if far:
        notes.append(f"on another NUMA node than the cores: {', '.join(sorted(far))}")
    ours = host_journal.made_cards(files)
    for one in taken:
        if one.card.functions and not one.whole and one.card.address not in ours:
            notes.append(
                f"{one.card.address} has {one.card.functions} functions, which are used as they "
                f"are: {len(one.places)} of them are free; who made them makes them at each start, "
                "before vcmts-host.service, and gives the card its MTU"
            )
    return notes


def notes_of(
    files: Files, wish: Wish, cores: Cores, found: Sequence[Candidate], plan: Plan
) -> list[str]:
    notes = applied_notes(files)
    if not found:
        notes.append("no card is free for the data plane: its ports are memif or the kernel's")
    if not cores.layout:
        notes.append(
            f"no layout has room for {len(wish.groups)} service groups: several are on one core"
        )
    if not cores.isolated:
        notes.append("too few cores to isolate any")
    if set(plan.arguments) - set(arguments.running(files)) and not plan.facts.loader:
        notes.append(
            "no boot loader is known here: add the kernel's arguments by hand, and start anew"
        )
    if plan.cards and not plan.iommu and not plan.no_iommu:
        again = "the functions are bound after the restart that the kernel's arguments take"
        if "hypervisor" in files.fields("proc/cpuinfo").get("flags", "").split():
            again += "; a virtual machine without an IOMMU of its own takes --no-iommu"
        notes.append(f"no IOMMU works now: {again}")
    return [*notes, *card_notes(files, cores.nodes, found)]


def decide(files: Files, machine: Machine, wish: Wish, options: Options) -> Decided:
    names = guarded(files)
    cards: list[Card] = host_cards.cards(files)
    taken = taken_cards(files, cards, host_journal.applied(files), options.cards)
    reasons = {**taken, **guarded_cards(files, cards, names)}
    among = candidates(files, cards, reasons, options.cards, host_journal.made_cards(files))
    cores = host_cores.cores(machine, wish, near(among))
    if among:
        dealt(wish, dict(zip(wish.groups, cores.nodes, strict=True)), among)
    pages = pages_of(files, options, wish, cores.nodes)
    works = host_cards.iommu(files)
    words, notes = kernel_arguments(files, cores, pages)
    words += arguments.for_iommu(files, no_iommu=options.no_iommu) if among else []
    plan = Plan(
        groups=wish.groups,
        main_core=cores.main,
        polling=cores.polling,
        isolated=cores.isolated,
        pages=pages,
        arguments=in_order(words, arguments.possible(cores.isolated, pages)),
        cards=tuple(
            planned_card(files, one, max(wish.mtu, 1500), options.cards)
            for one in among
            if one.taken
        ),
        iommu=works,
        no_iommu=options.no_iommu and not works,
        facts=facts_of(files, machine),
    )
    if options.no_iommu and works:
        notes.append("an IOMMU works: --no-iommu is not needed, and is left out")
    notes += page_notes(files, pages)
    notes += notes_of(files, wish, cores, among, plan)
    return Decided(plan, wish, cores, names, reasons, tuple(notes))
