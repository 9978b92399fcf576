# SPDX-License-Identifier: BSD-3-Clause
"""What a machine is, fact by fact, each with a verdict and what to do next."""

from collections.abc import Iterator

from host.prepare import cards as host_cards
from host.prepare import journal as host_journal
from host.prepare import kubelet
from host.prepare.cards import Card
from host.prepare.decide import loader
from host.prepare.fact import BETTER, MISSING, OK, PLAN, Machines, Row
from host.prepare.hardware import accelerators, card_firmware, firmware, page_sizes, speeds
from host.prepare.ports import why_not
from host.prepare.system import System
from vcmts.layout import propose
from vcmts.layout.machine import written
from vcmts.system.files import NOT_KNOWN


def processor(m: Machines) -> Iterator[Row]:
    facts = m.facts
    counts = [
        f"{facts[key]} {what}{'s' * (facts[key] != 1)}"
        for key, what in (("sockets", "socket"), ("cores", "core"), ("cpus", "thread"))
    ]
    yield Row("processor", f"{facts['cpu']}; {', '.join(counts)}")
    isa = facts["isa"] if isinstance(facts["isa"], dict) else {}
    lacking = [name for name in ("aes", "pclmulqdq", "avx2") if isa and not isa[name]]
    fast = [name for name in ("avx512f", "vaes", "vpclmulqdq") if isa and not isa[name]]
    if lacking:
        yield Row(
            "instructions",
            f"without {', '.join(lacking)}",
            MISSING,
            "another processor, or a virtual machine that passes on what the host's has",
        )
    elif isa:
        found = f"without {', '.join(fast)}" if fast else "AES, AVX-512 and their vectors"
        yield Row(
            "instructions", found, BETTER if fast else OK, "encryption is slower" * bool(fast)
        )
    smt = {
        "on": "two threads per core",
        "off": "off",
        "forceoff": "off, for good",
        "notsupported": "none",
    }
    yield Row("hyper-threads", smt.get(facts["smt"], str(facts["smt"])))


def nodes(m: Machines) -> Iterator[Row]:
    found = {core.node for core in m.machine.cores.values()} - {None}
    listed = [
        f"node {node}: cores {written(n for n, c in m.machine.cores.items() if c.node == node)}"
        for node in sorted(n for n in found if n is not None)
    ]
    sockets = {core.socket for core in m.machine.cores.values()} - {None}
    split = f"; {len(found)} nodes on {len(sockets)} sockets" if len(found) > len(sockets) else ""
    yield Row("NUMA", ("; ".join(listed) or "one memory") + split)


def room(m: Machines, groups: int) -> Iterator[Row]:
    if not m.machine.usable:
        yield Row("cores", "none is told of", MISSING, "mount /sys and /proc")
        return
    fits = propose.fits(m.machine, [True] * groups, None)
    layout = next((fit.layout.name for fit in fits if fit.groups >= groups), "")
    what = f"cores for {groups} service group{'s' * (groups > 1)}"
    if layout:
        yield Row(what, f"layout {layout}")
    elif len(m.machine.usable) > 1:
        yield Row(what, "several on one core", BETTER, "fewer groups, or more cores")
    else:
        yield Row(what, "one core for everything", BETTER, "more cores")


def isolation(m: Machines) -> Iterator[Row]:
    isolated = sorted(m.machine.isolated())
    ticks = [n for n in isolated if not m.machine.core(n).tickless]
    if not isolated:
        yield Row("isolated cores", "none: the system runs elsewhere by chance", BETTER, PLAN)
    elif ticks:
        text = f"{written(isolated)}, but the clock interrupts {written(ticks)}"
        yield Row("isolated cores", text, BETTER, f"nohz_full={written(ticks)} as well")
    else:
        yield Row("isolated cores", f"{written(isolated)}, without ticks")


def memory(m: Machines) -> Iterator[Row]:
    pools = m.facts["memory"]["huge_page_pools"]
    there = (
        [pool for pool in pools if pool["total"] not in (0, NOT_KNOWN)]
        if isinstance(pools, list)
        else []
    )
    listed = [f"{p['total']} of {p['size_kb']} kB, {p['free']} free" for p in there]
    cards = any(not m.never.get(card.address) for card in m.cards)
    if listed:
        free = any(isinstance(p["free"], int) and p["free"] for p in there)
        text, todo = "; ".join(listed), "" if free else "all are in use: by vcmtsd, or plan more"
        yield Row("huge pages", text, OK if free else BETTER, todo)
    else:
        verdict = MISSING if cards else BETTER
        yield Row("huge pages", "none", verdict, PLAN)
    yield Row("transparent huge pages", str(m.facts["kernel"]["transparent_huge_pages"]))


