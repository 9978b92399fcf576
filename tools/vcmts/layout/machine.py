# SPDX-License-Identifier: BSD-3-Clause
"""Reads a machine's CPU topology and the usable cores from /sys and /proc, or a copy of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from vcmts.system.cpu_list import cpus_or_none
from vcmts.system.files import Files, number

CPUS = "sys/devices/system/cpu"
CGROUPS = "sys/fs/cgroup"
PCI_ADDRESS = re.compile(r"([\da-f]{4}:)?[\da-f]{2}:[\da-f]{2}\.[\da-f]", re.IGNORECASE)
CO_PROCESSORS = ("0x0b40", "0x10")  # PCI classes


@dataclass(frozen=True)
class Core:
    """A core as DPDK numbers them: the kernel's CPU, a hyper-thread of a physical core."""

    number: int
    socket: int | None = None
    node: int | None = None  # NUMA
    siblings: tuple[int, ...] = ()  # the other threads of its physical core
    isolated: bool = False  # isolcpus: the kernel schedules nothing there by itself
    tickless: bool = False  # nohz_full


@dataclass(frozen=True)
class CpuSet:
    """The cpuset of this process's control group, and the file that has it."""

    cores: frozenset[int]
    file: str


@dataclass(frozen=True)
class Machine:
    present: frozenset[int]
    online: frozenset[int]
    usable: frozenset[int]  # online, and in the affinity or isolated within the cpuset
    affinity: frozenset[int]  # of this process
    cpuset: CpuSet | None
    quota: float | None  # the control group's CPU time limit, in cores; None: no limit
    cores: dict[int, Core]  # those that are online
    crypto: tuple[tuple[str, int | None], ...]  # PCI devices, each with its NUMA node

    def core(self, number: int) -> Core:
        """The core of this number; for a missing one a Core with unknown topology."""
        return self.cores.get(number, Core(number))

    def physical(self, number: int) -> tuple[int, ...]:
        """All hyper-threads of the physical core to which a core belongs."""
        return tuple(sorted((number, *self.core(number).siblings)))

    def isolated(self) -> frozenset[int]:
        return frozenset(n for n, core in self.cores.items() if core.isolated)


def cpu_list(cores: Iterable[int]) -> str:
    """Formats cores as a CPU list with ranges, "1-3,5", in the given order; "none" if empty."""
    runs: list[list[int]] = []
    for core in cores:
        if runs and runs[-1][-1] + 1 == core:
            runs[-1].append(core)
        else:
            runs.append([core])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(parts) or "none"


def last_possible(files: Files) -> int | None:
    """The highest possible CPU number of the machine; None: unknown."""
    names = ("possible", "present", "online")
    return max(
        (n for name in names for n in cpus_or_none(files.text(f"{CPUS}/{name}"))), default=None
    )


def parse_number(text: str) -> int | None:
    """Parses the number of a socket or node; None for -1, the kernel's "none"."""
    found = number(text)
    return found if isinstance(found, int) and found >= 0 else None


def control_groups(files: Files) -> dict[str, str]:
    """The paths of this process's control groups by controller; version 2 has the name ""."""
    found = {}
    for line in files.text("proc/self/cgroup").splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        found.update(dict.fromkeys(names.split(","), path))
    return found


