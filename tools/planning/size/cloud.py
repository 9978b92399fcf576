# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts size --cloud`: service groups per published instance type, and their limits.

Cores, memory and interfaces of an instance limit the number of service groups (plan.py). Bandwidth
and packets per second limit their rates. docs/cloud.md describes the model.
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
from planning.size.plan import exceeded_limits, max_groups
from planning.size.show import SCHEMA
from vcmts import published
from vcmts.jsons import Json
from vcmts.paths import MistakeError

DEFAULT_MACHINE = "published:2021-c5n-metal"  # the only profile that was measured in a cloud
DEFAULT_RULES = "cloud"
INTERFACES, ADMIN = 2, 1  # per service group, or shared by all; and for administration
SHARED = {False: "own", True: "shared"}
# Options that the instance type determines.
GIVEN = ("sockets", "cores_per_socket", "core_clock", "memory", "ports", "interfaces", "nic_limit")
BOUNDS = {"NIC rate": "measured rate"}


@dataclass(frozen=True)
class Throughput:
    """Rates of `groups` service groups on an instance, Gbps."""

    groups: int
    downstream: float  # per group
    upstream: float
    bound: str  # the limit of the rates
    scale: float  # 0 to 1, relative to the capacity of core and channels

    @property
    def each(self) -> float:
        return self.downstream + self.upstream

    @property
    def total(self) -> float:
        return self.groups * self.each


@dataclass(frozen=True)
class Fit:
    """How many service groups of a kind an instance carries."""

    throughput: Throughput
    bounds: tuple[str, ...]  # limits that one more group exceeds
    interfaces: int


def check_options(arguments: argparse.Namespace) -> None:
    """Raises MistakeError for options whose values the instance type determines."""
    for name in GIVEN:
        if getattr(arguments, name) is not None:
            raise MistakeError(f"--{name.replace('_', '-')}: not allowed with --cloud")
    if arguments.shared_ports == "card":
        raise MistakeError(
            "--shared-ports card: not allowed with --cloud, as drivers of clouds support no rules"
        )


def curve_by_instance(curve: Curve, data: published.Published, machine: str) -> Curve:
    """Uses service groups per instance instead of per socket if the paper counts these."""
    if not machine.startswith(size_published.PREFIX):
        return curve
    profile = size_published.profile_of(data, machine)
    if profile.at_once == "socket" or not profile.total:
        return curve
    share = curve.points[-1][1] / data.value(profile.total[max(profile.total)])
    of_server = size_published.points(data, replace(profile, at_once="socket"), share)
    return replace(curve, points=tuple(of_server.items()))


def driver_cycles(cloud: Cloud, data: published.Published, name: str, machine: str) -> float:
    """The factor of cycles per packet for the instance's driver, relative to the measured
    machine."""
    aws = cloud.family(name).provider == "aws"
    in_cloud = machine == DEFAULT_MACHINE
    return 1 + data.value("cloud.cycles") if aws and not in_cloud else 1.0


def instance_costs(cloud: Cloud, name: str, costs: Costs) -> Costs:
    """The costs on the instance: with its driver's cycles, and curves per instance."""
    data = published.load()
    cycles = driver_cycles(cloud, data, name, costs.machine)

    def curve(found: Curve) -> Curve:
        of = curve_by_instance(found, data, costs.machine)
        return replace(of, points=tuple((n, gbps / cycles) for n, gbps in of.points))

    upstream = None if costs.upstream is None else curve(costs.upstream)
    return replace(costs, downstream=curve(costs.downstream), upstream=upstream)


def instance_server(cloud: Cloud, name: str, base: Server, shared: bool) -> Server:
    """The instance as a server. Its cores are one pool, as NUMA nodes are mostly unpublished."""
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


