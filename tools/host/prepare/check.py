# SPDX-License-Identifier: BSD-3-Clause
"""The findings of `vcmts host check`: facts of the host, each with a verdict and advice."""

from collections.abc import Iterator

from host.prepare import cards as host_cards
from host.prepare import journal as host_journal
from host.prepare import kubelet
from host.prepare.cards import Card
from host.prepare.decide import loader
from host.prepare.fact import (
    BETTER,
    MISSING,
    OK,
    PLAN,
    Finding,
    Inspection,
    only_known,
    unknown_last,
)
from host.prepare.hardware import accelerators, card_firmware, firmware, page_sizes, speeds
from host.prepare.ports import exclusion_reason
from host.prepare.system import System
from vcmts.jsons import Json
from vcmts.layout import propose
from vcmts.layout.machine import cpu_list
from vcmts.system.files import NOT_KNOWN


def model(facts: Json) -> str:
    """The processor's name and its numbers of sockets, cores and threads, as far as known."""
    counts = [
        f"{facts[key]} {what}{'s' * (facts[key] != 1)}"
        for key, what in (("sockets", "socket"), ("cores", "core"), ("cpus", "thread"))
        if facts[key] != NOT_KNOWN
    ]
    name = [str(facts["cpu"])] if facts["cpu"] != NOT_KNOWN else []
    return "; ".join([*name, *([", ".join(counts)] if counts else [])]) or NOT_KNOWN


def processor(m: Inspection) -> Iterator[Finding]:
    facts = m.facts
    yield only_known("processor", [("processor", model(facts))])
    isa = facts["isa"] if isinstance(facts["isa"], dict) else {}
    lacking = [name for name in ("aes", "pclmulqdq", "avx2") if isa and not isa[name]]
    fast = [name for name in ("avx512f", "vaes", "vpclmulqdq") if isa and not isa[name]]
    if lacking:
        yield Finding(
            "instructions",
            f"without {', '.join(lacking)}",
            MISSING,
            "use another processor, or let the virtual machine have the instructions of its host",
        )
    elif isa:
        found = f"without {', '.join(fast)}" if fast else "AES, AVX-512 and their vectors"
        yield Finding(
            "instructions", found, BETTER if fast else OK, "encryption is slower" * bool(fast)
        )
    smt = {
        "on": "two threads per core",
        "off": "off",
        "forceoff": "off, for good",
        "notsupported": "none",
    }
    yield only_known("hyper-threads", [("hyper-threads", smt.get(facts["smt"], facts["smt"]))])


def nodes(m: Inspection) -> Iterator[Finding]:
    found = {core.node for core in m.machine.cores.values()} - {None}
    listed = [
        f"node {node}: cores {cpu_list(n for n, c in m.machine.cores.items() if c.node == node)}"
        for node in sorted(n for n in found if n is not None)
    ]
    sockets = {core.socket for core in m.machine.cores.values()} - {None}
    split = f"; {len(found)} nodes on {len(sockets)} sockets" if len(found) > len(sockets) else ""
    yield Finding("NUMA", ("; ".join(listed) or "one memory") + split)


def core_capacity(m: Inspection, groups: int) -> Iterator[Finding]:
    if not m.machine.usable:
        yield Finding("cores", "none is listed", MISSING, "mount /sys and /proc")
        return
    fits = propose.fits(m.machine, [True] * groups, None)
    layout = next((fit.layout.name for fit in fits if fit.groups >= groups), "")
    what = f"cores for {groups} service group{'s' * (groups > 1)}"
    if layout:
        yield Finding(what, f"layout {layout}")
    elif len(m.machine.usable) > 1:
        yield Finding(what, "several groups per core", BETTER, "use fewer groups or more cores")
    else:
        yield Finding(what, "one core for everything", BETTER, "use more cores")


def isolation(m: Inspection) -> Iterator[Finding]:
    isolated = sorted(m.machine.isolated())
    ticks = [n for n in isolated if not m.machine.core(n).tickless]
    if not isolated:
        yield Finding("isolated cores", "none: other programs may run on any core", BETTER, PLAN)
    elif ticks:
        text = f"{cpu_list(isolated)}, but the timer tick interrupts {cpu_list(ticks)}"
        yield Finding("isolated cores", text, BETTER, f"add nohz_full={cpu_list(ticks)}")
    else:
        yield Finding("isolated cores", f"{cpu_list(isolated)}, without ticks")


