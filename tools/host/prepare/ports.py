# SPDX-License-Identifier: BSD-3-Clause
"""Which port is which function of which card."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from host.prepare import cards as host_cards
from host.prepare.cards import Card
from host.prepare.login import busy, is_up, users
from host.prepare.plan import Function
from host.prepare.wish import NETWORK, Port, Wish
from vcmts.paths import MistakeError
from vcmts.system.files import Files


@dataclass
class Candidate:
    card: Card
    whole: bool
    places: tuple[int, ...]  # indexes of functions that are free; of a card as a whole one
    taken: list[Port] = field(default_factory=list)

    @property
    def free(self) -> int:
        return len(self.places) - len(self.taken)


def made_up(card: Card, index: int) -> str:
    """The same each time, on this card alone: a MAC address of our own making."""
    digest = hashlib.sha256(f"{card.mac or card.address} {index}".encode()).digest()
    octets = [digest[0] & 0xFC | 0x02, *digest[1:6]]
    return ":".join(f"{octet:02x}" for octet in octets)


def is_whole(card: Card) -> bool:
    """It is a port itself: it makes no functions, or no driver of the kernel's has it."""
    return card.most == 0 or card.driver in ("", host_cards.VFIO)


def shared(files: Files, card: Card) -> str:
    """Why a card cannot be bound as a whole; "" where it can be."""
    others = host_cards.beside(files, card)
    if not others:
        return ""
    return f"it cannot be given away without {', '.join(others)}: one group of the IOMMU"


def why_not(files: Files, card: Card, reasons: Mapping[str, str]) -> str:
    """Why a card is not for the data plane; "" where it may be."""
    if card.address in reasons:
        return reasons[card.address]
    if card.parent:
        return f"a function of {card.parent}"
    if not (card.vendor and card.device):
        return "its vendor and device are not told"
    return shared(files, card) if is_whole(card) else ""


def why_up(files: Files, card: Card) -> str:
    """Why a card that is bound as a whole is not taken unasked; "" where it may be: one that is up
    without an address may be a sniffer's."""
    if not is_whole(card) or card.beside_kernel:
        return ""
    up = [name for name in card.interfaces if is_up(files, name)]
    return (
        f"its interface {up[0]} is up, and a program may listen there: `--cards {card.address}` "
        "takes it all the same"
        if up
        else ""
    )


def taken_cards(
    files: Files,
    cards: Sequence[Card],
    ours: Collection[tuple[str, str]],
    named: Collection[str] = (),
) -> dict[str, str]:
    """Cards as a whole that processes have open, or that are up and not `named`, and why that is
    so: but for those that the preparation bound, as those are its data plane's. `ours`: what is
    applied."""
    found = {}
    for card in cards:
        by = users(files, card.address)
        why = f"in use by {', '.join(by)}" if by and is_whole(card) else ""
        if not why and card.address not in named:
            why = why_up(files, card)
        if why and ("binding", card.address) not in ours:
            found[card.address] = why
    return found


def free_functions(files: Files, card: Card, ours: Collection[str]) -> tuple[int, ...]:
    """Indexes: of those that it has, those that nobody uses; else of all that it can have."""
    if not card.functions or card.address in ours:
        return tuple(range(card.functions or card.most))
    addresses = [host_cards.function_address(files, card.address, n) for n in range(card.functions)]
    return tuple(n for n, one in enumerate(addresses) if one and not busy(files, one))


def candidates(
    files: Files,
    cards: Sequence[Card],
    reasons: Mapping[str, str],
    only: Sequence[str],
    ours: Collection[str] = (),
) -> list[Candidate]:
    """`ours`: cards whose functions are of the preparation that is applied."""
    found = []
    for card in cards:
        why = why_not(files, card, reasons)
        if only and card.address not in only:
            continue
        if only and why:
            raise MistakeError(f"--cards {card.address}: it is not touched: {why}")
        if why:
            continue
        if not is_whole(card):
            places = free_functions(files, card, ours)
            if only and not places:
                raise MistakeError(f"--cards {card.address}: all its functions are in use")
            found += [Candidate(card, False, places)] if places else []
        else:
            found.append(Candidate(card, True, (0,)))
    missing = sorted(set(only) - {card.address for card in cards})
    if missing:
        raise MistakeError(f"--cards {missing[0]}: no network card has this PCI address")
    return found


def choose(
    port: Port, node: int, among: Sequence[Candidate], beside: Candidate | None
) -> Candidate:
    """Near the group's cores, with functions, with few ports yet; and not the card of the other
    port of the group, where another one is as near."""
    free = [one for one in among if one.free > 0]
    if not free:
        places = sum(len(one.places) for one in among)
        raise MistakeError(
            f"the cards have {places} places for ports, which are too few: fewer "
            "groups, `--ports shared`, or more cards (see `vcmts host check`)"
        )

    def rank(one: Candidate) -> tuple[bool, bool, bool, int, str]:
        far = one.card.node not in (None, node)
        return far, one.whole, one is beside, len(one.taken), one.card.address

    return min(free, key=rank)


def dealt(wish: Wish, nodes: Mapping[int, int], among: Sequence[Candidate]) -> None:
    """Gives each port a place; the two of a group one after the other."""
    beside: dict[tuple[int, ...], Candidate] = {}
    for port in sorted(wish.ports, key=lambda port: (port.groups, port.role != NETWORK)):
        one = choose(port, nodes[port.groups[0]], among, beside.get(port.groups))
        one.taken.append(port)
        beside[port.groups] = one


def function(candidate: Candidate, turn: int, port: Port) -> Function:
    """The n-th that is taken. The network's frames have the subscribers' addresses: a card that
    checks would drop them."""
    if candidate.whole and port.vlan:
        raise MistakeError(
            f"--{port.role}-vlan: {candidate.card.address} makes no functions to put a VLAN on: "
            f"say ports.{port.role}.vlan in the file"
        )
    index = candidate.places[turn]
    return Function(
        index=None if candidate.whole else index,
        role=port.role,
        groups=port.groups,
        mac="" if candidate.whole else port.mac or made_up(candidate.card, index),
        vlan=0 if candidate.whole else port.vlan,
        check=port.role != NETWORK and not port.several,
        trust=port.several,
    )
