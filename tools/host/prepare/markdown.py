# SPDX-License-Identifier: BSD-3-Clause
"""Writes a plan as Markdown for the operator: changes, devices that stay unchanged, next steps."""

from collections.abc import Iterator

from host.prepare import texts
from host.prepare.decide import Decision
from host.prepare.plan import CMDLINE, GRUB, Plan
from host.prepare.requirements import NETWORK
from vcmts.layout.machine import Machine, cpu_list

ROLE_WORDS = {"network": "network", "rphy": "R-PHY"}


def groups_text(groups: tuple[int, ...]) -> str:
    return f"service group{'s' * (len(groups) > 1)} {cpu_list(groups)}"


def core_lines(decided: Decision, machine: Machine) -> Iterator[str]:
    cores = decided.cores
    yield "## Cores"
    yield ""
    layout = cores.layout or "none fits; several groups share a core"
    yield f"Layout {layout}. Management on core {cores.main}. Polling, by NUMA node:"
    yield ""
    yield "| node | polling cores | their siblings | isolated |"
    yield "| --- | --- | --- | --- |"
    for node in sorted({machine.core(n).node or 0 for n in cores.polling}):
        mine = [n for n in cores.polling if (machine.core(n).node or 0) == node]
        siblings = sorted({s for n in mine for s in machine.core(n).siblings})
        isolated = [n for n in cores.isolated if (machine.core(n).node or 0) == node]
        yield f"| {node} | {cpu_list(mine)} | {cpu_list(siblings)} | {cpu_list(isolated)} |"
    if cores.threads:
        yield ""
        yield "In the configuration:"
        yield ""
        yield from (f"    {line}" for line in cores.threads)
    yield ""


def memory_lines(decided: Decision) -> Iterator[str]:
    plan = decided.plan
    yield "## Huge pages"
    yield ""
    yield f"{decided.requirements.memory_mb} MB ({decided.requirements.memory_source}):"
    yield ""
    yield from page_lines(plan)
    yield ""


def page_lines(plan: Plan) -> Iterator[str]:
    for one in plan.pages:
        where = "the machine" if one.node is None else f"node {one.node}"
        yield f"- {where}: {one.count} pages of {one.size_kb // 1024} MB"


def argument_lines(plan: Plan) -> Iterator[str]:
    yield "## Kernel arguments"
    yield ""
    if plan.arguments:
        by_hand = "must be added by hand if missing, as the boot loader is unknown"
        how = {
            "grub": f"are added by /{GRUB}",
            "kernelstub": "are added by kernelstub",
            "cmdline": f"are added by /{CMDLINE}",
        }.get(
            plan.facts.loader,
            by_hand,
        )
        yield f"    {' '.join(plan.arguments)}"
        yield ""
        yield f"They {how}; new ones take effect after a reboot."
    else:
        yield "No arguments are needed beside the present ones."
    yield ""


def card_lines(plan: Plan) -> Iterator[str]:
    yield "## Ports"
    yield ""
    if not plan.cards:
        yield "No card is used."
        yield ""
        return
    yield "| card | node | port | role | groups | MAC | VLAN | driver |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for card in plan.cards:
        for one in card.functions:
            name = "whole card" if one.index is None else f"function {one.index} of {card.made}"
            cells = [
                card.address,
                "" if card.node is None else str(card.node),
                f"{card.port_of(one)}, {name}",
                ROLE_WORDS[one.role],
                groups_text(one.groups),
                one.mac or card.mac,
                str(one.vlan or ""),
                "vfio-pci" if card.bind else "kernel driver, together with DPDK",
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""
    yield "In the configuration:"
    yield ""
    yield from (f"    {line}" for line in port_keys(plan))
    yield ""


def port_keys(plan: Plan) -> Iterator[str]:
    """Configuration keys of each port, with the core's MAC address of R-PHY ports."""
    ports = [(one, card) for card in plan.cards for one in card.functions]
    ports.sort(key=lambda port: (port[0].groups, port[0].role != NETWORK))
    for one, card in ports:
        mac = one.mac or card.mac
        tail = f'; rphy: {{core_mac: "{mac}"}}' if one.role != NETWORK and mac else ""
        device = f'ports: {{{one.role}: {{device: "{card.port_of(one)}"}}}}'
        yield f"{groups_text(one.groups)}: {device}{tail}"


def guard_lines(decided: Decision) -> Iterator[str]:
    yield "## Never changed"
    yield ""
    for name, why in sorted(decided.guarded.items()):
        yield f"- interface {name}: {why}"
    for address, why in sorted(decided.cards.items()):
        yield f"- card {address}: {why}"
    if not decided.guarded and not decided.cards:
        yield "No interface is up and has an address."
    yield ""


def file_lines(plan: Plan) -> Iterator[str]:
    yield "## Files that apply installs"
    yield ""
    yield from (f"- /{name}" for name in sorted(texts.plan_files(plan)))


def matches(plan: Plan, text: str) -> bool:
    """Whether the text has the plan's pages, arguments, ports and files."""
    parts = (page_lines(plan), argument_lines(plan), card_lines(plan), file_lines(plan))
    return all("\n".join(["", *part]).rstrip() + "\n" in text for part in parts)


WRITTEN = (
    "Written by `vcmts host plan`. `vcmts host apply` reads the same plan from",
    "`plan.json` and installs the files of `files/`.",
)
PRINTED = (
    "Nothing was written or changed. `vcmts host plan -o FOLDER` writes this text",
    "and the files into a folder, and `vcmts host apply FOLDER` makes the changes.",
)


def plan_text(decided: Decision, machine: Machine, *, written: bool) -> str:
    """The plan in words. `written`: to a folder, with the files for `apply`."""
    plan = decided.plan
    head = f"# Host plan for {groups_text(plan.groups)}"
    lines = [head, "", *(WRITTEN if written else PRINTED), ""]
    if decided.notes:
        lines += ["## Notes", "", *(f"- {note}" for note in decided.notes), ""]
    lines += [*core_lines(decided, machine), *memory_lines(decided), *argument_lines(plan)]
    lines += [*card_lines(plan), *guard_lines(decided), *file_lines(plan)]
    return "\n".join(lines) + "\n"