def memory(m: Inspection) -> Iterator[Finding]:
    pools = m.facts["memory"]["huge_page_pools"]
    allocated = (
        [pool for pool in pools if pool["total"] not in (0, NOT_KNOWN)]
        if isinstance(pools, list)
        else []
    )
    listed = [f"{p['total']} of {p['size_kb']} kB, {p['free']} free" for p in allocated]
    cards = any(not m.never.get(card.address) for card in m.cards)
    if listed:
        free = any(isinstance(p["free"], int) and p["free"] for p in allocated)
        todo = "" if free else "all are in use: plan more, unless vcmtsd uses these"
        text = "; ".join(listed)
        yield Finding("huge pages", text, OK if free else BETTER, todo)
    else:
        verdict = MISSING if cards else BETTER
        yield Finding("huge pages", "none", verdict, PLAN)
    name = "transparent huge pages"
    yield only_known(name, [(name, m.facts["kernel"]["transparent_huge_pages"])])


def iommu(m: Inspection) -> Iterator[Finding]:
    wanted = any(not exclusion_reason(m.files, card, m.never) for card in m.cards)
    groups = host_cards.iommu_groups(m.files)
    if groups:
        yield Finding("IOMMU", f"{len(groups)} groups")
    else:
        todo = f"enable VT-d or AMD-Vi in the firmware, then {PLAN}; in a VM: plan --no-iommu"
        yield Finding("IOMMU", "none", MISSING if wanted else OK, todo if wanted else "")
    loaded = m.files.path("sys/bus/pci/drivers/vfio-pci").is_dir()
    yield Finding("vfio-pci", "loaded" if loaded else "not loaded (apply loads it)")


def card_words(m: Inspection, card: Card) -> str:
    words = [", ".join(card.interfaces) or "no interface", card.driver or "no driver"]
    words += [f"{card.speed // 1000}G"] if card.speed and card.speed >= 1000 else []
    words += [f"node {card.node}"] if card.node is not None else []
    words += [f"{card.functions} of {card.max_functions} functions"] if card.max_functions else []
    found = card_firmware(m.files, card)
    words += [f"firmware {found}"] if found else []
    return f"{card.vendor}:{card.device} {', '.join(words)}"


def cards(m: Inspection) -> Iterator[Finding]:
    free = 0
    for card in m.cards:
        if card.parent:
            continue
        why = exclusion_reason(m.files, card, m.never)
        free += not why
        yield Finding(
            f"card {card.address}",
            card_words(m, card) + (f"; not planned: {why}" if why else "; free"),
        )
    if not free:
        todo = "use memif or kernel interfaces as ports, or add a card"
        yield Finding("cards for the data plane", "none is free", BETTER, todo)


def clock(m: Inspection) -> Iterator[Finding]:
    frequency = m.facts["frequency"]
    governor = frequency["governor"]
    slow = governor not in ("performance", NOT_KNOWN)
    words = [("governor", governor), ("frequency driver", frequency["driver"])]
    words += [("turbo", frequency["turbo"])]
    todo = "for stable results: cpupower frequency-set -g performance"
    yield only_known(
        "clock policy", words, verdict=BETTER if slow else OK, todo=todo if slow else ""
    )
    source = frequency["clocksource"]
    bad = source not in ("tsc", NOT_KNOWN)
    todo = "use a host with an invariant TSC" if bad else ""
    yield only_known(
        "clock source", [("clock source", source)], verdict=BETTER if bad else OK, todo=todo
    )


def operator(m: Inspection) -> Iterator[Finding]:
    listed = [f"{name} ({why})" for name, why in sorted(m.guarded.items())]
    yield Finding("never changed", "; ".join(listed) or "no interface has an address")


def boot(m: Inspection) -> Iterator[Finding]:
    found = loader(m.files)
    todo = "add the kernel arguments by hand"
    yield Finding(
        "boot loader", found or "none that is known", OK if found else BETTER, "" if found else todo
    )


def applied(m: Inspection) -> Iterator[Finding]:
    try:
        found = host_journal.read(System(m.files))
    except PermissionError:
        yield Finding("preparation", "only root can read it: sudo vcmts host check")
        return
    count = len(found.open_entries())
    broken = sum(not (entry.done or entry.later) for entry in found.open_entries())
    if broken:
        text = f"{count} changes, {broken} of them incomplete"
        yield Finding("preparation", text, MISSING, "apply the plan again, or undo it")
    elif count:
        later = sum(entry.later and not entry.done for entry in found.open_entries())
        pending = f", {later} of them after the next boot" if later else ""
        yield Finding("preparation", f"applied: {count} changes{pending}")
    else:
        yield Finding("preparation", "not applied")


def findings(m: Inspection, groups: int, *, kubernetes: bool = False) -> list[Finding]:
    found = [*processor(m), *nodes(m), *core_capacity(m, groups), *isolation(m), *memory(m)]
    found += [*page_sizes(m), *iommu(m), *cards(m), *operator(m), *accelerators(m), *clock(m)]
    found += [*speeds(m), *firmware(m), *boot(m), *applied(m)]
    found += kubelet.findings(m) if kubernetes else []
    return unknown_last(found)
