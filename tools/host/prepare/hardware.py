# SPDX-License-Identifier: BSD-3-Clause
"""Findings on huge page sizes, crypto accelerators, core frequencies and firmware."""

import json
from collections import defaultdict
from collections.abc import Iterator

from host.prepare.cards import DEVICES, Card, count, function_address
from host.prepare.fact import BETTER, MISSING, OK, Finding, Inspection, only_known
from vcmts.layout.machine import cpu_list
from vcmts.system.files import NOT_KNOWN, Files, number

CPUS = "sys/devices/system/cpu"
DMI = "sys/class/dmi/id"
INTEL = "8086"
# PCI device IDs of Intel QuickAssist: DH895xCC, C62x, C3xxx, D15xx, C4xxx, and Xeons from the
# fourth generation on. QAT_FUNCTIONS has the virtual function of each.
QAT = ("0435", "37c8", "19e2", "6f54", "18a0", "4940", "4942", "4944", "4946")
QAT_FUNCTIONS = ("0443", "37c9", "19e3", "6f55", "18a1", "4941", "4943", "4945", "4947")
SST_DRIVERS = ("isst_if_common", "isst_tpmi_core", "intel_vsec_tpmi")
MAX_TEXT = 64  # characters of a firmware string


def shown(text: str) -> str:
    """Makes a firmware string safe to print on a terminal."""
    return "".join(c for c in text if c.isprintable())[:MAX_TEXT]


def ethtool_firmware(files: Files, card: Card) -> str:
    for line in files.run(("ethtool", "-i", card.interfaces[0])).splitlines():
        name, _, value = line.partition(":")
        if name == "firmware-version" and value.strip() not in ("", "N/A"):
            return value.strip()
    return ""


def devlink_firmware(files: Files, card: Card) -> str:
    name = f"pci/{card.address}"
    try:
        output = json.loads(files.run(("devlink", "-j", "dev", "info", name)))
        running = output["info"][name]["versions"]["running"]
        return str(running.get("fw") or running.get("fw.mgmt") or "")
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def card_firmware(files: Files, card: Card) -> str:
    """The firmware version of a card; "" if neither ethtool nor devlink knows it."""
    if not card.interfaces:
        return ""
    return shown(ethtool_firmware(files, card) or devlink_firmware(files, card))


def page_sizes(m: Inspection) -> Iterator[Finding]:
    """Lists the supported huge page sizes, and the allocated pages per node."""
    names = m.files.names("sys/kernel/mm/hugepages", r"hugepages-[0-9]+kB")
    usual = m.files.fields("proc/meminfo").get("Hugepagesize", "").replace(" ", "")
    words = []
    for name in names:
        size = name.removeprefix("hugepages-")
        words.append(f"{size} (default)" if size == usual else size)
    for node in m.files.names("sys/devices/system/node", r"node[0-9]+"):
        base = f"sys/devices/system/node/{node}/hugepages"
        counts = [(name, count(m.files, f"{base}/{name}/nr_hugepages", 1 << 40)) for name in names]
        listed = [f"{n} of {name.removeprefix('hugepages-')}" for name, n in counts if n]
        words += [f"{node}: {', '.join(listed)}"] if listed else []
    flags = m.files.fields("proc/cpuinfo").get("flags", "").split()
    words += ["no 1 GB pages: the processor has none"] if flags and "pdpe1gb" not in flags else []
    yield Finding("huge page sizes", "; ".join(words) or "none: the kernel has no huge pages")


def describe_accelerator(files: Files, address: str) -> tuple[str, str]:
    """Returns a description of the device, and its driver ("" if none)."""
    base = f"{DEVICES}/{address}"
    vendor, device = (
        shown(files.text(f"{base}/{name}").removeprefix("0x")) for name in ("vendor", "device")
    )
    driver = files.link(f"{base}/driver")
    words = [f"{vendor}:{device}"]
    if vendor == INTEL and device in QAT + QAT_FUNCTIONS:
        words[0] += " (QAT)"
    words.append(driver or "no driver")
    most = count(files, f"{base}/sriov_totalvfs", 1024)
    made = count(files, f"{base}/sriov_numvfs", 1024)
    words += [f"{made} of {most} functions"] if most else []
    drivers: defaultdict[str, int] = defaultdict(int)
    for index in range(made):
        function = function_address(files, address, index)
        drivers[files.link(f"{DEVICES}/{function}/driver") or "no driver"] += 1
    if drivers:
        words.append(f"of which {', '.join(f'{n} {name}' for name, n in sorted(drivers.items()))}")
    services = shown(files.text(f"{base}/qat/cfg_services"))
    return ", ".join([*words, *([f"services {services}"] if services else [])]), driver


def accelerators(m: Inspection) -> Iterator[Finding]:
    """Lists crypto devices. Virtual functions count with their device if it is visible."""
    listed = [
        (address, node)
        for address, node in m.machine.crypto
        if not m.files.link(f"{DEVICES}/{address}/physfn")
    ]
    for address, node in listed:
        words, driver = describe_accelerator(m.files, address)
        words += f", node {node}" if node is not None else ""
        todo = "" if driver else "bind it to its kernel driver, or to vfio-pci"
        yield Finding(f"accelerator {address}", words, OK if driver else BETTER, todo)
    if not listed:
        yield Finding("accelerators", "none: the cores encrypt")


def speeds(m: Inspection) -> Iterator[Finding]:
    """Speed Select: some cores with a higher guaranteed frequency than the others."""
    cores_at: defaultdict[int, list[int]] = defaultdict(list)
    for core in sorted(m.machine.cores):
        khz = number(m.files.text(f"{CPUS}/cpu{core}/cpufreq/base_frequency"))
        if isinstance(khz, int) and khz > 0:
            cores_at[khz].append(core)
    loaded = [name for name in SST_DRIVERS if m.files.path(f"sys/module/{name}").is_dir()]
    state = f"its driver {loaded[0]} is loaded" if loaded else "its driver is not loaded"
    bases = [
        f"{khz / 1e6:.1f} GHz for cores {cpu_list(cores_at[khz])}" for khz in sorted(cores_at)[::-1]
    ]
    words = [("", state), ("base frequency", "; ".join(bases) or NOT_KNOWN)]
    todo = f"poll on cores {cpu_list(cores_at[max(cores_at)])}" if len(cores_at) > 1 else ""
    yield only_known("Speed Select", words, todo=todo)


def firmware(m: Inspection) -> Iterator[Finding]:
    states = m.files.names(f"{CPUS}/cpu0/cpuidle", r"state[0-9]+")
    deepest = m.files.text(f"{CPUS}/cpu0/cpuidle/{states[-1]}/name") if states else ""
    hypervisor = m.facts["hypervisor"]
    where = "virtual machine" if hypervisor["present"] is True else "no hypervisor"
    bios = [shown(m.files.text(f"{DMI}/bios_{name}")) for name in ("vendor", "version", "date")]
    maker = [one for one in (hypervisor["vendor"], hypervisor["product"]) if one != NOT_KNOWN]
    words = [
        ("", f"{where} ({' '.join(maker)})" if maker else where),
        ("BIOS", " ".join(text for text in bios if text) or NOT_KNOWN),
        ("microcode", m.facts["microcode"]),
        ("deepest idle state", deepest or NOT_KNOWN),
    ]
    yield only_known("firmware", words)
    kind = m.facts["container"]["kind"]
    if kind not in (NOT_KNOWN, "none"):
        yield Finding("container", str(kind), MISSING, "run this command on the host itself")
