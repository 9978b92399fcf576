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
# "": unknown; the user adds the kernel arguments by hand.
LOADERS = ("grub", "kernelstub", "cmdline", "")
# Files with kernel arguments per boot loader, below the root. Apply owns GRUB, and edits the
# others.
GRUB = "etc/default/grub.d/90-vcmts-host.cfg"
KERNELSTUB = "etc/kernelstub/configuration"
CMDLINE = "etc/kernel/cmdline"
NO_IOMMU = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode"


@dataclass(frozen=True)
class Function:
    """A virtual function, or the whole card if `index` is None."""

    index: int | None
    role: str  # one of requirements.ROLES
    groups: tuple[int, ...]  # numbers of the service groups that use the port
    mac: str  # "": a whole card, which keeps its address
    vlan: int  # 0: none
    check: bool  # spoof check: the card drops frames from other MAC addresses
    trust: bool  # the card lets the function set its MAC addresses and promiscuous mode


@dataclass(frozen=True)
class Pages:
    node: int | None  # None: the machine has no NUMA nodes
    size_kb: int  # KiB per page
    count: int  # value of nr_hugepages: all pages, not only new ones

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
    made: int  # virtual functions after apply, used or not; 0: the whole card is a port
    others: bool  # another program creates the functions at boot; apply sets and binds them
    addresses: tuple[str, ...]  # PCI addresses of the virtual functions, by index
    bind: bool  # to vfio-pci
    named: bool  # by --cards, which permits an interface that is up without IP address
    mtu: int  # bytes

    def port_of(self, function: Function) -> str:
        """The PCI address of the function's DPDK port."""
        return self.address if function.index is None else self.addresses[function.index]


@dataclass(frozen=True)
class Facts:
    """Facts that must not have changed when the plan is applied."""

    # number, socket, NUMA node, the other hyper-threads of the physical core
    cores: tuple[tuple[int, int | None, int | None, tuple[int, ...]], ...]
    loader: str


@dataclass(frozen=True)
class Plan:
    groups: tuple[int, ...]
    main_core: int
    polling: tuple[int, ...]  # logical CPUs, as all cores here
    # Polling cores and their hyper-threads, without main_core. (): no core is left for the system.
    isolated: tuple[int, ...]
    pages: tuple[Pages, ...]
    # Kernel arguments that the plan adds to the boot loader's, even if the running kernel has them.
    arguments: tuple[str, ...]
    cards: tuple[PlannedCard, ...]
    iommu: bool  # it worked when the plan was made
    no_iommu: bool  # --no-iommu: VFIO runs in its unsafe mode; never together with iommu
    facts: Facts

    def as_text(self) -> str:
        """The text of plan.json."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1) + "\n"

    def digest(self) -> str:
        """Identifies the plan in the journal of applied changes."""
        return hashlib.sha256(self.as_text().encode()).hexdigest()

    @property
    def uses_vfio(self) -> bool:
        return any(card.bind for card in self.cards)
