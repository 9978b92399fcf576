# SPDX-License-Identifier: BSD-3-Clause
"""A plan: everything that is to be done, and the facts that it was made for."""

import hashlib
import json
from dataclasses import asdict, dataclass

SCHEMA = 2
NAME = "plan.json"
SIZES_KB = (2048, 1048576)
LOADERS = ("grub", "kernelstub", "cmdline", "")
# Where boot loaders have the kernel's arguments; of grub a file of our own.
GRUB = "etc/default/grub.d/90-vcmts-host.cfg"
KERNELSTUB = "etc/kernelstub/configuration"
CMDLINE = "etc/kernel/cmdline"
NO_IOMMU = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode"


@dataclass(frozen=True)
class Function:
    """A virtual function, or where `index` is None the card as a whole."""

    index: int | None
    role: str
    groups: tuple[int, ...]
    mac: str  # "": as it is
    vlan: int
    check: bool  # that nothing is sent from another MAC address
    trust: bool


@dataclass(frozen=True)
class Pages:
    node: int | None  # None: the machine has no NUMA nodes
    size_kb: int
    count: int

    @property
    def file(self) -> str:
        where = "sys/kernel/mm" if self.node is None else f"sys/devices/system/node/node{self.node}"
        return f"{where}/hugepages/hugepages-{self.size_kb}kB/nr_hugepages"


@dataclass(frozen=True)
class PlannedCard:
    address: str
    vendor: str
    device: str
    mac: str  # "": not told
    node: int | None
    functions: tuple[Function, ...]
    made: int  # virtual functions in all; 0: the card as a whole is a port
    others: bool  # somebody else made them, and does at each start
    addresses: tuple[str, ...]  # where its functions will be
    bind: bool  # to vfio-pci
    named: bool  # by --cards: a card as a whole may be up without an address
    mtu: int

    def port_of(self, one: Function) -> str:
        return self.address if one.index is None else self.addresses[one.index]


@dataclass(frozen=True)
class Facts:
    """What must still be so when the plan is applied."""

    cores: tuple[tuple[int, int | None, int | None, tuple[int, ...]], ...]  # socket, node, siblings
    loader: str


@dataclass(frozen=True)
class Plan:
    groups: tuple[int, ...]
    main_core: int
    polling: tuple[int, ...]
    isolated: tuple[int, ...]
    pages: tuple[Pages, ...]
    arguments: tuple[str, ...]  # for the kernel: all that it needs, also those that it has now
    cards: tuple[PlannedCard, ...]
    iommu: bool  # it works now
    no_iommu: bool  # vfio without one
    facts: Facts

    def stored(self) -> str:
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1) + "\n"

    def digest(self) -> str:
        return hashlib.sha256(self.stored().encode()).hexdigest()

    @property
    def uses_vfio(self) -> bool:
        return any(card.bind for card in self.cards)
