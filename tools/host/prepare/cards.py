# SPDX-License-Identifier: BSD-3-Clause
"""The network cards of a machine by PCI address: who drives them, and which functions they have.

What is measured on a machine tells no names (vcmts.system.facts); who prepares one needs them.
"""

import re
from dataclasses import dataclass

from vcmts.layout.machine import known
from vcmts.system.files import Files

DEVICES = "sys/bus/pci/devices"
NETS = "sys/class/net"
ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
INTERFACE = r"(?!\.\.?$)[!-.0-~]{1,15}"
MAC = r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"
ID = r"[0-9a-f]{4}"
ETHERNET = "0x0200"
BRIDGE = "0x06"
VFIO = "vfio-pci"
MELLANOX = "15b3"  # DPDK drives these beside the kernel's driver, and not without it
MOST_FUNCTIONS = 1024


@dataclass(frozen=True)
class Card:
    """A PCI function with a network port: of a card, or a virtual one."""

    address: str
    vendor: str
    device: str
    driver: str  # "": nobody has it
    override: str  # the driver that alone may have it; "": any
    node: int | None
    interfaces: tuple[str, ...]
    mac: str
    speed: int | None  # Mbit/s
    most: int  # virtual functions that it can have
    functions: int  # that it has
    first: int  # from its own place on the bus to that of the first, and from each to the next
    stride: int
    parent: str  # of a virtual function
    group: str  # of the IOMMU

    @property
    def beside_kernel(self) -> bool:
        return self.vendor == MELLANOX

    def function(self, index: int) -> str:
        """Where the n-th virtual function will be, as PCIe has it."""
        domain, bus, slot = self.address.split(":")
        device, function = slot.split(".")
        place = int(bus, 16) << 8 | int(device, 16) << 3 | int(function)
        place += self.first + index * self.stride
        return f"{domain}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7}"


def count(files: Files, name: str, most: int) -> int:
    """A number from 0 on; what is none, or beyond reason, is 0."""
    found = files.count(name)
    return found if 0 <= found <= most else 0


def matching(text: str, pattern: str) -> str:
    return text if re.fullmatch(pattern, text) else ""


def override_of(files: Files, address: str) -> str:
    return files.text(f"{DEVICES}/{address}/driver_override").replace("(null)", "")


def interfaces_of(files: Files, address: str) -> tuple[str, ...]:
    """Also of virtio, whose interface is below a device of its own."""
    base = f"{DEVICES}/{address}"
    below = [f"{base}/net"]
    below += [f"{base}/{name}/net" for name in files.names(base, r"virtio\d+")]
    return tuple(name for place in below for name in files.names(place, INTERFACE))


def card(files: Files, address: str) -> Card:
    base = f"{DEVICES}/{address}"
    interfaces = interfaces_of(files, address)
    net = f"{NETS}/{interfaces[0]}" if interfaces else ""
    return Card(
        address=address,
        vendor=matching(files.text(f"{base}/vendor").removeprefix("0x"), ID),
        device=matching(files.text(f"{base}/device").removeprefix("0x"), ID),
        driver=files.link(f"{base}/driver"),
        override=override_of(files, address),
        node=known(files.text(f"{base}/numa_node")),
        interfaces=interfaces,
        mac=matching(files.text(f"{net}/address"), MAC) if net else "",
        speed=known(files.text(f"{net}/speed")) if net else None,
        most=count(files, f"{base}/sriov_totalvfs", MOST_FUNCTIONS),
        functions=count(files, f"{base}/sriov_numvfs", MOST_FUNCTIONS),
        first=count(files, f"{base}/sriov_offset", 0xFFFF),
        stride=count(files, f"{base}/sriov_stride", 0xFFFF),
        parent=matching(files.link(f"{base}/physfn"), ADDRESS),
        group=files.link(f"{base}/iommu_group"),
    )


def addresses(files: Files, kind: str) -> list[str]:
    """Of all PCI devices of a class."""
    names = sorted(files.names(DEVICES, ADDRESS))  # they are hexadecimal
    return [name for name in names if files.text(f"{DEVICES}/{name}/class").startswith(kind)]


def cards(files: Files) -> list[Card]:
    return [card(files, address) for address in addresses(files, ETHERNET)]


def function_address(files: Files, parent: str, index: int) -> str:
    """Of a virtual function that is there; else ""."""
    return matching(files.link(f"{DEVICES}/{parent}/virtfn{index}"), ADDRESS)


def function_addresses(files: Files, parent: Card, made: int) -> tuple[str, ...]:
    """Where its functions are; where it has none yet, where they will be."""
    return tuple(
        function_address(files, parent.address, index) or parent.function(index)
        for index in range(made)
    )


def beside(files: Files, found: Card) -> list[str]:
    """What shares the IOMMU's group of a card, and a driver of the kernel has: bridges may."""
    others = files.names(f"sys/kernel/iommu_groups/{found.group}/devices", ADDRESS)
    return [
        name
        for name in others
        if found.group and name != found.address
        if not files.text(f"{DEVICES}/{name}/class").startswith(BRIDGE)
        if files.link(f"{DEVICES}/{name}/driver") not in ("", VFIO)
    ]


def iommu_groups(files: Files) -> list[str]:
    """Without those that VFIO makes up for devices that no IOMMU is before."""
    base = "sys/kernel/iommu_groups"
    return [
        name
        for name in files.names(base, r"[0-9]+")
        if files.text(f"{base}/{name}/name") != "vfio-noiommu"
    ]


def iommu(files: Files) -> bool:
    return bool(iommu_groups(files))
