# SPDX-License-Identifier: BSD-3-Clause
"""The data of a plan: all changes to the host, and the facts that it was made for.

Names of fields are also the keys of plan.json.
"""

import hashlib
import json
from dataclasses import asdict, dataclass

SCHEMA = 2
NAME = "plan.json"
SIZES_KB = (2048, 1048576)
LOADERS = ("grub", "kernelstub", "cmdline", "")
# Files with kernel arguments per boot loader. The one for grub belongs to the plan alone.
GRUB = "etc/default/grub.d/90-vcmts-host.cfg"
KERNELSTUB = "etc/kernelstub/configuration"
CMDLINE = "etc/kernel/cmdline"
NO_IOMMU = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode"


@dataclass(frozen=True)
class Function:
    """A virtual function, or the whole card if `index` is None."""

    index: int | None
    role: str
    groups: tuple[int, ...]
    mac: str  # "": unchanged
    vlan: int  # 0: none
    check: bool  # spoof check: the card drops frames from other MAC addresses
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
    mac: str  # "": unknown
    node: int | None
    functions: tuple[Function, ...]
    made: int  # virtual functions; 0: the whole card is a port
    others: bool  # another program creates the functions at each boot
    addresses: tuple[str, ...]  # per virtual function
    bind: bool  # to vfio-pci
    named: bool  # by --cards: the card may be up, without an address
    mtu: int

    def port_of(self, one: Function) -> str:
        return self.address if one.index is None else self.addresses[one.index]


@dataclass(frozen=True)
class Facts:
    """Facts that must not have changed when the plan is applied."""

    # number, socket, node, siblings
    cores: tuple[tuple[int, int | None, int | None, tuple[int, ...]], ...]
    loader: str


@dataclass(frozen=True)
class Plan:
    groups: tuple[int, ...]
    main_core: int
    polling: tuple[int, ...]
    isolated: tuple[int, ...]
    pages: tuple[Pages, ...]
    arguments: tuple[str, ...]  # all kernel arguments of the plan, those of the running kernel too
    cards: tuple[PlannedCard, ...]
    iommu: bool  # it works now
    no_iommu: bool  # VFIO works without one
    facts: Facts

    def stored(self) -> str:
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1) + "\n"

    def digest(self) -> str:
        return hashlib.sha256(self.stored().encode()).hexdigest()

    @property
    def uses_vfio(self) -> bool:
        return any(card.bind for card in self.cards)
