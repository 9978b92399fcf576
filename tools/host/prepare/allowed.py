# SPDX-License-Identifier: BSD-3-Clause
"""Whether a plan may be carried out here: its facts are those of the machine, and what it changes
is free."""

from collections.abc import Iterator

from host.prepare import cards as host_cards
from host.prepare.cards import Card
from host.prepare.decide import enough_memory, facts_of
from host.prepare.journal import made_cards
from host.prepare.login import guarded, guarded_cards
from host.prepare.plan import Plan, PlannedCard
from host.prepare.ports import shared, why_not, why_up
from host.prepare.system import System
from vcmts.layout import machine as host_machine
from vcmts.paths import MistakeError


def untouched(system: System) -> dict[str, str]:
    """Cards that must not be changed now, and why."""
    files = system.files
    return guarded_cards(files, host_cards.cards(files), guarded(files))


def functions_planned(system: System, planned: PlannedCard) -> tuple[int, ...]:
    """How many functions a card may have now: those of others are there, ours may be."""
    if planned.others:
        return (planned.made,)
    return (0, planned.made) if planned.address in made_cards(system.files) else (0,)


def card_differences(system: System, planned: PlannedCard, card: Card) -> Iterator[str]:
    name = f"card {planned.address}"
    if (card.vendor, card.device) != (planned.vendor, planned.device):
        yield f"{name} is another model ({card.vendor}:{card.device})"
    elif card.mac and planned.mac and card.mac != planned.mac:
        yield f"{name} has MAC address {card.mac}, planned {planned.mac}"
    elif card.node != planned.node:
        yield f"{name} is on NUMA node {card.node}, planned {planned.node}"
    elif card.most < planned.made:
        yield f"{name} makes {card.most} functions, planned {planned.made}"
    elif card.functions not in functions_planned(system, planned):
        whose = "that are to be there" if planned.others else "of our own (take them away first)"
        yield (
            f"{name} has {card.functions} functions that somebody made, planned {planned.made} "
            f"{whose}"
        )
    elif host_cards.function_addresses(system.files, card, planned.made) != planned.addresses:
        yield f"{name}: its functions have other addresses"
    elif planned.bind is card.beside_kernel:
        yield f"{name}: its driver is another than planned"


def differences(system: System, plan: Plan) -> Iterator[str]:
    """Facts that are not those of the plan."""
    files = system.files
    now = facts_of(files, host_machine.read(files))
    if now.cores != plan.facts.cores:
        yield "cores, sockets, NUMA nodes or siblings are others"
    if now.loader != plan.facts.loader:
        yield f"boot loader {now.loader or 'none'}, planned for {plan.facts.loader or 'none'}"
    if plan.no_iommu and host_cards.iommu(files):
        yield "an IOMMU works, planned without one"
    cards = {card.address: card for card in host_cards.cards(files)}
    for planned in plan.cards:
        if planned.address in cards:
            yield from card_differences(system, planned, cards[planned.address])
        else:
            yield f"card {planned.address} is not there"
    for pages in plan.pages:
        if not files.path(pages.file).is_file():
            yield f"/{pages.file} is not there"


def allowed(system: System, plan: Plan) -> None:
    """Raises MistakeError."""
    found = list(differences(system, plan))
    if found:
        raise MistakeError(f"this machine is not the one of the plan: {found[0]}: plan again")
    enough_memory(system.files, plan.pages)
    never = untouched(system)
    cards = {card.address: card for card in host_cards.cards(system.files)}
    for planned in plan.cards:
        card = cards[planned.address]
        why = why_not(system.files, card, never)
        if planned.bind and not planned.made:
            why = why or shared(system.files, card)
            why = why or ("" if planned.named else why_up(system.files, card))
        if why:
            raise MistakeError(f"card {planned.address} is not touched: {why}")
