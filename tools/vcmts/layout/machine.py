# SPDX-License-Identifier: BSD-3-Clause
"""The cores of a machine, or of a copy of its /sys and /proc, and who may use them."""

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
    """What the kernel calls a CPU: a thread of a physical core."""

    number: int
    socket: int | None = None
    node: int | None = None  # NUMA
    siblings: tuple[int, ...] = ()  # the other threads of its physical core
    isolated: bool = False  # isolcpus: the kernel runs nothing there by itself
    tickless: bool = False  # nohz_full


@dataclass(frozen=True)
class CpuSet:
    """Of the control group that we are in."""

    cores: frozenset[int]
    file: str


@dataclass(frozen=True)
class Machine:
    present: frozenset[int]
    online: frozenset[int]
    usable: frozenset[int]
    affinity: frozenset[int]
    cpuset: CpuSet | None
    quota: float | None  # cores' worth of time that the control group may use; None: no limit
    cores: dict[int, Core]  # those that are online
    crypto: tuple[tuple[str, int | None], ...]  # PCI devices, each with its NUMA node

    def core(self, number: int) -> Core:
        """Also of one that is not there: nothing is known of it."""
        return self.cores.get(number, Core(number))

    def physical(self, number: int) -> tuple[int, ...]:
        """All threads of the physical core that this one is of."""
        return tuple(sorted((number, *self.core(number).siblings)))

    def isolated(self) -> frozenset[int]:
        return frozenset(n for n, core in self.cores.items() if core.isolated)


def written(cores: Iterable[int]) -> str:
    """As a list of CPUs, in the given order; what rises by one is a range. "none" of none."""
    runs: list[list[int]] = []
    for core in cores:
        if runs and runs[-1][-1] + 1 == core:
            runs[-1].append(core)
        else:
            runs.append([core])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(parts) or "none"


def last_possible(files: Files) -> int | None:
    """The highest number that a CPU of the machine can have; None: not known."""
    names = ("possible", "present", "online")
    return max(
        (n for name in names for n in cpus_or_none(files.text(f"{CPUS}/{name}"))), default=None
    )


def known(text: str) -> int | None:
    """A number of a socket or a node; the kernel writes -1 where there is none."""
    found = number(text)
    return found if isinstance(found, int) and found >= 0 else None


def groups_of(files: Files) -> dict[str, str]:
    """Our control group by controller; that of version 2 by an empty name."""
    found = {}
    for line in files.text("proc/self/cgroup").splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        found.update(dict.fromkeys(names.split(","), path))
    return found


def nearest(files: Files, hierarchy: str, path: str, names: tuple[str, ...]) -> tuple[str, str]:
    """A file of the group, or of the nearest one around it, and what it holds. A container may see
    its own group as the root, whatever the path says."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for depth in range(len(parts), -1, -1):
        for name in names:
            file = "/".join([hierarchy, *parts[:depth], name])
            text = files.text(file)
            if text:
                return file, text
    return "", ""


def cpuset_of(files: Files) -> CpuSet | None:
    groups = groups_of(files)
    places: list[tuple[str, str, tuple[str, ...]]] = [
        (f"{CGROUPS}/cpuset", groups.get("cpuset", "/"), ("cpuset.effective_cpus", "cpuset.cpus")),
        (CGROUPS, groups.get("", "/"), ("cpuset.cpus.effective",)),
    ]
    for place in places:
        file, text = nearest(files, *place)
        if cpus_or_none(text):
            return CpuSet(frozenset(cpus_or_none(text)), f"/{file}")
    return None


def quota_of(files: Files) -> float | None:
    groups = groups_of(files)
    _, text = nearest(files, CGROUPS, groups.get("", "/"), ("cpu.max",))
    if "cpu" in groups and not text:
        base, path = f"{CGROUPS}/cpu", groups["cpu"]
        _, time = nearest(files, base, path, ("cpu.cfs_quota_us",))
        _, period = nearest(files, base, path, ("cpu.cfs_period_us",))
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
            socket=known(files.text(f"{topology}/physical_package_id")),
            node=nodes.get(n),
            siblings=tuple(s for s in siblings if s != n),
            isolated=n in isolated,
            tickless=n in tickless,
        )
    return found


def crypto_of(files: Files) -> tuple[tuple[str, int | None], ...]:
    base = "sys/bus/pci/devices"
    return tuple(
        (name, known(files.text(f"{base}/{name}/numa_node")))
        for name in files.names(base, r"[\da-f]+:[\da-f]+:[\da-f]+\.[\da-f]")
        if files.text(f"{base}/{name}/class").startswith(CO_PROCESSORS)
    )


def node_of_device(files: Files, device: str) -> int | None:
    """Of what DPDK is to open: a PCI address, or a driver with the kernel's interface."""
    name = device.split(",")[0]
    if PCI_ADDRESS.fullmatch(name):
        address = (name if name.count(":") == 2 else f"0000:{name}").lower()
        return known(files.text(f"sys/bus/pci/devices/{address}/numa_node"))
    interface = re.search(r",iface=([^,/]+)", device)
    if interface:
        return known(files.text(f"sys/class/net/{interface[1]}/device/numa_node"))
    return None


def read(files: Files) -> Machine:
    online = frozenset(cpus_or_none(files.text(f"{CPUS}/online")))
    present = frozenset(cpus_or_none(files.text(f"{CPUS}/present"))) or online
    online = online or present
    affinity = cpus_or_none(files.fields("proc/self/status").get("Cpus_allowed_list", ""))
    isolated = frozenset(cpus_or_none(files.text(f"{CPUS}/isolated")))
    cpuset = cpuset_of(files)
    allowed = frozenset(affinity) or online
    # Nobody's affinity has isolated cores unless it is asked for: src/platform/cpus.h.
    asked = isolated & cpuset.cores if cpuset else isolated
    return Machine(
        present=present,
        online=online,
        usable=(allowed | asked) & online,
        affinity=allowed,
        cpuset=cpuset,
        quota=quota_of(files),
        cores=cores_of(files, sorted(online)),
        crypto=crypto_of(files),
    )


def as_told(machine: Machine, files: Files, told: dict[str, list[int]]) -> Machine:
    """With those cores that vcmtsd found; what of them the files did not tell is read."""
    online = frozenset(told["online"])
    return replace(
        machine,
        present=frozenset(told["present"]),
        online=online,
        usable=frozenset(told["usable"]),
        cores=machine.cores if online == machine.online else cores_of(files, sorted(online)),
    )
