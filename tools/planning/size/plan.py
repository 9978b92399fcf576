# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: how many service groups a server carries, and how many servers that takes.

A server's cores are one pool. Servers are filled in the order of the request, each until the next
service group does not fit (next fit): smaller demands then never take more servers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.size.load import Question, Usage, network_mpps, usage
from vcmts.paths import MistakeError


def crypto_limit(question: Question) -> float | None:
    """Gbps of the crypto devices of a server's sockets."""
    server = question.server
    return None if server.crypto_gbps is None else server.crypto_gbps * server.sockets


def violated(question: Question, used: Usage) -> list[str]:
    """The limits that are passed: what bounds the answer."""
    server = question.server
    limits: list[tuple[str, float, float | None]] = [
        ("cores", used.cores, server.sockets * server.cores),
        ("memory", used.memory_gib, server.memory_gib),
        ("ports", used.ports, server.ports),
        ("slots", used.cards + used.crypto_cards, server.slots),
        ("interfaces", used.interfaces, server.interfaces),
        ("NIC rate", used.carried, server.nic_gbps),
        ("crypto devices", used.downstream, crypto_limit(question)),
    ]
    over = [name for name, value, most in limits if most is not None and value > most + 1e-9]
    most_mpps = None if server.shared_ports else server.interface_mpps
    for kind, number, rate in zip(question.kinds, used.counts, used.rates, strict=True):
        if number and most_mpps and network_mpps(kind, rate) > most_mpps + 1e-9:
            over.append("packet rate")
        if number and rate.downstream > rate.core + 1e-9:
            over.append("downstream of a core")
        if number and rate.thread is not None and rate.upstream > rate.thread + 1e-9:
            over.append(
                "upstream of a thread"
                if question.rules.upstream_cores < 1
                else "upstream of a core"
            )
    return list(dict.fromkeys(over))


def most(question: Question, counts: Sequence[int], kind: int, ceiling: int) -> int:
    """How many of a kind fit beside the counts, at most `ceiling`: fits are monotone."""

    def fits(number: int) -> bool:
        tried = list(counts)
        tried[kind] += number
        return not violated(question, usage(question, tried))

    low, high = 0, 1
    while high <= ceiling and fits(high):
        low, high = high, 2 * high
    high = min(high, ceiling + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Filled:
    """So many servers with the same service groups."""

    servers: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    question: Question
    alone: tuple[Usage, ...]  # a full server of each kind
    bounds: tuple[tuple[str, ...], ...]  # what one more of the kind would pass
    servers: tuple[Filled, ...]  # empty where no counts were asked for

    @property
    def count(self) -> int:
        return sum(filled.servers for filled in self.servers)


def impossible(question: Question, kind: int) -> MistakeError:
    """One service group of the kind fits on no server: why."""
    one = [int(place == kind) for place in range(len(question.kinds))]
    used, groups = usage(question, one), question.kinds[kind].groups
    over, rate, server = violated(question, used), used.rates[kind], question.server
    reasons = {
        "cores": f"it takes {used.cores} cores of {server.sockets * server.cores}",
        "memory": f"it takes {used.memory_gib:.1f} GiB of {server.memory_gib} GiB",
        "ports": f"it takes {used.ports} ports of {server.ports}",
        "slots": f"it takes {used.cards + used.crypto_cards} slots of {server.slots}",
        "interfaces": f"it takes {used.interfaces} interfaces of {server.interfaces}",
        "NIC rate": f"it carries {used.carried:.2f} Gbps of {server.nic_gbps} Gbps",
        "crypto devices": f"{used.downstream:.2f} Gbps for its {crypto_limit(question)} Gbps",
        "downstream of a core": (
            f"{rate.downstream:.2f} Gbps downstream, and its core carries {rate.core:.2f} Gbps"
        ),
    }
    said = reasons.get(
        over[0],
        f"{rate.upstream:.2f} Gbps upstream, and its share of a core is known to carry "
        f"{rate.thread or 0:.2f} Gbps",
    )
    return MistakeError(f"{groups.name}: not one service group fits on this server: {said}")


def plan(question: Question) -> Plan:
    """Raises MistakeError where a service group fits on no server."""
    none = [0] * len(question.kinds)
    alone, bounds, fit = [], [], []
    ceiling = question.server.threads * question.server.sockets * question.server.cores
    for kind in range(len(question.kinds)):
        number = most(question, none, kind, ceiling)
        if number == 0:
            raise impossible(question, kind)
        counts, more = list(none), list(none)
        counts[kind], more[kind] = number, number + 1
        alone.append(usage(question, counts))
        bounds.append(tuple(violated(question, usage(question, more))))
        fit.append(number)
    return Plan(question, tuple(alone), tuple(bounds), tuple(_filled(question, fit, ceiling)))


def _filled(question: Question, fit: Sequence[int], ceiling: int) -> list[Filled]:
    servers: list[Filled] = []
    counts = [0] * len(question.kinds)
    for kind, wanted in enumerate(question.kinds):
        left = wanted.groups.count or 0
        beside = min(left, most(question, counts, kind, ceiling)) if any(counts) else 0
        counts[kind] += beside
        left -= beside
        if left == 0:
            continue
        if any(counts):
            servers.append(Filled(1, tuple(counts)))
        counts = [0] * len(question.kinds)
        whole, rest = divmod(left, fit[kind])
        if whole:
            full = [0] * len(question.kinds)
            full[kind] = fit[kind]
            servers.append(Filled(whole, tuple(full)))
        counts[kind] = rest
    if any(counts):
        servers.append(Filled(1, tuple(counts)))
    return servers
