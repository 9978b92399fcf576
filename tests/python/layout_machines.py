# SPDX-License-Identifier: BSD-3-Clause
"""Machines as their /sys and /proc tell of them, and service groups to place on them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcmts import cli


@dataclass(frozen=True)
class Recorded:
    """Numbers are dealt out as Linux does it on most servers: first a thread of every physical
    core, socket by socket, then the second threads. A socket is a NUMA node."""

    sockets: int = 1
    cores: int = 8  # physical ones of a socket
    threads: int = 1
    offline: str = ""
    isolated: str = ""
    tickless: str = ""
    affinity: str = ""  # all that are online where not given
    cpuset: str = ""
    version: int = 2  # of control groups
    quota: str = ""  # as cpu.max
    devices: tuple[tuple[str, str, int], ...] = ()  # PCI address, class, node
    interface: int | None = None  # NUMA node of enp1s0

    def physical(self) -> int:
        return self.sockets * self.cores


def listed(text: str) -> set[int]:
    found = set()
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def text_of(cores: Sequence[int]) -> str:
    return ",".join(map(str, cores))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def put_cores(root: Path, machine: Recorded) -> list[int]:
    """Returns those that are online."""
    cpus, count = root / "sys/devices/system/cpu", machine.physical() * machine.threads
    online = [n for n in range(count) if n not in listed(machine.offline)]
    put(cpus / "present", f"0-{count - 1}")
    put(cpus / "online", text_of(online))
    put(cpus / "isolated", machine.isolated)
    put(cpus / "nohz_full", machine.tickless or "(null)")
    for node in range(machine.sockets):
        mine = [n for n in online if n % machine.physical() // machine.cores == node]
        put(root / f"sys/devices/system/node/node{node}/cpulist", text_of(mine))
        for n in mine:
            siblings = [s for s in online if s % machine.physical() == n % machine.physical()]
            topology = cpus / f"cpu{n}/topology"
            put(topology / "physical_package_id", str(node))
            put(topology / "thread_siblings_list", text_of(siblings))
    return online


def record(root: Path, machine: Recorded) -> Path:
    online = put_cores(root, machine)
    put(
        root / "proc/self/status",
        f"Name:\tx\nCpus_allowed_list:\t{machine.affinity or text_of(online)}",
    )
    base = root / "sys/fs/cgroup"
    if machine.version == 2:
        put(root / "proc/self/cgroup", "0::/box/inner")
        # the controller is not in use for the inner group
        put(base / "box/cpuset.cpus.effective", machine.cpuset)
        put(base / "box/inner/cpu.max", machine.quota or "max 100000")
    else:
        put(root / "proc/self/cgroup", "5:cpuset:/docker/4711\n3:cpu,cpuacct:/docker/4711\n0::/")
        # a container sees its own group as the root
        put(base / "cpuset/cpuset.cpus", machine.cpuset)
        quota, _, period = (machine.quota or "-1 100000").partition(" ")
        put(base / "cpu/cpu.cfs_quota_us", quota)
        put(base / "cpu/cpu.cfs_period_us", period)
    for address, kind, node in machine.devices:
        put(root / f"sys/bus/pci/devices/{address}/class", kind)
        put(root / f"sys/bus/pci/devices/{address}/numa_node", str(node))
    if machine.interface is not None:
        put(root / "sys/class/net/enp1s0/device/numa_node", str(machine.interface))
    return root


def item(number: int, upstream: bool, threads: str) -> str:
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


def server(
    threads: str,
    upstreams: Sequence[bool],
    *,
    own: dict[int, str] | None = None,
    network: str = "",
) -> str:
    """A server file: what it says of threads, for all groups and for single ones by their id."""
    ports = f"ports: {{network: {{device: '{network}'}}}}\n" if network else ""
    items = [
        item(number, upstream, (own or {}).get(number, ""))
        for number, upstream in enumerate(upstreams, 1)
    ]
    return (
        f"{threads}\n{ports}rphy: {{core_ip: 192.0.2.1, rpd_ip: 192.0.2.2}}\n"
        "bonding_groups: [{id: 1, channels: [1]}]\nservice_groups:\n" + "".join(items)
    )


def explained(place: Path, machine: Recorded, text: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit status and answer of `vcmts layout` for a server file on a recorded machine."""
    root, path, result = record(place / "machine", machine), place / "server.yaml", place / "l.json"
    path.write_text(text, encoding="utf-8")
    given = ("--config", str(path), "--machine", str(root), "--json", str(result))
    status = cli.main(["layout", *given, *words])
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return status, found
