# SPDX-License-Identifier: BSD-3-Clause
"""Lists the steps of a plan in the order of application, and validates journal entries."""

import re
from collections.abc import Iterator

import jsonschema

from host.prepare import stored, texts
from host.prepare.card_steps import KINDS as CARD_KINDS
from host.prepare.cards import ADDRESS, DEVICES, VFIO
from host.prepare.journal import Entry
from host.prepare.plan import CMDLINE, GRUB, NO_IOMMU, SIZES_KB, Function, Plan, PlannedCard
from host.prepare.steps import KINDS as FILE_KINDS
from host.prepare.steps import REFRESHED_BY, Step
from host.prepare.stored import record, whole
from host.prepare.system import StepError, System
from vcmts.jsons import Json

KINDS = {**FILE_KINDS, **CARD_KINDS}
REFRESHED = {
    GRUB: "grub",
    texts.UNIT: "systemd",
    texts.DROP_IN: "systemd",
    texts.RULES: "udev",
}


def file_steps(plan: Plan) -> Iterator[Step]:
    for name, text in sorted(texts.plan_files(plan).items()):
        wanted = {"text": text, "mode": 0o644}
        yield Step("file", name, wanted, f"file /{name}", REFRESHED.get(name, ""))
    wanted = {"link": "../vcmts-host.service"}
    yield Step("file", texts.WANTED, wanted, "vcmts-host.service at each start", "systemd")


def argument_steps(system: System, plan: Plan) -> Iterator[Step]:
    """Steps for boot loaders other than grub, whose arguments are in a file of file_steps()."""
    words = list(plan.arguments)
    if not words:
        return
    what = f"kernel arguments {' '.join(words)}"
    if plan.facts.loader == "kernelstub":
        yield Step("options", "kernelstub", dict.fromkeys(words, True), what)
    elif plan.facts.loader == "cmdline":
        path = system.path(CMDLINE)
        present = path.read_bytes().decode("latin-1")
        missing = [word for word in words if word not in present.split()]
        text = " ".join([present.strip(), *missing]) + "\n" if missing else present
        wanted = {"text": text, "mode": path.stat().st_mode & 0o7777}
        yield Step("file", CMDLINE, wanted, what, "kernel-install")


def function_words(one: Function) -> str:
    vlan = f", VLAN {one.vlan}" if one.vlan else ""
    return f"MAC {one.mac}{vlan}" if one.mac else "unchanged"


def own_steps(card: PlannedCard) -> Iterator[Step]:
    """Steps that create the virtual functions of a card."""
    if card.bind:
        yield Step(
            "value",
            f"{DEVICES}/{card.address}/sriov_drivers_autoprobe",
            "0",
            f"{card.address}: no kernel driver for new functions",
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
    """All steps of a plan. Pages of 1 GB need no step: kernel arguments reserve them at boot."""
    found = [*file_steps(plan), *argument_steps(system, plan)]
    found += [
        Step("value", one.file, str(one.count), f"{one.count} huge pages, /{one.file}")
        for one in plan.pages
        if one.size_kb == 2048
    ]
    for card in plan.cards:
        found += card_steps(card)
    return [*found, *binding_steps(plan)]


# ---- validation: undo restores states from the journal, so its entries must be steps of a plan

PAGES = (
    r"sys/(?:kernel/mm|devices/system/node/node[0-9]+)/hugepages/"
    rf"hugepages-(?:{'|'.join(map(str, SIZES_KB))})kB/nr_hugepages"
)
FLAG = {"type": "boolean"}
WORD = {"type": "string"}
FILE = {
    "anyOf": [
        {"type": "null"},
        record(link=WORD),
        {
            **record(text=WORD, mode=whole(0, 0o7777)),
            "properties": {
                "text": WORD,
                "mode": whole(0, 0o7777),
                "owner": {"type": "array", "items": whole(0, 1 << 32), "minItems": 2},
            },
        },
    ]
}
PATHS = {
    "file": "|".join(name.replace(".", r"\.") for name in (*texts.NAMES, CMDLINE)),
    "value": rf"{PAGES}|{DEVICES}/{ADDRESS}/sriov_drivers_autoprobe|{NO_IOMMU}",
    "options": "kernelstub",
    "functions": ADDRESS,
    "interface": ADDRESS,
    "function": rf"{ADDRESS}/[0-9]{{1,4}}",
    "binding": rf"{ADDRESS}(?:/[0-9]{{1,4}})?",
    "module": VFIO,
}
STATES: Json = {
    "file": FILE,
    "value": WORD,
    "options": {"type": "object", "additionalProperties": FLAG},
    "functions": whole(0, 1024),
    "interface": record(mtu=whole(0, 1 << 20), up=FLAG, ipv6=FLAG),
    "function": record(mac=WORD, vlan=whole(0, 4095), check=FLAG, trust=FLAG),
    "binding": record(override=WORD, driver=stored.text(r"[\w.-]{0,64}")),
    "module": FLAG,
}


def check_known(step: Step, entry: Entry) -> None:
    """Raises StepError if no plan could have made this journal entry."""
    if step.kind not in PATHS:
        raise StepError(f"the journal has a step of unknown kind {step.kind}: it was edited")
    state = jsonschema.Draft202012Validator(STATES[step.kind])
    above = [step.target.rpartition("/")[0]]
    while "/" in above[-1]:
        above.append(above[-1].rpartition("/")[0])
    right = re.fullmatch(PATHS[step.kind], step.target) and state.is_valid(entry.before)
    right = right and state.is_valid(step.wanted) and isinstance(step.what, str)
    right = right and step.refresh in ("", *REFRESHED_BY) and isinstance(step.made, bool)
    if not right or not set(entry.made) <= set(above):
        raise StepError(f"the journal has an invalid step: {step.kind} {step.target}")
