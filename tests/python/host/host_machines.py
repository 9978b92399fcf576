# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: two-socket and single-socket servers, a cloud instance, a laptop."""

from collections.abc import Callable
from pathlib import Path

from python.host.host_kernel import Kernel, Nic, relink
from python.layout_machines import HostSpec, write, write_host

FLAGS = "fpu aes pclmulqdq avx2 avx512f vaes vpclmulqdq constant_tsc"
GIB_KB = 1 << 20


def base(
    root: Path, machine: HostSpec, *, vendor: str = "GenuineIntel", flags: str = FLAGS
) -> None:
    """Writes the files that all machines have: processor, memory, huge pages, routes."""
    write_host(root, machine)
    write(root / "proc/cpuinfo", f"vendor_id\t: {vendor}\nmodel name\t: A CPU\nflags\t\t: {flags}")
    write(root / "proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 quiet")
    write(root / "proc/meminfo", f"MemTotal: {64 * GIB_KB * machine.sockets} kB")
    write(root / "proc/net/route", "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU")
    write(root / "proc/net/ipv6_route", "")
    write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
    pools = [f"sys/devices/system/node/node{n}" for n in range(machine.sockets)]
    for pool in ("sys/kernel/mm", *pools):
        for size in (2048, 1048576):
            for name in ("nr_hugepages", "free_hugepages"):
                write(root / pool / f"hugepages/hugepages-{size}kB/{name}", "0")
    for pool in pools:
        write(root / pool / "meminfo", f"Node 0 MemTotal: {64 * GIB_KB} kB")


def grub(root: Path) -> None:
    write(root / "usr/sbin/update-grub", "")
    (root / "etc/default/grub.d").mkdir(parents=True)
    write(root / "boot/grub.cfg", "")
    (root / "boot/grub.cfg").write_text("\n")


def default_route(root: Path, name: str) -> None:
    write(
        root / "proc/net/route",
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU\n"
        f"{name} 00000000 0100000A 0003 0 0 0 00000000 0 0 0",
    )


def server(root: Path) -> Kernel:
    """Two sockets with hyper-threads, a card with two ports on each, and a port for login."""
    crypto = (("0000:6b:00.0", "0x0b4000", 1),)
    base(root, HostSpec(sockets=2, cores=4, threads=2, pci_devices=crypto))
    grub(root)
    default_route(root, "eno1")
    login = Nic("0000:01:00.0", "eno1", "igb", ("8086", "1521"), 0, 7, True, ("10.0.0.5",))
    cards = [
        Nic(f"0000:{bus}:00.{port}", f"ens{node}f{port}", node=node, max_vfs=64)
        for node, bus in enumerate(("3b", "af"))
        for port in (0, 1)
    ]
    return Kernel(root, [login, *cards])


def single(root: Path) -> Kernel:
    """One socket without hyper-threads. The login is over a VLAN on a bond of two ports."""
    base(root, HostSpec(cores=8), vendor="AuthenticAMD")
    grub(root)
    default_route(root, "bond0.7")
    nics = [
        Nic("0000:02:00.0", "eno1", "igb", ("8086", "1521"), up=True),
        Nic("0000:02:00.1", "eno2", "igb", ("8086", "1521"), up=True),
        Nic("0000:05:00.0", "enp5s0", "ixgbe", ("8086", "10fb"), max_vfs=63),
    ]
    kernel = Kernel(root, nics)
    net = root / "sys/class/net"
    for name, lower in (("bond0.7", ["bond0"]), ("bond0", ["eno1", "eno2"])):
        write(net / name / "flags", "0x1003")
        for one in lower:
            relink(net / name / f"lower_{one}", f"../{one}")
            relink(net / one / "master", f"../{name}")
    return kernel


def cloud(root: Path) -> Kernel:
    """A virtual machine without an IOMMU, whose cards have no virtual functions."""
    base(root, HostSpec(cores=2, threads=2), flags=f"{FLAGS} hypervisor")
    grub(root)
    default_route(root, "ens5")
    ena = ("1d0f", "ec20")
    nics = [
        Nic("0000:00:05.0", "ens5", "ena", ena, up=True, addresses=("172.31.0.9",)),
        Nic("0000:00:06.0", "ens6", "ena", ena),
        Nic("0000:00:07.0", "ens7", "ena", ena),
    ]
    return Kernel(root, nics, iommu=False)


def laptop(root: Path) -> Kernel:
    """A single interface, which has the default route, and an unknown boot loader."""
    base(root, HostSpec(cores=2, threads=2), flags="fpu aes pclmulqdq avx2")
    default_route(root, "enp0s31f6")
    nic = Nic("0000:00:1f.6", "enp0s31f6", "e1000e", ("8086", "15d7"), -1, up=True)
    return Kernel(root, [nic])


def small(root: Path) -> Kernel:
    """The smallest machine with one object of each kind, for tests that repeat many changes."""
    base(root, HostSpec(cores=2))
    grub(root)
    default_route(root, "eth0")
    nics = [
        Nic("0000:02:00.0", "eth0", "e1000e", ("8086", "15d7"), up=True, addresses=("10.0.0.5",)),
        Nic("0000:05:00.0", "eth1", "igb", ("8086", "10c9"), max_vfs=2),
    ]
    return Kernel(root, nics)


MACHINES: dict[str, Callable[[Path], Kernel]] = {
    "server": server,
    "single": single,
    "cloud": cloud,
    "laptop": laptop,
    "small": small,
}
