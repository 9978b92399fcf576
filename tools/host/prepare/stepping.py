# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a plan, in the order in which they are made; undone in the reverse one."""

from collections.abc import Iterator

from host.prepare import texts
from host.prepare.card_steps import KINDS as CARD_KINDS
from host.prepare.cards import DEVICES, VFIO
from host.prepare.plan import CMDLINE, GRUB, NO_IOMMU, Function, Plan, PlannedCard
from host.prepare.steps import KINDS as FILE_KINDS
from host.prepare.steps import Step
from host.prepare.system import System

KINDS = {**FILE_KINDS, **CARD_KINDS}
REFRESHED = {
    GRUB: "grub",
    texts.UNIT: "systemd",
    texts.DROP_IN: "systemd",
    texts.RULES: "udev",
}


def file_steps(plan: Plan) -> Iterator[Step]:
    for name, text in sorted(texts.files_of(plan).items()):
        wanted = {"text": text, "mode": 0o644}
        yield Step("file", name, wanted, f"file /{name}", REFRESHED.get(name, ""))
    wanted = {"link": "../vcmts-host.service"}
    yield Step("file", texts.WANTED, wanted, "vcmts-host.service at each start", "systemd")


def argument_steps(system: System, plan: Plan) -> Iterator[Step]:
    """Of loaders that keep them in a file of their own; grub's is a drop-in."""
    words = list(plan.arguments)
    if not words:
        return
    what = f"kernel arguments {' '.join(words)}"
    if plan.facts.loader == "kernelstub":
        yield Step("options", "kernelstub", dict.fromkeys(words, True), what)
    elif plan.facts.loader == "cmdline":
        path = system.path(CMDLINE)
        there = path.read_bytes().decode("latin-1")
        missing = [word for word in words if word not in there.split()]
        text = " ".join([there.strip(), *missing]) + "\n" if missing else there
        wanted = {"text": text, "mode": path.stat().st_mode & 0o7777}
        yield Step("file", CMDLINE, wanted, what, "kernel-install")


def function_words(one: Function) -> str:
    vlan = f", VLAN {one.vlan}" if one.vlan else ""
    return f"MAC {one.mac}{vlan}" if one.mac else "as it is"


def own_steps(card: PlannedCard) -> Iterator[Step]:
    """A card that has none yet is given functions, and is ours."""
    place = f"{DEVICES}/{card.address}"
    if card.bind:
        yield Step(
            "value",
            f"{place}/sriov_drivers_autoprobe",
            "0",
            f"{card.address}: the kernel drives no new functions",
        )
    yield Step("functions", card.address, card.made, f"{card.address}: {card.made} functions")
    wanted = {"mtu": card.mtu, "up": True, "ipv6": False}
    yield Step("interface", card.address, wanted, f"{card.address}: up, MTU {card.mtu}")


def card_steps(card: PlannedCard) -> Iterator[Step]:
    if not card.made:
        return
    if not card.others:
        yield from own_steps(card)
    for one in card.functions:
        yield Step(
            "function",
            f"{card.address}/{one.index}",
            {"mac": one.mac, "vlan": one.vlan, "check": one.check, "trust": one.trust},
            f"{card.address}, function {one.index}: {function_words(one)}",
        )


def binding_steps(plan: Plan) -> Iterator[Step]:
    if plan.uses_vfio:
        yield Step("module", VFIO, True, f"driver {VFIO}")
    if plan.no_iommu and plan.uses_vfio:
        yield Step("value", NO_IOMMU, "Y", "VFIO without an IOMMU")
    for card in plan.cards:
        for one in card.functions if card.bind else ():
            target = card.address if one.index is None else f"{card.address}/{one.index}"
            wanted = {"override": VFIO, "driver": VFIO}
            yield Step("binding", target, wanted, f"{target.replace('/', ', function ')}: {VFIO}")


def steps(system: System, plan: Plan) -> list[Step]:
    """Pages of 1 GB come with the restart."""
    found = [*file_steps(plan), *argument_steps(system, plan)]
    found += [
        Step("value", one.file, str(one.count), f"{one.count} huge pages, /{one.file}")
        for one in plan.pages
        if one.size_kb == 2048
    ]
    for card in plan.cards:
        found += card_steps(card)
    return [*found, *binding_steps(plan)]
