# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size --cloud: service groups of published instance types, and what bounds them.

The cores, memory and interfaces of an instance bound how many service groups it has (plan.py);
bandwidth and packets per second bound what these carry together. docs/cloud.md tells it in words.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planning.size import cloud_types
from planning.size import published as size_published
from planning.size.cloud_types import Cloud, Instance
from planning.size.curve import Costs, Curve
from planning.size.load import Kind, Question, Server, network_mpps, usage
from planning.size.plan import most, violated
from planning.size.show import SCHEMA
from vcmts import published
from vcmts.jsons import Json
from vcmts.paths import MistakeError

DEFAULT_MACHINE = "published:2021-c5n-metal"  # the only one that was measured in a cloud
DEFAULT_RULES = "cloud"
INTERFACES, ADMIN = 2, 1  # of a service group or of all of them; and of the administration
SHARED = {False: "own", True: "shared"}
# What an instance has is not asked for again.
GIVEN = ("sockets", "cores_per_socket", "core_clock", "memory", "ports", "interfaces", "nic_limit")
BOUNDS = {"NIC rate": "measured rate"}


@dataclass(frozen=True)
class Row:
    """So many service groups at once on an instance. Gbps."""

    groups: int
    downstream: float  # of each
    upstream: float
    bound: str  # what these are bound by
    scale: float  # of what each would carry by its core and channels

    @property
    def each(self) -> float:
        return self.downstream + self.upstream

    @property
    def total(self) -> float:
        return self.groups * self.each


@dataclass(frozen=True)
class Fit:
    """What an instance carries of a kind of service group."""

    row: Row
    bounds: tuple[str, ...]  # what one more would pass
    interfaces: int


def refuse(arguments: argparse.Namespace) -> None:
    for name in GIVEN:
        if getattr(arguments, name) is not None:
            raise MistakeError(f"--{name.replace('_', '-')}: is the instance's with --cloud")
    if arguments.shared_ports == "card":
        raise MistakeError(
            "--shared-ports card: found with --cloud, allowed: software, as drivers of clouds "
            "take no rules"
        )


def by_instance(curve: Curve, data: published.Published, machine: str) -> Curve:
    """Where a paper counts the service groups of an instance, by these, and not by a socket."""
    if not machine.startswith(size_published.PREFIX):
        return curve
    profile = size_published.profile_of(data, machine)
    if profile.at_once == "socket" or not profile.total:
        return curve
    share = curve.points[-1][1] / data.value(profile.total[max(profile.total)])
    of_server = size_published.points(data, replace(profile, at_once="socket"), share)
    return replace(curve, points=tuple(of_server.items()))


def driver_cycles(cloud: Cloud, data: published.Published, name: str, machine: str) -> float:
    """Cycles a packet over those of the machine that was measured, as its driver is another."""
    aws = cloud.family(name).provider == "aws"
    in_cloud = machine == DEFAULT_MACHINE
    return 1 + data.value("cloud.cycles") if aws and not in_cloud else 1.0


def costs_in(cloud: Cloud, name: str, costs: Costs) -> Costs:
    data = published.load()
    cycles = driver_cycles(cloud, data, name, costs.machine)

    def curve(found: Curve) -> Curve:
        of = by_instance(found, data, costs.machine)
        return replace(of, points=tuple((n, gbps / cycles) for n, gbps in of.points))

    upstream = None if costs.upstream is None else curve(costs.upstream)
    return replace(costs, downstream=curve(costs.downstream), upstream=upstream)


def server_of(cloud: Cloud, name: str, base: Server, shared: bool) -> Server:
    """The instance; its cores are one pool, as its nodes are mostly not published."""
    family, instance = cloud.family(name), cloud.types[name]
    return replace(
        base,
        sockets=1,
        cores=instance.vcpus // family.threads,
        clock=family.clock,
        threads=family.threads,
        memory_gib=instance.memory,
        port_gbps=instance.bandwidth,
        ports=None,
        interfaces=instance.interfaces,
        nic_gbps=None,
        shared_ports="software" if shared else "",
    )