def instance_question(
    cloud: Cloud, name: str, requested: Question, kind: Kind, shared: bool
) -> Question:
    rules = replace(requested.rules, interfaces=INTERFACES, interfaces_admin=ADMIN)
    if cloud.family(name).threads == 1:  # a vCPU is a core, which groups cannot share
        rules = replace(
            rules,
            downstream_cores=float(-(-rules.downstream_cores // 1)),
            upstream_cores=float(-(-rules.upstream_cores // 1)),
        )
    return replace(
        requested,
        kinds=[replace(kind, costs=instance_costs(cloud, name, kind.costs))],
        server=instance_server(cloud, name, requested.server, shared),
        rules=rules,
    )


def limits(cloud: Cloud, name: str, question: Question, groups: int) -> dict[str, float]:
    """For each limit, the share of its core's capacity that a service group may carry."""
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


def throughput(cloud: Cloud, name: str, question: Question, groups: int) -> Throughput:
    """The rates of `groups` service groups within the limits of the instance."""
    rate = usage(question, [groups]).rates[0]
    found = limits(cloud, name, question, groups)
    least = min(found, key=lambda what: found[what])
    scale = min(1.0, found[least])
    bound = least if scale < 1 - 1e-9 else rate.bound
    return Throughput(groups, rate.downstream * scale, rate.upstream * scale, bound, scale)


def fit(cloud: Cloud, name: str, question: Question) -> Fit:
    """The number of groups that cores, memory and interfaces allow. With a requested rate, only as
    many as get the whole rate. If 0, the bounds have the reason."""
    server = question.server
    ceiling = server.threads * server.cores
    number = by_count = max_groups(question, [0], 0, ceiling)
    requested = question.kinds[0].groups.downstream is not None
    while requested and number and throughput(cloud, name, question, number).scale < 1 - 1e-9:
        number -= 1
    if number < by_count:
        bounds = [throughput(cloud, name, question, number + 1).bound]
    else:
        bounds = exceeded_limits(question, usage(question, [number + 1]))
    last = throughput(cloud, name, question, number) if number else Throughput(0, 0.0, 0.0, "", 0.0)
    needed = replace(server, interface_mpps=interface_mpps_limit(cloud, name))
    used = usage(replace(question, server=needed), [number])
    interfaces = min(used.interfaces, cloud.types[name].interfaces)
    return Fit(last, tuple(BOUNDS.get(bound, bound) for bound in bounds), interfaces)


def interface_mpps_limit(cloud: Cloud, name: str) -> float | None:
    packets = cloud.family(name).packets
    return published.load().value(packets) if packets else None


def comparisons(cloud: Cloud, name: str, question: Question) -> list[Json]:
    """Compares published measurements of the type with the model."""
    data, found = published.load(), []
    for groups, figure in cloud.measured.get(name, {}).items():
        model = throughput(cloud, name, question, groups)
        found.append(comparison(name, groups, data.value(figure), model.each, model.bound, figure))
    for item in cloud.together:
        if item.type != name:
            continue
        one = fit(cloud, name, question)
        total = item.instances * one.throughput.total
        label = f"{item.instances} x {name}"
        value = data.value(item.figure)
        found.append(comparison(label, 0, value, total, one.throughput.bound, item.figure))
    return found


def comparison(name: str, groups: int, value: float, model: float, bound: str, figure: str) -> Json:
    """A comparison as JSON. `groups` 0: the total of several instances."""
    return {
        "type": name,
        "groups": groups,
        "measured": value,
        "model": model,
        "difference": model / value - 1,
        "bound_by": bound,
        "figure": figure,
    }


def describe(cloud: Cloud, name: str) -> Json:
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


def answers(cloud: Cloud, names: Sequence[str], requested: Question) -> list[Json]:
    """An answer per type: fits per kind of service group, with own and with shared interfaces."""
    found = []
    for name in names:
        one = describe(cloud, name) | {"fits": [], "measured": []}
        for kind in requested.kinds:
            for shared in SHARED:
                question = instance_question(cloud, name, requested, kind, shared)
                one["fits"].append(fit_json(question, shared, fit(cloud, name, question)))
                if not shared and kind.groups.downstream is None:
                    one["measured"] += comparisons(cloud, name, question)
        found.append(one)
    return found


def fit_json(question: Question, shared: bool, found: Fit) -> Json:
    kind = question.kinds[0]
    out: Json = {
        "groups": kind.groups.name,
        "ports": SHARED[shared],
        "per_instance": found.throughput.groups,
        "bound_by": list(found.bounds),
        "gbps": {"downstream": found.throughput.downstream, "upstream": found.throughput.upstream},
        "rate_bound_by": found.throughput.bound,
        "instance_gbps": found.throughput.total,
        "interfaces": found.interfaces,
        "measured_to": kind.costs.downstream.max_at_once,
    }
    if kind.groups.count and found.throughput.groups:
        out["instances"] = -(-kind.groups.count // found.throughput.groups)
    return out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cloud",
        nargs="*",
        metavar="TYPE",
        help="compute for published instance types or families (default: all known) instead of a "
        f"server; the default of --machine is then {DEFAULT_MACHINE}",
    )


def answer(
    arguments: argparse.Namespace,
    parse_question: Callable[[argparse.Namespace], tuple[Question, str]],
) -> Json:
    """The answer as JSON. `parse_question`: of command.py, which imports this module."""
    cloud = cloud_types.load()
    names = cloud.named(arguments.cloud)
    check_options(arguments)
    arguments.groups = arguments.groups or ["6ofdm"]
    arguments.machine = arguments.machine or [DEFAULT_MACHINE]
    arguments.rules = arguments.rules or DEFAULT_RULES
    arguments.cores_per_socket = 1  # ignored: each type has its own
    question, rules = parse_question(arguments)
    machine = question.kinds[0].costs.machine
    outside = [text for kind in question.kinds for text in kind.costs.downstream.outside]
    return {
        "schema": SCHEMA,
        "kind": "size-cloud",
        "machine": machine,
        "in_cloud": machine == DEFAULT_MACHINE,
        "receiver_cycles": question.server.receiver_cycles,
        "rules": rules,
        "types": answers(cloud, names, question),
        "outside": list(dict.fromkeys(outside)),
    }
