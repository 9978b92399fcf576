# SPDX-License-Identifier: BSD-3-Clause
"""Assigns the ports of service groups to virtual functions or whole cards."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from host.prepare import cards as host_cards
from host.prepare.cards import Card
from host.prepare.login import busy_reason, is_up, processes_using
from host.prepare.plan import Function
from host.prepare.requirements import NETWORK, Port, Requirements
from vcmts.paths import MistakeError
from vcmts.system.files import Files


@dataclass
class Candidate:
    """A card that may have ports."""

    card: Card
    whole: bool  # the card itself is the port
    free_indexes: tuple[int, ...]  # of virtual functions; (0,) for a whole card
    ports: list[Port] = field(default_factory=list)  # assigned, in the order of free_indexes

    @property
    def free(self) -> int:
        return len(self.free_indexes) - len(self.ports)


def generated_mac(card: Card, index: int) -> str:
    """A locally administered MAC address, unique per card and function, equal in each plan."""
    digest = hashlib.sha256(f"{card.mac or card.address} {index}".encode()).digest()
    octets = [digest[0] & 0xFC | 0x02, *digest[1:6]]
    return ":".join(f"{octet:02x}" for octet in octets)


def is_whole(card: Card) -> bool:
    """Whether the card itself is a port: it has no SR-IOV, or no kernel driver."""
    return card.max_functions == 0 or card.driver in ("", host_cards.VFIO)


def group_conflict(files: Files, card: Card) -> str:
    """Returns why a whole card cannot be bound to VFIO; "" if it can."""
    others = host_cards.group_conflicts(files, card)
    if not others:
        return ""
    return f"its IOMMU group also has {', '.join(others)}, with a kernel driver"


def exclusion_reason(files: Files, card: Card, reasons: Mapping[str, str]) -> str:
    """Returns why the data plane cannot have a card; "" if it can."""
    if card.address in reasons:
        return reasons[card.address]
    if card.parent:
        return f"a function of {card.parent}"
    if not (card.vendor and card.device):
        return "its vendor and device are unknown"
    return group_conflict(files, card) if is_whole(card) else ""


def up_reason(files: Files, card: Card) -> str:
    """Returns why a whole card is used only if --cards names it: its interface is up, so a packet
    sniffer may use it. Else ""."""
    if not is_whole(card) or card.keeps_kernel_driver:
        return ""
    up = [name for name in card.interfaces if is_up(files, name)]
    return (
        f"its interface {up[0]} is up, and a program may use it: `--cards {card.address}` "
        "selects it anyway"
        if up
        else ""
    )


def used_cards(
    files: Files,
    cards: Sequence[Card],
    ours: Collection[tuple[str, str]],
    named: Collection[str] = (),
) -> dict[str, str]:
    """Returns whole cards that are in use, with the reason: a process has the card open, or its
    interface is up and the card is not `named`. Cards that applied steps (`ours`) bound are
    free."""
    found = {}
    for card in cards:
        by = processes_using(files, card.address)
        why = f"in use by {', '.join(by)}" if by and is_whole(card) else ""
        if not why and card.address not in named:
            why = up_reason(files, card)
        if why and ("binding", card.address) not in ours:
            found[card.address] = why
    return found


def free_functions(files: Files, card: Card, ours: Collection[str]) -> tuple[int, ...]:
    """Indexes of the unused functions of a card; of all that it supports if it has none yet."""
    if not card.functions or card.address in ours:
        return tuple(range(card.functions or card.max_functions))
    addresses = [host_cards.function_address(files, card.address, n) for n in range(card.functions)]
    return tuple(n for n, one in enumerate(addresses) if one and not busy_reason(files, one))


def candidates(
    files: Files,
    cards: Sequence[Card],
    reasons: Mapping[str, str],
    only: Sequence[str],
    ours: Collection[str] = (),
) -> list[Candidate]:
    """Returns cards that may have ports. `only`: addresses of --cards, empty for all cards.
    `ours`: cards whose functions the applied plan created."""
    found = []
    for card in cards:
        why = exclusion_reason(files, card, reasons)
        if only and card.address not in only:
            continue
        if only and why:
            raise MistakeError(f"--cards {card.address}: it must not be changed: {why}")
        if why:
            continue
        if not is_whole(card):
            indexes = free_functions(files, card, ours)
            if only and not indexes:
                raise MistakeError(f"--cards {card.address}: all its functions are in use")
            found += [Candidate(card, False, indexes)] if indexes else []
        else:
            found.append(Candidate(card, True, (0,)))
    missing = sorted(set(only) - {card.address for card in cards})
    if missing:
        raise MistakeError(f"--cards {missing[0]}: no network card has this PCI address")
    return found


def choose_card(
    port: Port, node: int, among: Sequence[Candidate], other: Candidate | None
) -> Candidate:
    """Prefers cards on the NUMA node of the group's cores, then cards with virtual functions, then
    another card than the `other` port of the group has, then cards with few ports."""
    free = [one for one in among if one.free > 0]
    if not free:
        total = sum(len(one.free_indexes) for one in among)
        raise MistakeError(
            f"the cards have only {total} ports: use fewer groups, `--ports shared`, or more "
            "cards (see `vcmts host check`)"
        )

    def order(one: Candidate) -> tuple[bool, bool, bool, int, str]:
        far = one.card.node not in (None, node)
        return far, one.whole, one is other, len(one.ports), one.card.address

    return min(free, key=order)


def assign_ports(
    requirements: Requirements, nodes: Mapping[int, int], among: Sequence[Candidate]
) -> None:
    """Assigns each port to a card. `nodes`: the NUMA node per group."""
    other: dict[tuple[int, ...], Candidate] = {}
    for port in sorted(requirements.ports, key=lambda port: (port.groups, port.role != NETWORK)):
        one = choose_card(port, nodes[port.groups[0]], among, other.get(port.groups))
        one.ports.append(port)
        other[port.groups] = one


def planned_function(candidate: Candidate, order: int, port: Port) -> Function:
    """The function of the n-th port of a card. Network ports have no spoof check, as they send
    frames from the subscribers' MAC addresses."""
    if candidate.whole and port.vlan:
        raise MistakeError(
            f"--{port.role}-vlan: {candidate.card.address} has no functions to add a VLAN: "
            f"set ports.{port.role}.vlan in the configuration"
        )
    index = candidate.free_indexes[order]
    return Function(
        index=None if candidate.whole else index,
        role=port.role,
        groups=port.groups,
        mac="" if candidate.whole else port.mac or generated_mac(candidate.card, index),
        vlan=0 if candidate.whole else port.vlan,
        check=port.role != NETWORK and not port.several,
        trust=port.several,
    )
