# SPDX-License-Identifier: BSD-3-Clause
"""Reads the network cards of a host from /sys: PCI address, driver, interfaces, virtual functions.

Measured results name no devices (vcmts.system.facts); the preparation of a host needs the names.
"""

import re
from dataclasses import dataclass

from vcmts.layout.machine import parse_number
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
MELLANOX = "15b3"  # DPDK uses these together with the kernel driver, and not without it
MAX_FUNCTIONS = 1024


@dataclass(frozen=True)
class Card:
    """A PCI function with a network port, physical or virtual."""

    address: str
    vendor: str
    device: str
    driver: str  # "": not bound
    override: str  # driver_override: only this driver may bind it; "": any
    node: int | None
    interfaces: tuple[str, ...]
    mac: str
    speed: int | None  # Mbit/s
    max_functions: int  # virtual functions
    functions: int  # existing virtual functions
    first: int  # routing ID of the first virtual function, relative to the card (VF Offset)
    stride: int  # routing IDs between virtual functions (VF Stride)
    parent: str  # the card of a virtual function; "": a physical function
    group: str  # IOMMU group

    @property
    def keeps_kernel_driver(self) -> bool:
        return self.vendor == MELLANOX

    def predicted_address(self, index: int) -> str:
        """The PCI address that a virtual function will have, computed as in SR-IOV."""
        domain, bus, slot = self.address.split(":")
        device, function = slot.split(".")
        routing_id = int(bus, 16) << 8 | int(device, 16) << 3 | int(function)
        routing_id += self.first + index * self.stride
        bus_number, device_number = routing_id >> 8 & 0xFF, routing_id >> 3 & 0x1F
        return f"{domain}:{bus_number:02x}:{device_number:02x}.{routing_id & 7}"


def count(files: Files, name: str, most: int) -> int:
    """Reads a number from 0 to `most`. Returns 0 for anything else."""
    found = files.count(name)
    return found if 0 <= found <= most else 0


def matching(text: str, pattern: str) -> str:
    return text if re.fullmatch(pattern, text) else ""


def driver_override(files: Files, address: str) -> str:
    return files.text(f"{DEVICES}/{address}/driver_override").replace("(null)", "")


def interface_names(files: Files, address: str) -> tuple[str, ...]:
    """The kernel interfaces of a device. Those of virtio are in a folder of the virtio device."""
    base = f"{DEVICES}/{address}"
    folders = [f"{base}/net"]
    folders += [f"{base}/{name}/net" for name in files.names(base, r"virtio\d+")]
    return tuple(name for folder in folders for name in files.names(folder, INTERFACE))


def card(files: Files, address: str) -> Card:
    base = f"{DEVICES}/{address}"
    interfaces = interface_names(files, address)
    net = f"{NETS}/{interfaces[0]}" if interfaces else ""
    return Card(
        address=address,
        vendor=matching(files.text(f"{base}/vendor").removeprefix("0x"), ID),
        device=matching(files.text(f"{base}/device").removeprefix("0x"), ID),
        driver=files.link(f"{base}/driver"),
        override=driver_override(files, address),
        node=parse_number(files.text(f"{base}/numa_node")),
        interfaces=interfaces,
        mac=matching(files.text(f"{net}/address"), MAC) if net else "",
        speed=parse_number(files.text(f"{net}/speed")) if net else None,
        max_functions=count(files, f"{base}/sriov_totalvfs", MAX_FUNCTIONS),
        functions=count(files, f"{base}/sriov_numvfs", MAX_FUNCTIONS),
        first=count(files, f"{base}/sriov_offset", 0xFFFF),
        stride=count(files, f"{base}/sriov_stride", 0xFFFF),
        parent=matching(files.link(f"{base}/physfn"), ADDRESS),
        group=files.link(f"{base}/iommu_group"),
    )


def addresses(files: Files, kind: str) -> list[str]:
    """Addresses of all PCI devices whose class begins with `kind`."""
    names = sorted(files.names(DEVICES, ADDRESS))  # they are hexadecimal
    return [name for name in names if files.text(f"{DEVICES}/{name}/class").startswith(kind)]


def cards(files: Files) -> list[Card]:
    return [card(files, address) for address in addresses(files, ETHERNET)]


def function_address(files: Files, parent: str, index: int) -> str:
    """The address of an existing virtual function; "" if it does not exist."""
    return matching(files.link(f"{DEVICES}/{parent}/virtfn{index}"), ADDRESS)


def function_addresses(files: Files, parent: Card, made: int) -> tuple[str, ...]:
    """The addresses of `made` functions. Those of functions that do not exist are predicted."""
    return tuple(
        function_address(files, parent.address, index) or parent.predicted_address(index)
        for index in range(made)
    )


def group_conflicts(files: Files, found: Card) -> list[str]:
    """Other devices of the card's IOMMU group that a kernel driver uses. Bridges do not count."""
    others = files.names(f"sys/kernel/iommu_groups/{found.group}/devices", ADDRESS)
    return [
        name
        for name in others
        if found.group and name != found.address
        if not files.text(f"{DEVICES}/{name}/class").startswith(BRIDGE)
        if files.link(f"{DEVICES}/{name}/driver") not in ("", VFIO)
    ]


def iommu_groups(files: Files) -> list[str]:
    """Names of IOMMU groups, except those that VFIO creates for devices without an IOMMU."""
    base = "sys/kernel/iommu_groups"
    return [
        name
        for name in files.names(base, r"[0-9]+")
        if files.text(f"{base}/{name}/name") != "vfio-noiommu"
    ]


def iommu(files: Files) -> bool:
    return bool(iommu_groups(files))
