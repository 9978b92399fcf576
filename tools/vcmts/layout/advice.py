# SPDX-License-Identifier: BSD-3-Clause
"""Rules that check a placement of threads: each yields notes on what to improve, and how."""

from collections.abc import Iterator

from vcmts.jsons import Json
from vcmts.layout import surroundings
from vcmts.layout.case import (
    BETTER,
    KNOWN,
    REFUSED,
    Case,
    Note,
    cores_of,
    is_are,
    numbered,
    parts_on,
)
from vcmts.layout.machine import cpu_list


def refusal_subject(refusal: Json) -> str:
    group = refusal["service_group"]
    return (f"service group {group}: " if group else "") + f"threads.{refusal['key']}"


def refusals(case: Case) -> Iterator[Note]:
    """The cores that vcmtsd refuses; it would refuse to start with the same messages."""
    machine = case.machine
    for refusal in case.placement["refused"]:
        todo = "name existing cores, or use the proposal"
        if refusal["reason"] == "offline":
            todo = "bring them online (/sys/devices/system/cpu/cpuN/online), or name others"
        elif refusal["reason"] == "not allowed":
            configured = {core for group in case.groups() for core in cores_of(group).values()}
            configured = ({*configured, case.main()} & machine.online) - machine.usable
            if machine.cpuset and not configured <= machine.cpuset.cores:
                todo = (
                    f"{machine.cpuset.file} allows {cpu_list(sorted(machine.cpuset.cores))}: allow "
                    "more (docker --cpuset-cpus, systemd AllowedCPUs=), or name only these"
                )
            else:
                cores = cpu_list(sorted(machine.usable | configured))
                todo = f"start it with taskset -c {cores}, or name others"
        yield Note(
            refusal["reason"],
            REFUSED,
            f"{refusal_subject(refusal)}: found {refusal['found']}, allowed: {refusal['allowed']}",
            todo,
        )


def main_core_busy(case: Case) -> Iterator[Note]:
    if case.main() not in case.runs():
        return
    text = f"main_core {case.main()} also runs {case.runs()[case.main()]}"
    free = sorted(set(case.free()) - case.machine.isolated()) or case.free()
    if free:
        yield Note("main core", BETTER, text, f"main_core: {free[0]}")
    else:
        todo = "nothing if no other core is free: the management thread sleeps most of the time"
        yield Note("main core", KNOWN, text, todo)


def main_core_isolated(case: Case) -> Iterator[Note]:
    plain = case.machine.usable - case.machine.isolated() - set(case.runs())
    if case.machine.core(case.main()).isolated and plain:
        text = f"main_core {case.main()} is isolated, but the management thread does not poll"
        yield Note("main core isolated", BETTER, text, f"main_core: {min(plain)}")


def suit(case: Case, one: int, other: int) -> bool:
    """Whether two siblings suit each other: they serve the same groups, or only upstreams."""
    parts = [parts_on(case, core) for core in (one, other)]
    groups = [{group for group, _ in found} for found in parts]
    upstreams = all(part == "upstream" for found in parts for _, part in found)
    return groups[0] == groups[1] or upstreams


def siblings_busy(case: Case) -> Iterator[Note]:
    machine, runs = case.machine, case.runs()
    found = {
        core
        for core in runs
        for other in machine.core(core).siblings
        if other in runs and not suit(case, core, other)
    }
    if not found:
        return
    whole = [core for core in case.free() if not set(machine.physical(core)) & {*runs, case.main()}]
    text = (
        f"{numbered('core', found)} share physical cores with polling threads of other groups: "
        "each gets only a part of such a core"
    )
    if whole:
        yield Note(
            "siblings", BETTER, text, f"use {numbered('core', whole)}, whose siblings are idle"
        )
    else:
        yield Note("siblings", KNOWN, text, "use a layout with fewer threads, or fewer groups")


def macs_apart(case: Case) -> Iterator[Note]:
    """Groups whose upper and lower MAC are on two physical cores, which they share with others."""
    machine, runs, found = case.machine, case.runs(), []
    for group in case.groups():
        upper, lower = group["upper_mac"], group["lower_mac"]
        siblings = {*machine.core(upper).siblings, *machine.core(lower).siblings}
        if upper != lower and lower not in machine.core(upper).siblings and siblings & set(runs):
            found.append(group["service_group"])
    if found:
        yield Note(
            "MACs apart",
            BETTER,
            f"{numbered('service group', found)}: upper and lower MAC are on two physical cores, "
            "and other workers on their siblings",
            "put both on the two threads of one core, as the published layouts do",
        )


def port_nodes(case: Case) -> Iterator[Note]:
    users = {"network": ("upper_mac", "upstream"), "rphy": ("lower_mac", "upstream")}
    groups = {group["service_group"]: group for group in case.groups()}
    far: dict[tuple[str, int], set[int]] = {}
    for port in case.ports:
        cores = cores_of(groups[port.group])
        for part in users[port.name]:
            node = case.machine.core(cores[part]).node if part in cores else None
            if None not in (node, port.node) and node != port.node:
                device = port.device.split(",")[0]
                far.setdefault((device, port.node or 0), set()).add(cores[part])
    for (device, node), cores_far in far.items():
        near = [c for c in sorted(case.machine.usable) if case.machine.core(c).node == node]
        yield Note(
            "port node",
            BETTER,
            f"{numbered('core', cores_far)} {is_are(cores_far)} not on NUMA node {node} of port "
            f"{device}",
            f"use cores of node {node}: {cpu_list(near)}"
            if near
            else f"allow cores of node {node}, or use a port of the other node",
        )


def group_nodes(case: Case) -> Iterator[Note]:
    found = [
        group["service_group"]
        for group in case.groups()
        if len({case.machine.core(core).node for core in cores_of(group).values()} - {None}) > 1
    ]
    if found:
        yield Note(
            "group nodes",
            BETTER,
            f"{numbered('service group', found)}: threads are on several NUMA nodes, which "
            "exchange packets and tables",
            "keep all threads of a group on one node",
        )


def core_zero(case: Case) -> Iterator[Note]:
    if 0 in case.runs() and case.free():
        text = "core 0 polls, where the kernel usually runs work of its own"
        yield Note("core 0", BETTER, text, f"use core {case.free()[-1]}")


def crowded_cores(case: Case) -> Iterator[Note]:
    """Cores with several groups while others are free, unless a layout asks for that."""
    with_layout = {group["service_group"] for group in case.groups() if group["layout"]}
    found = []
    for core in case.runs():
        groups = {group for group, _ in parts_on(case, core)}
        if len(groups) > 1 and not groups & with_layout:
            found.append(core)
    if found and case.free():
        yield Note(
            "crowded",
            BETTER,
            f"several service groups share {numbered('core', found)}, while "
            f"{numbered('core', case.free())} {is_are(case.free())} free",
            "use the free cores: see the proposal (--propose)",
        )


RULES = (
    *(refusals, surroundings.quota, main_core_busy, main_core_isolated, siblings_busy),
    *(macs_apart, port_nodes, group_nodes, crowded_cores, core_zero, surroundings.not_isolated),
    *(surroundings.ticks, surroundings.shared_ports, surroundings.affinity),
    *(surroundings.offline, surroundings.crypto),
)


def notes(case: Case) -> list[Note]:
    return [note for rule in RULES for note in rule(case)]
