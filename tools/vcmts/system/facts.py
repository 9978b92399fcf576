# SPDX-License-Identifier: BSD-3-Clause
"""Reads the facts of a host that explain measured results.

Missing facts are "not known", never errors. Results are published, so facts contain no names of
hosts or users, no addresses and no serial numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from vcmts.jsons import Json
from vcmts.system import software as host_software
from vcmts.system.cpu_list import cpus_or_none
from vcmts.system.files import NOT_KNOWN, Files, number

# Kernel arguments that affect results. Others may contain names, so they are omitted.
OPTIONS = re.compile(
    r"(isolcpus|nohz|nohz_full|rcu_nocbs|rcu_nocb_poll|irqaffinity|mitigations|spectre_v2|nospectre_\w+"
    r"|pti|nopti|mds|retbleed|tsx|hugepages|hugepagesz|default_hugepagesz|transparent_hugepage|idle"
    r"|intel_idle\.\w+|processor\.max_cstate|intel_pstate|amd_pstate|cpufreq\.\w+|nosmt|maxcpus|tsc"
    r"|clocksource|skew_tick|nmi_watchdog|nowatchdog|nosoftlockup|audit|preempt|iommu|intel_iommu"
    r"|amd_iommu|numa_balancing|selinux|threadirqs)(=[\w.,:/^+-]*)?"
)
# CPU flags that select the code of crypto, lookups and copies, as in /proc/cpuinfo.
FLAGS = (
    "aes",
    "pclmulqdq",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512ifma",
    "vaes",
    "vpclmulqdq",
    "gfni",
    "waitpkg",
    "movdir64b",
    "constant_tsc",
    "nonstop_tsc",
)


def distinct(files: Files, names: Iterable[str]) -> int | str:
    found = {files.text(name) for name in names}
    found.discard("")
    return len(found) or NOT_KNOWN


def cpu(files: Files) -> Json:
    fields = files.fields("proc/cpuinfo")
    flags = set(fields.get("flags", "").split())
    cpus = files.names("sys/devices/system/cpu", r"cpu\d+")
    topology = [f"sys/devices/system/cpu/{name}/topology" for name in cpus]
    threads = (
        len(cpus_or_none(files.text(f"{topology[0]}/thread_siblings_list"))) if topology else 0
    )
    cores = {
        (files.text(f"{folder}/physical_package_id"), files.text(f"{folder}/core_id"))
        for folder in topology
        if files.text(f"{folder}/core_id")
    }
    return {
        "cpu": fields.get("model name", NOT_KNOWN),
        "cpu_vendor": fields.get("vendor_id", NOT_KNOWN),
        "cpu_family": number(fields.get("cpu family", "")),
        "cpu_model": number(fields.get("model", "")),
        "cpu_stepping": number(fields.get("stepping", "")),
        "microcode": fields.get("microcode", NOT_KNOWN),
        "cpus": len(cpus) or NOT_KNOWN,
        "cores": len(cores) or NOT_KNOWN,
        "threads_per_core": threads or NOT_KNOWN,
        "sockets": distinct(files, (f"{folder}/physical_package_id" for folder in topology)),
        "numa_nodes": len(files.names("sys/devices/system/node", r"node\d+")) or NOT_KNOWN,
        "smt": files.text("sys/devices/system/cpu/smt/control") or NOT_KNOWN,
        "isa": {flag: flag in flags for flag in FLAGS} if flags else NOT_KNOWN,
        "caches": caches(files),
    }


def caches(files: Files) -> list[Json]:
    """The caches of the first CPU, nearest first."""
    base = "sys/devices/system/cpu/cpu0/cache"
    return [
        {
            "level": number(files.text(f"{base}/{name}/level")),
            "type": files.text(f"{base}/{name}/type").lower() or NOT_KNOWN,
            "size": files.text(f"{base}/{name}/size") or NOT_KNOWN,
            "cpus": len(cpus_or_none(files.text(f"{base}/{name}/shared_cpu_list"))) or NOT_KNOWN,
        }
        for name in files.names(base, r"index\d+")
    ]


def frequency(files: Files) -> Json:
    base = "sys/devices/system/cpu"
    policy = f"{base}/cpu0/cpufreq"
    turbo = NOT_KNOWN
    for name, on in ((f"{base}/intel_pstate/no_turbo", "0"), (f"{base}/cpufreq/boost", "1")):
        if files.text(name):
            turbo = "on" if files.text(name) == on else "off"
    return {
        "driver": files.text(f"{policy}/scaling_driver") or NOT_KNOWN,
        "governor": files.text(f"{policy}/scaling_governor") or NOT_KNOWN,
        "turbo": turbo,
        "least_khz": number(files.text(f"{policy}/cpuinfo_min_freq")),
        "most_khz": number(files.text(f"{policy}/cpuinfo_max_freq")),
        "clocksource": files.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
        or NOT_KNOWN,
    }


def hypervisor(files: Files) -> Json:
    """The hypervisor. Vendor and product from DMI do not identify a single machine."""
    flags = files.fields("proc/cpuinfo").get("flags", "").split()
    return {
        "present": "hypervisor" in flags if flags else NOT_KNOWN,
        "detected": files.first_line("systemd-detect-virt", "--vm") or NOT_KNOWN,
        "vendor": files.text("sys/class/dmi/id/sys_vendor") or NOT_KNOWN,
        "product": files.text("sys/class/dmi/id/product_name") or NOT_KNOWN,
    }


def kernel(files: Files) -> Json:
    words = files.text("proc/cmdline").split()
    status = files.fields("proc/self/status")
    base = "sys/devices/system/cpu"
    return {
        "release": files.text("proc/sys/kernel/osrelease") or NOT_KNOWN,
        "options": [word for word in words if OPTIONS.fullmatch(word)] if words else NOT_KNOWN,
        "isolated_cpus": files.text(f"{base}/isolated") or "none",
        "nohz_full_cpus": files.text(f"{base}/nohz_full").replace("(null)", "") or "none",
        "allowed_cpus": status.get("Cpus_allowed_list", NOT_KNOWN),
        "transparent_huge_pages": selected_word(
            files.text("sys/kernel/mm/transparent_hugepage/enabled")
        ),
    }


def selected_word(text: str) -> str:
    """The word in brackets of `always [madvise] never`."""
    found = re.search(r"\[(\w+)\]", text)
    return found[1] if found else NOT_KNOWN


def mitigations(files: Files) -> Json | str:
    base = "sys/devices/system/cpu/vulnerabilities"
    found = {name: files.text(f"{base}/{name}") for name in files.names(base, r"\w+")}
    return {name: text for name, text in found.items() if text != "Not affected"} or (
        "none needed" if found else NOT_KNOWN
    )


def memory(files: Files) -> Json:
    fields = files.fields("proc/meminfo")
    kilobytes = {
        name: number(fields.get(key, "").split(" ")[0])
        for name, key in (("total_kb", "MemTotal"), ("available_kb", "MemAvailable"))
    }
    base = "sys/kernel/mm/hugepages"
    pages = [
        {
            "size_kb": number(name.removeprefix("hugepages-").removesuffix("kB")),
            "total": number(files.text(f"{base}/{name}/nr_hugepages")),
            "free": number(files.text(f"{base}/{name}/free_hugepages")),
        }
        for name in files.names(base, r"hugepages-\d+kB")
    ]
    return {**kilobytes, "huge_page_pools": pages or NOT_KNOWN}


def container(files: Files) -> Json:
    """The kind of container, and the limits of the control group."""
    group = "sys/fs/cgroup"
    line = files.text("proc/self/cgroup").splitlines()
    if line and line[-1].startswith("0::/") and files.text(f"{group}{line[-1][3:]}/cgroup.procs"):
        group += line[-1][3:]
    kind = files.first_line("systemd-detect-virt", "--container") or NOT_KNOWN
    if kind == NOT_KNOWN and files.path(".dockerenv").exists():
        kind = "docker"
    return {
        "kind": kind,
        "cpu_limit": files.text(f"{group}/cpu.max") or NOT_KNOWN,
        "memory_limit": files.text(f"{group}/memory.max") or NOT_KNOWN,
        "cpus": files.text(f"{group}/cpuset.cpus.effective") or NOT_KNOWN,
    }


# Devices are listed by model, not by name, as names may contain MAC addresses.
NETWORK, CRYPTO = ("02",), ("0b40", "10")  # PCI classes; 0b40: co-processors


def interfaces(files: Files) -> list[Json]:
    """Network interfaces of devices; equal ones are counted."""
    found: Counter[tuple[str, int | str, int | str]] = Counter()
    for name in files.names("sys/class/net", r".*"):
        base = f"sys/class/net/{name}"
        driver = files.link(f"{base}/device/driver")
        if driver:
            speed = number(files.text(f"{base}/speed"))
            numa = number(files.text(f"{base}/device/numa_node"))
            known = isinstance(speed, int) and speed > 0
            found[driver, speed if known else NOT_KNOWN, numa] += 1
    return [
        {"driver": driver, "speed_mbps": speed, "numa_node": numa, "count": count}
        for (driver, speed, numa), count in found.items()
    ]


def pci(files: Files, classes: tuple[str, ...]) -> list[Json]:
    found: Counter[tuple[str, str, str]] = Counter()
    base = "sys/bus/pci/devices"
    for name in files.names(base, r"[\da-f]+:[\da-f]+:[\da-f]+\.\d"):
        if files.text(f"{base}/{name}/class").removeprefix("0x").startswith(classes):
            vendor = files.text(f"{base}/{name}/vendor").removeprefix("0x")
            device = files.text(f"{base}/{name}/device").removeprefix("0x")
            driver = files.link(f"{base}/{name}/driver") or "none"
            found[vendor or NOT_KNOWN, device or NOT_KNOWN, driver] += 1
    return [
        {"vendor": vendor, "device": device, "driver": driver, "count": count}
        for (vendor, device, driver), count in found.items()
    ]


def devices(files: Files) -> Json:
    return {
        "interfaces": interfaces(files),
        "pci_network": pci(files, NETWORK),
        "pci_crypto": pci(files, CRYPTO),
    }


def facts(files: Files | None = None) -> Json:
    """All facts of the host. It starts programs, so do not call it during a measurement."""
    files = files or Files()
    return {
        **cpu(files),
        "frequency": frequency(files),
        "hypervisor": hypervisor(files),
        "kernel": kernel(files),
        "mitigations": mitigations(files),
        "memory": memory(files),
        "container": container(files),
        "software": host_software.facts(files),
        "devices": devices(files),
    }


def full(measured: Json, files: Files | None = None) -> Json:
    """The key `host` of a measurement: facts that the program measured, and all others."""
    own = {key: value for key, value in measured.items() if value is not None}
    return {**(this_host() if files is None else facts(files)), **own}


@cache
def this_host() -> Json:
    """The facts of this host, read once, as results are written repeatedly during measurements."""
    return facts(Files())