def question_in(cloud: Cloud, name: str, asked: Question, kind: Kind, shared: bool) -> Question:
    rules = replace(asked.rules, interfaces=INTERFACES, interfaces_admin=ADMIN)
    if cloud.family(name).threads == 1:  # a vCPU is a core: half a one is nobody's
        rules = replace(
            rules,
            downstream_cores=float(-(-rules.downstream_cores // 1)),
            upstream_cores=float(-(-rules.upstream_cores // 1)),
        )
    return replace(
        asked,
        kinds=[replace(kind, costs=costs_in(cloud, name, kind.costs))],
        server=server_of(cloud, name, asked.server, shared),
        rules=rules,
    )


def limits(cloud: Cloud, name: str, question: Question, groups: int) -> dict[str, float]:
    """What each service group may carry of what its core does, by what bounds it."""
    data, instance = published.load(), cloud.types[name]
    used = usage(question, [groups])
    found = {"bandwidth": instance.bandwidth / max(used.transmit, used.receive)}
    packets = cloud.family(name).packets
    if packets:
        pairs = groups
        if question.server.shared_ports:
            pairs = max(1, (instance.interfaces - ADMIN) // INTERFACES)
        mpps = groups * network_mpps(question.kinds[0], used.rates[0])
        found["packet rate"] = pairs * data.value(packets) / mpps
    if instance.limit:
        found["measured rate"] = data.value(instance.limit) / used.carried
    return found


def row(cloud: Cloud, name: str, question: Question, groups: int) -> Row:
    rate = usage(question, [groups]).rates[0]
    found = limits(cloud, name, question, groups)
    least = min(found, key=lambda what: found[what])
    scale = min(1.0, found[least])
    bound = least if scale < 1 - 1e-9 else rate.bound
    return Row(groups, rate.downstream * scale, rate.upstream * scale, bound, scale)


def fit(cloud: Cloud, name: str, question: Question) -> Fit:
    """As many as cores, memory and interfaces allow; of a rate that is asked for, as many as have
    all of it. Of 0 the bounds say why."""
    server = question.server
    ceiling = server.threads * server.cores
    number = by_count = most(question, [0], 0, ceiling)
    asked = question.kinds[0].groups.downstream is not None
    while asked and number and row(cloud, name, question, number).scale < 1 - 1e-9:
        number -= 1
    if number < by_count:
        bounds = [row(cloud, name, question, number + 1).bound]
    else:
        bounds = violated(question, usage(question, [number + 1]))
    last = row(cloud, name, question, number) if number else Row(0, 0.0, 0.0, "", 0.0)
    needed = replace(server, interface_mpps=mpps_of(cloud, name))
    used = usage(replace(question, server=needed), [number])
    interfaces = min(used.interfaces, cloud.types[name].interfaces)
    return Fit(last, tuple(BOUNDS.get(bound, bound) for bound in bounds), interfaces)


def mpps_of(cloud: Cloud, name: str) -> float | None:
    packets = cloud.family(name).packets
    return published.load().value(packets) if packets else None


def measured(cloud: Cloud, name: str, question: Question) -> list[Json]:
    """What a paper measured on the type, beside what this says of as many service groups."""
    data, found = published.load(), []
    for groups, figure in cloud.measured.get(name, {}).items():
        model = row(cloud, name, question, groups)
        found.append(compared(name, groups, data.value(figure), model.each, model.bound, figure))
    for item in cloud.together:
        if item.type != name:
            continue
        one = fit(cloud, name, question)
        total = item.instances * one.row.total
        said = f"{item.instances} x {name}"
        value = data.value(item.figure)
        found.append(compared(said, 0, value, total, one.row.bound, item.figure))
    return found


def compared(name: str, groups: int, value: float, model: float, bound: str, figure: str) -> Json:
    """`groups` 0: all of several instances together."""
    return {
        "type": name,
        "groups": groups,
        "measured": value,
        "model": model,
        "difference": model / value - 1,
        "bound_by": bound,
        "figure": figure,
    }


def described(cloud: Cloud, name: str) -> Json:
    family: Any = cloud.family(name)
    instance: Instance = cloud.types[name]
    sources = {
        what: f"{cloud.sources[source].title} ({cloud.sources[source].date})"
        for what, source in family.sources.items()
    }
    return {
        "type": name,
        "provider": family.provider,
        "cpu": family.cpu,
        "arch": family.arch,
        "driver": family.driver,
        "clock": family.clock,
        "threads": family.threads,
        "vcpus": instance.vcpus,
        "cores": instance.vcpus // family.threads,
        "memory": instance.memory,
        "bandwidth": instance.bandwidth,
        "burst": instance.burst,
        "interfaces": instance.interfaces,
        "numa": instance.numa,
        "sources": sources,
    }


def answers(cloud: Cloud, names: Sequence[str], asked: Question) -> list[Json]:
    """Of each type, of each kind of service group, with interfaces of their own and shared ones."""
    found = []
    for name in names:
        one = described(cloud, name) | {"fits": [], "measured": []}
        for kind in asked.kinds:
            for shared in SHARED:
                question = question_in(cloud, name, asked, kind, shared)
                one["fits"].append(fit_json(question, shared, fit(cloud, name, question)))
                if not shared and kind.groups.downstream is None:
                    one["measured"] += measured(cloud, name, question)
        found.append(one)
    return found


def fit_json(question: Question, shared: bool, found: Fit) -> Json:
    kind = question.kinds[0]
    said: Json = {
        "groups": kind.groups.name,
        "ports": SHARED[shared],
        "per_instance": found.row.groups,
        "bound_by": list(found.bounds),
        "gbps": {"downstream": found.row.downstream, "upstream": found.row.upstream},
        "rate_bound_by": found.row.bound,
        "instance_gbps": found.row.total,
        "interfaces": found.interfaces,
        "measured_to": kind.costs.downstream.most_at_once,
    }
    if kind.groups.count and found.row.groups:
        said["instances"] = -(-kind.groups.count // found.row.groups)
    return said


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cloud",
        nargs="*",
        metavar="TYPE",
        help="instead of a server published instance types, or families of them (default: all "
        f"that are known), with the cycles of {DEFAULT_MACHINE} if no other",
    )


def answer(
    arguments: argparse.Namespace,
    question_of: Callable[[argparse.Namespace], tuple[Question, str]],
) -> Json:
    cloud = cloud_types.load()
    names = cloud.named(arguments.cloud)
    refuse(arguments)
    arguments.groups = arguments.groups or ["6ofdm"]
    arguments.machine = arguments.machine or [DEFAULT_MACHINE]
    arguments.rules = arguments.rules or DEFAULT_RULES
    arguments.cores_per_socket = 1  # of no meaning: each type has its own
    question, rules = question_of(arguments)
    machine = question.kinds[0].costs.machine
    outside = [text for kind in question.kinds for text in kind.costs.downstream.outside]
    return {
        "schema": SCHEMA,
        "kind": "size-cloud",
        "machine": machine,
        "in_cloud": machine == DEFAULT_MACHINE,
        "rules": rules,
        "types": answers(cloud, names, question),
        "outside": list(dict.fromkeys(outside)),
    }
