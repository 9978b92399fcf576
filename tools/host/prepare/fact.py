# SPDX-License-Identifier: BSD-3-Clause
"""A fact of a machine with its verdict, and what facts are made from."""

from dataclasses import dataclass

from host.prepare import cards as host_cards
from host.prepare import login
from host.prepare.cards import Card
from host.prepare.ports import why_up
from vcmts.jsons import Json
from vcmts.layout.machine import Machine
from vcmts.system import facts as host_facts
from vcmts.system.files import Files

OK, BETTER, MISSING = "ok", "could be better", "missing"
PLAN = "vcmts host plan, then apply"


@dataclass(frozen=True)
class Row:
    fact: str
    found: str
    verdict: str = OK
    todo: str = ""


@dataclass(frozen=True)
class Machines:
    """A machine as its several readers tell of it."""

    files: Files
    facts: Json
    machine: Machine
    cards: tuple[Card, ...]
    guarded: dict[str, str]

    @property
    def never(self) -> dict[str, str]:
        """What `vcmts host plan` leaves alone unless it is named."""
        up = {card.address: why_up(self.files, card) for card in self.cards}
        found = {address: why for address, why in up.items() if why}
        return {**found, **login.guarded_cards(self.files, self.cards, self.guarded)}


def look(files: Files, machine: Machine) -> Machines:
    cards = tuple(host_cards.cards(files))
    return Machines(files, host_facts.facts(files), machine, cards, login.guarded(files))
