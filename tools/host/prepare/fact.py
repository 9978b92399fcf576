# SPDX-License-Identifier: BSD-3-Clause
"""A finding of `vcmts host check`, and the inspection of the host that findings are made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from host.prepare import cards as host_cards
from host.prepare import login
from host.prepare.cards import Card
from host.prepare.ports import up_reason
from vcmts.jsons import Json
from vcmts.layout.machine import Machine
from vcmts.system import facts as host_facts
from vcmts.system.files import NOT_KNOWN, Files

OK, BETTER, MISSING = "ok", "could be better", "missing"
PLAN = "vcmts host plan, then apply"


@dataclass(frozen=True)
class Finding:
    fact: str
    found: str
    verdict: str = OK
    todo: str = ""
    unknown: tuple[str, ...] = ()  # what this host does not tell; the last finding lists it


def only_known(fact: str, words: Sequence[tuple[str, object]], **others: str) -> Finding:
    """A finding of named values, without those that are NOT_KNOWN; the name of the fact itself is
    not repeated, and "" names a value that is always known. `others`: verdict and todo."""
    found = [
        str(value) if name in ("", fact) else f"{name} {value}"
        for name, value in words
        if value != NOT_KNOWN
    ]
    unknown = tuple(name for name, value in words if value == NOT_KNOWN)
    return Finding(fact, ", ".join(found), **others, unknown=unknown)


def unknown_last(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that say something, then one with everything that is not known."""
    names = [name for one in findings for name in one.unknown]
    last = [Finding(NOT_KNOWN, ", ".join(names))] if names else []
    return [one for one in findings if one.found] + last


@dataclass(frozen=True)
class Inspection:
    """Everything that was read of a host."""

    files: Files
    facts: Json
    machine: Machine
    cards: tuple[Card, ...]
    guarded: dict[str, str]  # interfaces that must not be changed, with the reason

    @property
    def never(self) -> dict[str, str]:
        """Cards that `vcmts host plan` does not choose, with the reason. --cards may name those of
        up_reason() only."""
        up = {card.address: up_reason(self.files, card) for card in self.cards}
        found = {address: why for address, why in up.items() if why}
        return {**found, **login.guarded_cards(self.files, self.cards, self.guarded)}


def inspect_machine(files: Files, machine: Machine) -> Inspection:
    cards = tuple(host_cards.cards(files))
    return Inspection(files, host_facts.facts(files), machine, cards, login.guarded(files))
