# SPDX-License-Identifier: BSD-3-Clause
"""A simulated kernel for `vcmts host`, in a folder: writes to its sysfs files have effects, and
programs change it. Crash simulates a power failure during a change."""

import errno
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.prepare.system import NEW, Done, System
from python.layout_machines import write
from vcmts.system.files import Files

PCI = "sys/bus/pci"
Tree = dict[str, tuple[str, int, str]]


class Crash(BaseException):
    """The power fails."""


@dataclass(frozen=True)
class Nic:
    address: str
    name: str = ""  # of its interface, while bound to `driver`
    driver: str = "ice"
    ids: tuple[str, str] = ("8086", "1592")
    node: int = 0
    max_vfs: int = 0  # limit of virtual functions
    up: bool = False
    addresses: tuple[str, ...] = ()
    group: str = ""  # of the IOMMU
    kind: str = "0x020000"

    @property
    def mac(self) -> str:
        return f"52:54:00:{self.address[5:10]}:0{self.address[11]}"


def relink(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


@dataclass
class Kernel:
    root: Path
    nics: list[Nic]
    iommu: bool = True
    pages: int = 1 << 20  # limit of 2-MB pages
    refused: set[str] = field(default_factory=set)  # cards that refuse virtual functions
    ignores_mac: bool = False  # cards ignore MAC addresses for their functions
    links: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # of functions, by card
    called: list[tuple[str, ...]] = field(default_factory=list)  # commands
    has_ip: bool = True
    grub_result: Done | None = None  # result of update-grub

    def __post_init__(self) -> None:
        write(self.root / PCI / "drivers_probe", "")
        (self.root / "sys/kernel/iommu_groups").mkdir(parents=True, exist_ok=True)
        for nic in self.nics:
            self.plug(nic)
        for name in ("sys/class/net", "sys/module", "var/lib", "run", "etc"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def device(self, address: str) -> Path:
        return self.root / PCI / "devices" / address

    def text(self, path: Path) -> str:
        return path.read_text(encoding="utf-8").strip() if path.exists() else ""

    def plug(self, nic: Nic) -> None:
        folder = self.device(nic.address)
        vendor, device = nic.ids
        for name, text in (
            ("class", nic.kind),
            ("vendor", f"0x{vendor}"),
            ("device", f"0x{device}"),
            ("numa_node", str(nic.node)),
            ("driver_override", "(null)"),
        ):
            write(folder / name, text)
        if nic.max_vfs:
            for name, text in (
                ("sriov_totalvfs", str(nic.max_vfs)),
                ("sriov_numvfs", "0"),
                ("sriov_drivers_autoprobe", "1"),
                ("sriov_offset", "16"),
                ("sriov_stride", "2"),
            ):
                write(folder / name, text)
        self.driver_folder(nic.driver)
        if self.iommu:
            group = nic.group or str(len(list((self.root / "sys/kernel/iommu_groups").iterdir())))
            self.set_iommu_group(nic.address, group)
        self.attach(nic.address, nic.driver)

    def set_iommu_group(self, address: str, group: str) -> None:
        relink(self.device(address) / "iommu_group", f"../../../../kernel/iommu_groups/{group}")
        relink(self.root / f"sys/kernel/iommu_groups/{group}/devices/{address}", "x")

    def driver_folder(self, driver: str) -> None:
        for name in ("bind", "unbind"):
            write(self.root / PCI / "drivers" / driver / name, "")

    def nic(self, address: str) -> Nic | None:
        return next((nic for nic in self.nics if nic.address == address), None)

    def attach(self, address: str, driver: str) -> None:
        relink(self.device(address) / "driver", f"../../drivers/{driver}")
        relink(self.root / PCI / "drivers" / driver / address, f"../../devices/{address}")
        nic = self.nic(address)
        if nic is None or driver != nic.driver or not nic.name:
            return
        net = self.device(address) / "net" / nic.name
        flags = "0x1003" if nic.up else "0x1002"
        for name, text in (("address", nic.mac), ("flags", flags), ("mtu", "1500")):
            write(net / name, text)
        write(net / "speed", "100000")
        write(self.root / f"proc/sys/net/ipv6/conf/{nic.name}/disable_ipv6", "0")
        relink(net / "device", "../..")
        relink(
            self.root / "sys/class/net" / nic.name,
            f"../../bus/pci/devices/{address}/net/{nic.name}",
        )

    def rebind(self, address: str, driver: str) -> None:
        """Rebinds the device to this driver."""
        self.driver_folder(driver)
        self.detach(address)
        self.attach(address, driver)

    def add_interface(self, nic: Nic) -> None:
        """Binds a network card to its driver, which has an interface."""
        self.nics.append(nic)
        self.rebind(nic.address, nic.driver)

    def detach(self, address: str) -> None:
        link = self.device(address) / "driver"
        if not link.is_symlink():
            return
        (self.root / PCI / "drivers" / link.readlink().name / address).unlink()
        link.unlink()
        nic = self.nic(address)
        if nic is not None and nic.name:
            (self.root / "sys/class/net" / nic.name).unlink(missing_ok=True)
            shutil.rmtree(self.device(address) / "net", ignore_errors=True)
            shutil.rmtree(self.root / f"proc/sys/net/ipv6/conf/{nic.name}", ignore_errors=True)

    def make_functions(self, card: str, count: int) -> None:
        folder = self.device(card)
        before = int(self.text(folder / "sriov_numvfs"))
        if card in self.refused:
            raise OSError(errno.EINVAL, "Invalid argument")
        if before and count:
            raise OSError(errno.EBUSY, "Device or resource busy")
        for index in range(before):
            link = folder / f"virtfn{index}"
            self.unplug(link.readlink().name)
            link.unlink()
        bus, slot = card.split(":")[1:]
        routing = int(bus, 16) << 8 | int(slot[:2], 16) << 3 | int(slot[3])
        for index in range(count):
            rid = routing + 16 + 2 * index  # odd ones belong to the card's second port
            address = f"{card[:4]}:{rid >> 8:02x}:{rid >> 3 & 31:02x}.{rid & 7}"
            self.plug_function(card, index, address)
        self.links[card] = [
            {
                "vf": n,
                "address": "00:00:00:00:00:00",
                "vlan_list": [],
                "spoofchk": True,
                "trust": False,
            }
            for n in range(count)
        ]
        write(folder / "sriov_numvfs", str(count))

    def plug_function(self, card: str, index: int, address: str) -> None:
        folder = self.device(address)
        for name, text in (
            ("class", "0x020000"),
            ("vendor", "0x8086"),
            ("device", "0x1889"),
            ("driver_override", "(null)"),
        ):
            write(folder / name, text)
        relink(folder / "physfn", f"../{card}")
        relink(self.device(card) / f"virtfn{index}", f"../{address}")
        if self.iommu:
            self.set_iommu_group(
                address, f"1{len(list((self.root / 'sys/kernel/iommu_groups').iterdir()))}"
            )

    def unplug(self, address: str) -> None:
        self.detach(address)
        group = self.device(address) / "iommu_group"
        if group.is_symlink():
            shutil.rmtree(self.root / "sys/kernel/iommu_groups" / group.readlink().name)
        shutil.rmtree(self.device(address))

    def probe(self, address: str) -> None:
        override = self.text(self.device(address) / "driver_override")
        nic = self.nic(address)
        driver = nic.driver if override == "(null)" and nic else override
        if driver == "vfio-pci" and not self.iommu and not self.no_iommu():
            raise OSError(errno.EINVAL, "Invalid argument")
        if (self.root / PCI / "drivers" / driver).is_dir():
            self.attach(address, driver)

    def no_iommu(self) -> bool:
        return self.text(self.root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y"

    def write(self, name: str, text: str) -> None:
        """Writes a file of sysfs or procfs, with its effects."""
        path = self.root / name
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        value, address = text.strip(), path.parent.name
        if path.name == "sriov_numvfs":
            self.make_functions(address, int(value))
        elif path.name == "driver_override":
            write(path, value or "(null)")
        elif path.name == "unbind":
            self.detach(value)
        elif path.name == "bind":
            self.attach(value, path.parent.name)
        elif path.name == "drivers_probe":
            self.probe(value)
        elif path.name == "nr_hugepages":
            write(path, str(min(int(value), self.pages)))
        else:
            write(path, value)

    def ask(self, command: Sequence[str]) -> str:
        if not self.has_ip or tuple(command) != ("ip", "-j", "address"):
            return ""
        return json.dumps(
            [
                {
                    "ifname": nic.name,
                    "addr_info": [
                        {
                            "local": a,
                            "scope": "link" if a.startswith(("fe80", "169.254")) else "global",
                        }
                        for a in nic.addresses
                    ],
                }
                for nic in self.nics
                if (self.root / "sys/class/net" / nic.name).exists()
            ]
        )

    def start(self, command: Sequence[str]) -> Done:
        arguments = tuple(command)
        self.called.append(arguments)
        if arguments[:3] == ("ip", "-j", "link"):
            return Done(0, json.dumps([{"vfinfo_list": self.links[self.card(arguments[-1])]}]))
        if arguments[:4] == ("ip", "link", "set", "dev"):
            return self.set_link(arguments[4], arguments[5:])
        if arguments == ("modprobe", "vfio-pci"):
            self.driver_folder("vfio-pci")
            write(self.root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N")
        elif arguments == ("modprobe", "--remove", "vfio-pci"):
            shutil.rmtree(self.root / PCI / "drivers/vfio-pci")
            shutil.rmtree(self.root / "sys/module/vfio")
        elif arguments == ("update-grub",) and self.grub_result is not None:
            return self.grub_result
        elif arguments == ("update-grub",):
            parts = sorted((self.root / "etc/default/grub.d").glob("*.cfg"))
            text = "".join(part.read_text() for part in parts)
            write(self.root / "boot/grub.cfg", text)
        else:
            return Done(127, "it is not installed")
        return Done(0, "")

    def card(self, interface: str) -> str:
        return next(nic.address for nic in self.nics if nic.name == interface)

    def set_link(self, name: str, arguments: Sequence[str]) -> Done:
        net = self.root / "sys/class/net" / name
        if arguments[0] in ("up", "down"):
            write(net / "flags", "0x1003" if arguments[0] == "up" else "0x1002")
        elif arguments[0] == "mtu":
            write(net / "mtu", arguments[1])
        else:
            function = self.links[self.card(name)][int(arguments[1])]
            key, value = arguments[2:]
            if key == "mac" and not self.ignores_mac:
                function["address"] = value
            elif key == "vlan":
                function["vlan_list"] = [{"vlan": int(value)}]
            elif key in ("spoofchk", "trust"):
                function[key] = value == "on"
        return Done(0, "")


@dataclass
class SimulatedSystem(System):
    """Changes a machine with this kernel, and crashes at a given change."""

    kernel: Kernel = None  # type: ignore[assignment]
    crash_at: int = -1  # number of the change that crashes; -1: none
    complete: bool = True  # that change is complete at the crash; else partial or not made
    count: int = 0

    def change(self, what: Callable[[], None], part: Callable[[], None] = lambda: None) -> None:
        self.count += 1
        if self.count == self.crash_at:
            (what if self.complete else part)()
            raise Crash
        what()

    def set(self, name: str, text: str) -> None:
        self.change(lambda: self.kernel.write(name, text))

    def put(self, name: str, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
        original = super().put
        self.change(
            lambda: original(name, data, mode, owner),
            lambda: write(self.path(name + NEW), "half of"),
        )

    def link(self, name: str, target: str) -> None:
        original = super().link
        self.change(lambda: original(name, target), lambda: relink(self.path(name + NEW), target))

    def remove(self, name: str) -> None:
        original = super().remove
        self.change(lambda: original(name))

    def append(self, handle: int, data: bytes) -> None:
        original = super().append
        self.change(
            lambda: original(handle, data), lambda: original(handle, data[: len(data) // 2])
        )

    def make_folder(self, name: str) -> None:
        original = super().make_folder
        self.change(lambda: original(name))

    def remove_folder(self, name: str) -> None:
        original = super().remove_folder
        self.change(lambda: original(name))

    def call(self, *command: str) -> None:
        original = super().call
        self.change(lambda: original(*command))


def system(kernel: Kernel, crash_at: int = -1, complete: bool = True) -> SimulatedSystem:
    return SimulatedSystem(Files(kernel.root, kernel.ask), kernel.start, kernel, crash_at, complete)


def tree(root: Path) -> Tree:
    """Returns type, mode and contents of all files below the folder."""
    result: Tree = {}
    for path in sorted(root.rglob("*")):
        name, mode = path.relative_to(root).as_posix(), path.lstat().st_mode
        if path.is_symlink():
            result[name] = ("link", 0, str(path.readlink()))
        elif path.is_dir():
            result[name] = ("folder", mode, "")
        else:
            result[name] = ("file", mode, path.read_text(encoding="latin-1"))
    return result
