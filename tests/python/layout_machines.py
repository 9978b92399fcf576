# SPDX-License-Identifier: BSD-3-Clause
"""Makes /sys and /proc files of simulated machines, and server files for layouts on them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcmts import cli


@dataclass(frozen=True)
class HostSpec:
    """A machine to describe. CPUs are numbered as Linux numbers them on most servers: the first
    threads of all physical cores, socket by socket, then the second threads. A socket is a NUMA
    node. Lists of CPUs are as in the kernel: "0-3,8"."""

    sockets: int = 1
    cores: int = 8  # physical ones per socket
    threads: int = 1
    offline: str = ""
    isolated: str = ""
    tickless: str = ""
    affinity: str = ""  # default: all online CPUs
    cpuset: str = ""
    cgroup_version: int = 2
    quota: str = ""  # as cpu.max
    pci_devices: tuple[tuple[str, str, int], ...] = ()  # PCI address, class, NUMA node
    interface_node: int | None = None  # NUMA node of enp1s0

    def physical(self) -> int:
        return self.sockets * self.cores


def parse_cpu_list(text: str) -> set[int]:
    cpus = set()
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def format_cpu_list(cores: Sequence[int]) -> str:
    return ",".join(map(str, cores))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def write_cpus(root: Path, machine: HostSpec) -> list[int]:
    """Writes the files of CPUs. Returns the online ones."""
    cpus, count = root / "sys/devices/system/cpu", machine.physical() * machine.threads
    online = [n for n in range(count) if n not in parse_cpu_list(machine.offline)]
    write(cpus / "present", f"0-{count - 1}")
    write(cpus / "online", format_cpu_list(online))
    write(cpus / "isolated", machine.isolated)
    write(cpus / "nohz_full", machine.tickless or "(null)")
    for node in range(machine.sockets):
        local = [n for n in online if n % machine.physical() // machine.cores == node]
        write(root / f"sys/devices/system/node/node{node}/cpulist", format_cpu_list(local))
        for n in local:
            siblings = [s for s in online if s % machine.physical() == n % machine.physical()]
            topology = cpus / f"cpu{n}/topology"
            write(topology / "physical_package_id", str(node))
            write(topology / "thread_siblings_list", format_cpu_list(siblings))
    return online


def write_host(root: Path, machine: HostSpec) -> Path:
    """Writes all files of the machine below `root`, and returns it."""
    online = write_cpus(root, machine)
    write(
        root / "proc/self/status",
        f"Name:\tx\nCpus_allowed_list:\t{machine.affinity or format_cpu_list(online)}",
    )
    base = root / "sys/fs/cgroup"
    if machine.cgroup_version == 2:
        write(root / "proc/self/cgroup", "0::/box/inner")
        # the cpuset controller is not enabled for the inner group
        write(base / "box/cpuset.cpus.effective", machine.cpuset)
        write(base / "box/inner/cpu.max", machine.quota or "max 100000")
    else:
        write(root / "proc/self/cgroup", "5:cpuset:/docker/4711\n3:cpu,cpuacct:/docker/4711\n0::/")
        # a container sees its own group as the root
        write(base / "cpuset/cpuset.cpus", machine.cpuset)
        quota, _, period = (machine.quota or "-1 100000").partition(" ")
        write(base / "cpu/cpu.cfs_quota_us", quota)
        write(base / "cpu/cpu.cfs_period_us", period)
    for address, kind, node in machine.pci_devices:
        write(root / f"sys/bus/pci/devices/{address}/class", kind)
        write(root / f"sys/bus/pci/devices/{address}/numa_node", str(node))
    if machine.interface_node is not None:
        write(root / "sys/class/net/enp1s0/device/numa_node", str(machine.interface_node))
    return root


def service_group_item(number: int, upstream: bool, threads: str) -> str:
    channel = (
        f"upstream_channels: [{{id: 1, type: ofdma, rate: 1 Gbps, session: {number}}}], "
        if upstream
        else ""
    )
    return (
        f"  - {{service_group: {number}, {threads}channels: [{{id: 1, type: ofdm, rate: 1 Gbps, "
        f"session: {number}}}], {channel}modems: [{{mac: '02:01:00:00:00:{number:02x}', addresses: "
        f"[10.0.0.{number}], bonding_group: 1, security: {{said: 1, cipher: none}}, service_flows: "
        "[{id: 1}]}]}\n"
    )


def server_yaml(
    threads: str, upstreams: Sequence[bool], *, own: dict[int, str] | None = None, network: str = ""
) -> str:
    """A server file. `threads` is the setting for all groups, `own` that of single groups by their
    id, `upstreams` whether each group has an upstream channel."""
    ports = f"ports: {{network: {{device: '{network}'}}}}\n" if network else ""
    items = [
        service_group_item(number, upstream, (own or {}).get(number, ""))
        for number, upstream in enumerate(upstreams, 1)
    ]
    return (
        f"{threads}\n{ports}rphy: {{core_ip: 192.0.2.1, rpd_ip: 192.0.2.2}}\n"
        "bonding_groups: [{id: 1, channels: [1]}]\nservice_groups:\n" + "".join(items)
    )


def run_layout(
    folder: Path, machine: HostSpec, text: str, *args: str
) -> tuple[int, dict[str, Any]]:
    """Returns exit status and JSON of `vcmts layout` for a server file on a described machine."""
    root, path = write_host(folder / "machine", machine), folder / "server.yaml"
    result = folder / "layout.json"
    path.write_text(text, encoding="utf-8")
    options = ("--config", str(path), "--machine", str(root), "--json", str(result))
    status = cli.main(["layout", *options, *args])
    answer: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return status, answer
