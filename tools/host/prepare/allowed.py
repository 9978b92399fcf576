# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether a plan may be applied to this host.

The facts of the plan must match the host, and the devices that it changes must be unused.
"""

from collections.abc import Iterator

from host.prepare import cards as host_cards
from host.prepare.cards import Card
from host.prepare.decide import check_memory, plan_facts
from host.prepare.journal import created_function_cards
from host.prepare.login import guarded, guarded_cards
from host.prepare.plan import Plan, PlannedCard
from host.prepare.ports import exclusion_reason, group_conflict, up_reason
from host.prepare.system import System
from vcmts.layout import machine as host_machine
from vcmts.paths import MistakeError


def guarded_now(system: System) -> dict[str, str]:
    """Cards that must not be changed now, with the reason."""
    files = system.files
    return guarded_cards(files, host_cards.cards(files), guarded(files))


def allowed_function_counts(system: System, planned: PlannedCard) -> tuple[int, ...]:
    """Returns the numbers of virtual functions that a card may have before the plan is applied."""
    if planned.others:
        return (planned.made,)
    return (0, planned.made) if planned.address in created_function_cards(system.files) else (0,)


def card_differences(system: System, planned: PlannedCard, card: Card) -> Iterator[str]:
    name = f"card {planned.address}"
    if (card.vendor, card.device) != (planned.vendor, planned.device):
        yield f"{name} is another model ({card.vendor}:{card.device})"
    elif card.mac and planned.mac and card.mac != planned.mac:
        yield f"{name} has MAC address {card.mac}, planned {planned.mac}"
    elif card.node != planned.node:
        yield f"{name} is on NUMA node {card.node}, planned {planned.node}"
    elif card.max_functions < planned.made:
        yield f"{name} supports {card.max_functions} functions, planned {planned.made}"
    elif card.functions not in allowed_function_counts(system, planned):
        whose = "existing ones" if planned.others else "new ones (remove the existing ones first)"
        yield (f"{name} has {card.functions} virtual functions, planned {planned.made} {whose}")
    elif host_cards.function_addresses(system.files, card, planned.made) != planned.addresses:
        yield f"{name}: addresses of its functions differ from the plan"
    elif planned.bind is card.keeps_kernel_driver:
        yield f"{name}: its driver differs from the plan"


def differences(system: System, plan: Plan) -> Iterator[str]:
    """Yields each difference between the host and the facts of the plan."""
    files = system.files
    now = plan_facts(files, host_machine.read(files))
    if now.cores != plan.facts.cores:
        yield "cores, sockets, NUMA nodes or siblings differ"
    if now.loader != plan.facts.loader:
        yield f"boot loader {now.loader or 'none'}, planned for {plan.facts.loader or 'none'}"
    if plan.no_iommu and host_cards.iommu(files):
        yield "an IOMMU works, planned without one"
    cards = {card.address: card for card in host_cards.cards(files)}
    for planned in plan.cards:
        if planned.address in cards:
            yield from card_differences(system, planned, cards[planned.address])
        else:
            yield f"card {planned.address} does not exist"
    for pages in plan.pages:
        if not files.path(pages.file).is_file():
            yield f"/{pages.file} does not exist"


def check_allowed(system: System, plan: Plan) -> None:
    """Raises MistakeError if the plan must not be applied to this host."""
    found = list(differences(system, plan))
    if found:
        raise MistakeError(f"the plan was made for another host: {found[0]}: plan again")
    check_memory(system.files, plan.pages)
    never = guarded_now(system)
    cards = {card.address: card for card in host_cards.cards(system.files)}
    for planned in plan.cards:
        card = cards[planned.address]
        why = exclusion_reason(system.files, card, never)
        if planned.bind and not planned.made:
            why = why or group_conflict(system.files, card)
            why = why or ("" if planned.named else up_reason(system.files, card))
        if why:
            raise MistakeError(f"card {planned.address} must not be changed: {why}")
