# SPDX-License-Identifier: BSD-3-Clause
"""Facts of the hardware and its firmware, as far as the kernel lets them be seen."""

import json
from collections import defaultdict
from collections.abc import Iterator

from host.prepare.cards import DEVICES, Card, count, function_address
from host.prepare.fact import BETTER, MISSING, OK, Machines, Row
from vcmts.layout.machine import written
from vcmts.system.files import NOT_KNOWN, Files, number

CPUS = "sys/devices/system/cpu"
DMI = "sys/class/dmi/id"
INTEL = "8086"
# Intel's QuickAssist by PCI device: DH895xCC, C62x, C3xxx, D15xx, C4xxx, and those of Xeons from
# the fourth generation on; of each the device as a whole and a function of it.
QAT = ("0435", "37c8", "19e2", "6f54", "18a0", "4940", "4942", "4944", "4946")
QAT_FUNCTIONS = ("0443", "37c9", "19e3", "6f55", "18a1", "4941", "4943", "4945", "4947")
SST_DRIVERS = ("isst_if_common", "isst_tpmi_core", "intel_vsec_tpmi")
MOST_TEXT = 64  # of what firmware says of itself


def shown(text: str) -> str:
    """Firmware's own words, for a terminal."""
    return "".join(c for c in text if c.isprintable())[:MOST_TEXT]


def by_ethtool(files: Files, card: Card) -> str:
    for line in files.run(("ethtool", "-i", card.interfaces[0])).splitlines():
        name, _, value = line.partition(":")
        if name == "firmware-version" and value.strip() not in ("", "N/A"):
            return value.strip()
    return ""


def by_devlink(files: Files, card: Card) -> str:
    name = f"pci/{card.address}"
    try:
        told = json.loads(files.run(("devlink", "-j", "dev", "info", name)))
        running = told["info"][name]["versions"]["running"]
        return str(running.get("fw") or running.get("fw.mgmt") or "")
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def card_firmware(files: Files, card: Card) -> str:
    """Its version; "" where nobody tells it."""
    if not card.interfaces:
        return ""
    return shown(by_ethtool(files, card) or by_devlink(files, card))


def page_sizes(m: Machines) -> Iterator[Row]:
    """Which sizes there are, and how many are on which node."""
    names = m.files.names("sys/kernel/mm/hugepages", r"hugepages-[0-9]+kB")
    usual = m.files.fields("proc/meminfo").get("Hugepagesize", "").replace(" ", "")
    words = []
    for name in names:
        size = name.removeprefix("hugepages-")
        words.append(f"{size} (as usual)" if size == usual else size)
    for node in m.files.names("sys/devices/system/node", r"node[0-9]+"):
        base = f"sys/devices/system/node/{node}/hugepages"
        there = [(name, count(m.files, f"{base}/{name}/nr_hugepages", 1 << 40)) for name in names]
        listed = [f"{n} of {name.removeprefix('hugepages-')}" for name, n in there if n]
        words += [f"{node}: {', '.join(listed)}"] if listed else []
    flags = m.files.fields("proc/cpuinfo").get("flags", "").split()
    words += ["none of 1 GB: the processor has none"] if flags and "pdpe1gb" not in flags else []
    yield Row("huge page sizes", "; ".join(words) or "none: the kernel has no huge pages")


def accelerator_words(files: Files, address: str) -> tuple[str, str]:
    """What it is, and its driver."""
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


def accelerators(m: Machines) -> Iterator[Row]:
    """Functions are told with the device that has them, where that is seen."""
    listed = [
        (address, node)
        for address, node in m.machine.crypto
        if not m.files.link(f"{DEVICES}/{address}/physfn")
    ]
    for address, node in listed:
        words, driver = accelerator_words(m.files, address)
        words += f", node {node}" if node is not None else ""
        todo = "" if driver else "a driver: of the kernel for functions, or vfio-pci"
        yield Row(f"accelerator {address}", words, OK if driver else BETTER, todo)
    if not listed:
        yield Row("accelerators", "none: the cores encrypt")


def speeds(m: Machines) -> Iterator[Row]:
    """Speed Select: some cores with a higher guaranteed frequency than the others."""
    at: defaultdict[int, list[int]] = defaultdict(list)
    for core in sorted(m.machine.cores):
        khz = number(m.files.text(f"{CPUS}/cpu{core}/cpufreq/base_frequency"))
        if isinstance(khz, int) and khz > 0:
            at[khz].append(core)
    loaded = [name for name in SST_DRIVERS if m.files.path(f"sys/module/{name}").is_dir()]
    there = f"its driver {loaded[0]} is loaded" if loaded else "no driver of it is loaded"
    bases = [f"{khz / 1e6:.1f} GHz for cores {written(at[khz])}" for khz in sorted(at)[::-1]]
    text = f"{there}; base frequency {'; '.join(bases) or NOT_KNOWN}"
    todo = f"cores {written(at[max(at)])} are the ones to poll" if len(at) > 1 else ""
    yield Row("Speed Select", text, OK, todo)


def firmware(m: Machines) -> Iterator[Row]:
    states = m.files.names(f"{CPUS}/cpu0/cpuidle", r"state[0-9]+")
    deepest = m.files.text(f"{CPUS}/cpu0/cpuidle/{states[-1]}/name") if states else ""
    hypervisor = m.facts["hypervisor"]
    where = "virtual machine" if hypervisor["present"] is True else "no hypervisor"
    bios = [shown(m.files.text(f"{DMI}/bios_{name}")) for name in ("vendor", "version", "date")]
    words = [
        f"{where} ({hypervisor['vendor']} {hypervisor['product']})",
        f"BIOS {' '.join(text for text in bios if text) or NOT_KNOWN}",
        f"microcode {m.facts['microcode']}",
        f"deepest idle state {deepest or NOT_KNOWN}",
    ]
    yield Row("firmware", ", ".join(words))
    kind = m.facts["container"]["kind"]
    if kind not in (NOT_KNOWN, "none"):
        yield Row("container", str(kind), MISSING, "call it on the host itself")