def iommu(m: Machines) -> Iterator[Row]:
    wanted = any(not why_not(m.files, card, m.never) for card in m.cards)
    groups = host_cards.iommu_groups(m.files)
    if groups:
        yield Row("IOMMU", f"{len(groups)} groups")
    else:
        todo = f"VT-d or AMD-Vi in the firmware, {PLAN}; in a virtual machine plan --no-iommu"
        yield Row("IOMMU", "none", MISSING if wanted else OK, todo if wanted else "")
    loaded = m.files.path("sys/bus/pci/drivers/vfio-pci").is_dir()
    yield Row("vfio-pci", "loaded" if loaded else "not loaded (apply loads it)")


def card_words(m: Machines, card: Card) -> str:
    words = [", ".join(card.interfaces) or "no interface", card.driver or "no driver"]
    words += [f"{card.speed // 1000}G"] if card.speed and card.speed >= 1000 else []
    words += [f"node {card.node}"] if card.node is not None else []
    words += [f"{card.functions} of {card.most} functions"] if card.most else []
    found = card_firmware(m.files, card)
    words += [f"firmware {found}"] if found else []
    return f"{card.vendor}:{card.device} {', '.join(words)}"


def cards(m: Machines) -> Iterator[Row]:
    free = 0
    for card in m.cards:
        if card.parent:
            continue
        why = why_not(m.files, card, m.never)
        free += not why
        yield Row(
            f"card {card.address}",
            card_words(m, card) + (f"; not planned: {why}" if why else "; free"),
        )
    if not free:
        todo = "memif or the kernel's interfaces as ports, or a card more"
        yield Row("cards for the data plane", "none is free", BETTER, todo)


def clock(m: Machines) -> Iterator[Row]:
    frequency = m.facts["frequency"]
    governor = frequency["governor"]
    slow = governor not in ("performance", NOT_KNOWN)
    words = f"governor {governor}, driver {frequency['driver']}, turbo {frequency['turbo']}"
    todo = "performance for steady figures: cpupower frequency-set -g performance"
    yield Row("clock policy", words, BETTER if slow else OK, todo if slow else "")
    source = frequency["clocksource"]
    bad = source not in ("tsc", NOT_KNOWN)
    yield Row("clock source", str(source), BETTER if bad else OK, "a TSC that is steady" * bad)


def operator(m: Machines) -> Iterator[Row]:
    listed = [f"{name} ({why})" for name, why in sorted(m.guarded.items())]
    yield Row("never touched", "; ".join(listed) or "no interface has an address")


def boot(m: Machines) -> Iterator[Row]:
    found = loader(m.files)
    todo = "kernel arguments are then added by hand"
    yield Row(
        "boot loader", found or "none that is known", OK if found else BETTER, "" if found else todo
    )


def applied(m: Machines) -> Iterator[Row]:
    try:
        found = host_journal.read(System(m.files))
    except PermissionError:
        yield Row("preparation", "root alone can read it: sudo vcmts host check")
        return
    count = len(found.open_entries())
    broken = sum(not (entry.done or entry.later) for entry in found.open_entries())
    if broken:
        text = f"{count} changes, {broken} of them not finished"
        yield Row("preparation", text, MISSING, "apply the plan again, or undo")
    elif count:
        later = sum(entry.later and not entry.done for entry in found.open_entries())
        waits = f", {later} of them at the next start" if later else ""
        yield Row("preparation", f"applied: {count} changes{waits} (undo takes them back)")
    else:
        yield Row("preparation", "none is applied")


def rows(m: Machines, groups: int, *, kubernetes: bool = False) -> list[Row]:
    found = [*processor(m), *nodes(m), *room(m, groups), *isolation(m), *memory(m)]
    found += [*page_sizes(m), *iommu(m), *cards(m), *operator(m), *accelerators(m), *clock(m)]
    found += [*speeds(m), *firmware(m), *boot(m), *applied(m)]
    return [*found, *kubelet.rows(m)] if kubernetes else found
