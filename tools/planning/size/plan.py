# SPDX-License-Identifier: BSD-3-Clause
"""Computes how many service groups fit on a server, and how many servers a request needs.

The cores of a server are one pool. Servers are filled in the order of the request (next fit), so
that a smaller request never needs more servers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.size.load import Question, Usage, network_mpps, usage
from vcmts.paths import MistakeError


def crypto_limit(question: Question) -> float | None:
    """Gbps of all crypto devices of a server; None: no limit."""
    server = question.server
    return None if server.crypto_gbps is None else server.crypto_gbps * server.sockets


def exceeded_limits(question: Question, used: Usage) -> list[str]:
    """Names of the limits that the usage exceeds."""
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
    over = [name for name, value, limit in limits if limit is not None and value > limit + 1e-9]
    most_mpps = None if server.shared_ports else server.interface_mpps
    for kind, number, rate in zip(question.kinds, used.counts, used.rates, strict=True):
        if number and most_mpps and network_mpps(kind, rate) > most_mpps + 1e-9:
            over.append("packet rate")
        if number and rate.downstream > rate.downstream_capacity + 1e-9:
            over.append("downstream of a core")
        most_upstream = rate.upstream_capacity
        if number and most_upstream is not None and rate.upstream > most_upstream + 1e-9:
            over.append(
                "upstream of a thread"
                if question.rules.upstream_cores < 1
                else "upstream of a core"
            )
    return list(dict.fromkeys(over))


def max_groups(question: Question, counts: Sequence[int], kind: int, ceiling: int) -> int:
    """How many groups of a kind fit in addition to the counts, up to `ceiling`. Uses a binary
    search, as fits are monotone."""

    def fits(number: int) -> bool:
        tried = list(counts)
        tried[kind] += number
        return not exceeded_limits(question, usage(question, tried))

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
    """A number of servers with the same service groups."""

    servers: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    question: Question
    alone: tuple[Usage, ...]  # per kind: a server full of it
    bounds: tuple[tuple[str, ...], ...]  # per kind: limits that one more group exceeds
    servers: tuple[Filled, ...]  # empty if the request has no counts

    @property
    def count(self) -> int:
        return sum(filled.servers for filled in self.servers)


def no_fit_error(question: Question, kind: int) -> MistakeError:
    """The error for a kind of which not even one service group fits on a server."""
    one = [int(index == kind) for index in range(len(question.kinds))]
    used, groups = usage(question, one), question.kinds[kind].groups
    over, rate, server = exceeded_limits(question, used), used.rates[kind], question.server
    reasons = {
        "cores": f"it needs {used.cores} cores of {server.sockets * server.cores}",
        "memory": f"it needs {used.memory_gib:.1f} GiB of {server.memory_gib} GiB",
        "ports": f"it needs {used.ports} ports of {server.ports}",
        "slots": f"it needs {used.cards + used.crypto_cards} slots of {server.slots}",
        "interfaces": f"it needs {used.interfaces} interfaces of {server.interfaces}",
        "NIC rate": f"it carries {used.carried:.2f} Gbps of {server.nic_gbps} Gbps",
        "crypto devices": f"{used.downstream:.2f} Gbps for its {crypto_limit(question)} Gbps",
        "downstream of a core": (
            f"{rate.downstream:.2f} Gbps downstream, and its core carries "
            f"{rate.downstream_capacity:.2f} Gbps"
        ),
    }
    reason = reasons.get(
        over[0],
        f"{rate.upstream:.2f} Gbps upstream, and its share of a core is known to carry "
        f"{rate.upstream_capacity or 0:.2f} Gbps",
    )
    return MistakeError(f"{groups.name}: not one service group fits on this server: {reason}")


def plan(question: Question) -> Plan:
    """Answers the question. Raises MistakeError if a kind of service group fits on no server."""
    none = [0] * len(question.kinds)
    alone, bounds, fit = [], [], []
    ceiling = question.server.threads * question.server.sockets * question.server.cores
    for kind in range(len(question.kinds)):
        number = max_groups(question, none, kind, ceiling)
        if number == 0:
            raise no_fit_error(question, kind)
        counts, more = list(none), list(none)
        counts[kind], more[kind] = number, number + 1
        alone.append(usage(question, counts))
        bounds.append(tuple(exceeded_limits(question, usage(question, more))))
        fit.append(number)
    return Plan(question, tuple(alone), tuple(bounds), tuple(_filled(question, fit, ceiling)))


def _filled(question: Question, fit: Sequence[int], ceiling: int) -> list[Filled]:
    servers: list[Filled] = []
    counts = [0] * len(question.kinds)
    for kind, wanted in enumerate(question.kinds):
        left = wanted.groups.count or 0
        added = min(left, max_groups(question, counts, kind, ceiling)) if any(counts) else 0
        counts[kind] += added
        left -= added
        if left == 0:
            continue
        if any(counts):
            servers.append(Filled(1, tuple(counts)))
        counts = [0] * len(question.kinds)
        full_servers, remaining = divmod(left, fit[kind])
        if full_servers:
            full = [0] * len(question.kinds)
            full[kind] = fit[kind]
            servers.append(Filled(full_servers, tuple(full)))
        counts[kind] = remaining
    if any(counts):
        servers.append(Filled(1, tuple(counts)))
    return servers