def nearest_file(
    files: Files, hierarchy: str, path: str, names: tuple[str, ...]
) -> tuple[str, str]:
    """The path and content of the first file of `names` in a control group or its nearest ancestor;
    "" and "" if there is none. In a container the root may be the group itself."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for depth in range(len(parts), -1, -1):
        for name in names:
            file = "/".join([hierarchy, *parts[:depth], name])
            text = files.text(file)
            if text:
                return file, text
    return "", ""


def cpuset_of(files: Files) -> CpuSet | None:
    groups = control_groups(files)
    locations: list[tuple[str, str, tuple[str, ...]]] = [
        (f"{CGROUPS}/cpuset", groups.get("cpuset", "/"), ("cpuset.effective_cpus", "cpuset.cpus")),
        (CGROUPS, groups.get("", "/"), ("cpuset.cpus.effective",)),
    ]
    for location in locations:
        file, text = nearest_file(files, *location)
        if cpus_or_none(text):
            return CpuSet(frozenset(cpus_or_none(text)), f"/{file}")
    return None


def quota_of(files: Files) -> float | None:
    groups = control_groups(files)
    _, text = nearest_file(files, CGROUPS, groups.get("", "/"), ("cpu.max",))
    if "cpu" in groups and not text:
        base, path = f"{CGROUPS}/cpu", groups["cpu"]
        _, time = nearest_file(files, base, path, ("cpu.cfs_quota_us",))
        _, period = nearest_file(files, base, path, ("cpu.cfs_period_us",))
        text = f"{time} {period}"
    match = re.fullmatch(r"(\d+) ([1-9]\d*)", text)
    return int(match[1]) / int(match[2]) if match else None


def cores_of(files: Files, online: Iterable[int]) -> dict[int, Core]:
    isolated, tickless = (
        set(cpus_or_none(files.text(f"{CPUS}/{name}"))) for name in ("isolated", "nohz_full")
    )
    nodes = {}
    for name in files.names("sys/devices/system/node", r"node\d+"):
        cores = cpus_or_none(files.text(f"sys/devices/system/node/{name}/cpulist"))
        nodes.update(dict.fromkeys(cores, int(name.removeprefix("node"))))
    found = {}
    for n in online:
        topology = f"{CPUS}/cpu{n}/topology"
        siblings = cpus_or_none(files.text(f"{topology}/thread_siblings_list"))
        found[n] = Core(
            n,
            socket=parse_number(files.text(f"{topology}/physical_package_id")),
            node=nodes.get(n),
            siblings=tuple(s for s in siblings if s != n),
            isolated=n in isolated,
            tickless=n in tickless,
        )
    return found


def crypto_of(files: Files) -> tuple[tuple[str, int | None], ...]:
    base = "sys/bus/pci/devices"
    return tuple(
        (name, parse_number(files.text(f"{base}/{name}/numa_node")))
        for name in files.names(base, r"[\da-f]+:[\da-f]+:[\da-f]+\.[\da-f]")
        if files.text(f"{base}/{name}/class").startswith(CO_PROCESSORS)
    )


def node_of_device(files: Files, device: str) -> int | None:
    """The NUMA node of a PCI device, or of a device on a kernel interface; None: unknown."""
    name = device.split(",")[0]
    if PCI_ADDRESS.fullmatch(name):
        address = (name if name.count(":") == 2 else f"0000:{name}").lower()
        return parse_number(files.text(f"sys/bus/pci/devices/{address}/numa_node"))
    interface = re.search(r",iface=([^,/]+)", device)
    if interface:
        return parse_number(files.text(f"sys/class/net/{interface[1]}/device/numa_node"))
    return None


def read(files: Files) -> Machine:
    online = frozenset(cpus_or_none(files.text(f"{CPUS}/online")))
    present = frozenset(cpus_or_none(files.text(f"{CPUS}/present"))) or online
    online = online or present
    affinity = cpus_or_none(files.fields("proc/self/status").get("Cpus_allowed_list", ""))
    isolated = frozenset(cpus_or_none(files.text(f"{CPUS}/isolated")))
    cpuset = cpuset_of(files)
    allowed = frozenset(affinity) or online
    # The default affinity excludes isolated cores, but they can be requested: src/platform/cpus.h.
    requestable = isolated & cpuset.cores if cpuset else isolated
    return Machine(
        present=present,
        online=online,
        usable=(allowed | requestable) & online,
        affinity=allowed,
        cpuset=cpuset,
        quota=quota_of(files),
        cores=cores_of(files, sorted(online)),
        crypto=crypto_of(files),
    )


def with_reported_cores(machine: Machine, files: Files, reported: dict[str, list[int]]) -> Machine:
    """The machine with the cores that vcmtsd reported. Reads the topology again if they differ."""
    online = frozenset(reported["online"])
    return replace(
        machine,
        present=frozenset(reported["present"]),
        online=online,
        usable=frozenset(reported["usable"]),
        cores=machine.cores if online == machine.online else cores_of(files, sorted(online)),
    )
