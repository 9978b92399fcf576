# SPDX-License-Identifier: BSD-3-Clause
"""Rules of `vcmts layout` on the environment: kernel isolation, limits, shared ports, devices."""

from collections.abc import Iterator

from vcmts.layout.case import BETTER, KNOWN, Case, Note, is_are, numbered
from vcmts.layout.machine import cpu_list


def not_isolated(case: Case) -> Iterator[Note]:
    found = set(case.runs()) & case.machine.usable - case.machine.isolated()
    free = sorted(set(case.free()) & case.machine.isolated())
    if not found:
        return
    cores = cpu_list(sorted(found))
    kernel = f"isolcpus={cores} nohz_full={cores} rcu_nocbs={cores} on the kernel's command line"
    yield Note(
        "not isolated",
        BETTER,
        f"{numbered('core', found)} {is_are(found)} not isolated: other tasks may run there",
        f"{numbered('core', free)} {is_are(free)} isolated and free" if free else kernel,
    )


def ticks(case: Case) -> Iterator[Note]:
    cores = case.machine.cores
    found = [core for core in case.runs() if core in cores and cores[core].isolated]
    found = [core for core in found if not cores[core].tickless]
    if found:
        yield Note(
            "ticks",
            BETTER,
            f"{numbered('core', found)} {is_are(found)} isolated, but the kernel's timer tick "
            "interrupts the polling threads",
            f"nohz_full={cpu_list(sorted(found))} on the kernel's command line",
        )


def quota(case: Case) -> Iterator[Note]:
    limit, needed = case.machine.quota, len(case.runs())
    if limit is not None and limit < needed:
        yield Note(
            "time limit",
            BETTER,
            f"the control group's CPU limit is {limit:g} cores, but {needed} threads poll: the "
            "kernel will throttle them",
            "remove the limit, use a cpuset (cpu.max, docker --cpus, Kubernetes: whole CPUs)",
        )


def shared_ports(case: Case) -> Iterator[Note]:
    """Shared ports: groups on other cores than the port owner's get packets through rings."""
    part = {"network": "upper_mac", "R-PHY": "upstream"}
    for port in case.placement["shared_ports"]:
        users = [group for group in case.groups() if group["service_group"] in port["groups"]]
        at = [group.get(part[port["port"]]) for group in users]
        elsewhere = [
            group["service_group"]
            for group, core in zip(users, at, strict=True)
            if core not in (None, port["core"])
        ]
        if elsewhere:
            yield Note(
                "shared port",
                KNOWN,
                f"core {port['core']} receives from the {port['port']} port for all its groups, "
                f"and passes packets through rings to {numbered('service group', elsewhere)}",
                "if that core is overloaded, give each group its own ports (docs/sharing.md)",
            )


def affinity(case: Case) -> Iterator[Note]:
    machine = case.machine
    if machine.cpuset is None:
        return
    more = (machine.cpuset.cores & machine.online) - machine.usable
    if more:
        yield Note(
            "affinity",
            KNOWN,
            f"{numbered('core', more)} {is_are(more)} in the cpuset ({machine.cpuset.file}), not "
            "in the affinity of this process",
            f"to use all of them: taskset -c {cpu_list(sorted(machine.usable | more))}",
        )


def offline(case: Case) -> Iterator[Note]:
    found = case.machine.present - case.machine.online
    if found:
        yield Note(
            "offline cores",
            KNOWN,
            f"{numbered('core', found)} {is_are(found)} offline",
            "nothing if intended; else /sys/devices/system/cpu/smt/control, cpuN/online",
        )


def crypto(case: Case) -> Iterator[Note]:
    if case.machine.crypto:
        listed = ", ".join(
            address + (f" (node {node})" if node is not None else "")
            for address, node in case.machine.crypto
        )
        yield Note(
            "crypto devices",
            KNOWN,
            f"found: {listed}",
            "nothing: vcmtsd uses them only if the configuration sets crypto.provider: cryptodev",
        )
