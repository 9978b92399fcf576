# SPDX-License-Identifier: BSD-3-Clause
"""Tests facts.py: complete, anonymous facts of a simulated host, unknown ones of an empty host."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from vcmts.system import facts as host
from vcmts.system.files import NOT_KNOWN, Files

MAC = "52:54:00:12:34:56"
SECRETS = (MAC, "525400123456", "SERIAL-4711", "someone", "10.1.2.3", "build-host-7", "1234-UUID")

FILES = {
    "proc/cpuinfo": "\n".join(
        f"processor\t: {n}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
        "model name\t: A Xeon @ 1.80GHz\nstepping\t: 8\nmicrocode\t: 0x2b0001\n"
        "flags\t\t: fpu aes avx2 avx512f vaes vpclmulqdq waitpkg hypervisor constant_tsc\n"
        for n in range(4)
    ),
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1234-UUID ip=10.1.2.3 isolcpus=1-3 "
    "nohz_full=1-3 hostname=build-host-7 mitigations=off "
    "hugepagesz=1G hugepages=4 intel_pstate=disable quiet",
    "proc/meminfo": "MemTotal:       16000000 kB\nMemAvailable:   15000000 kB\n",
    "proc/self/status": "Name:\tx\nCpus_allowed_list:\t1-3\n",
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "sys/fs/cgroup/user.slice/cgroup.procs": "1\n",
    "sys/fs/cgroup/user.slice/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/user.slice/memory.max": "max\n",
    "sys/devices/system/cpu/isolated": "1-3\n",
    "sys/devices/system/cpu/smt/control": "on\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
    "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3800000\n",
    "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected\n",
    "sys/devices/system/cpu/vulnerabilities/retbleed": "Vulnerable\n",
    "sys/devices/system/node/node0/cpulist": "0-3\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "400\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "350\n",
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "sys/class/dmi/id/product_serial": "SERIAL-4711\n",
    "etc/os-release": 'NAME=x\nPRETTY_NAME="Debian GNU/Linux 12"\n',
    "usr/lib/x86_64-linux-gnu/libIPSec_MB.so.1.3.0": "",
    "sys/class/net/enx525400123456/address": MAC,
    "sys/class/net/enx525400123456/speed": "100000\n",
    "sys/bus/pci/devices/0000:3b:00.0/class": "0x020000\n",
    "sys/bus/pci/devices/0000:3b:00.0/vendor": "0x8086\n",
    "sys/bus/pci/devices/0000:3b:00.0/device": "0x1592\n",
    "sys/bus/pci/devices/0000:3b:00.1/class": "0x020000\n",
    "sys/bus/pci/devices/0000:3b:00.1/vendor": "0x8086\n",
    "sys/bus/pci/devices/0000:3b:00.1/device": "0x1592\n",
    "sys/bus/pci/devices/0000:6b:00.0/class": "0x0b4000\n",
    "sys/bus/pci/devices/0000:6b:00.0/vendor": "0x8086\n",
    "sys/bus/pci/devices/0000:6b:00.0/device": "0x4940\n",
}
OUTPUTS = {
    "systemd-detect-virt --vm": "kvm",
    "systemd-detect-virt --container": "none",
    "cc --version": "cc (Debian) 12.2.0\nmore",
}


@pytest.fixture
def simulated_host(tmp_path: Path) -> Files:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cpus = tmp_path / "sys/devices/system/cpu"
    for n in range(4):
        topology = cpus / f"cpu{n}" / "topology"
        topology.mkdir(parents=True, exist_ok=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_id").write_text(f"{n // 2}\n")
        (topology / "thread_siblings_list").write_text(f"{n // 2 * 2}-{n // 2 * 2 + 1}\n")
    cache = cpus / "cpu0/cache/index2"
    cache.mkdir(parents=True)
    for name, text in (("level", "2"), ("type", "Unified"), ("size", "2048K")):
        (cache / name).write_text(text + "\n")
    (cache / "shared_cpu_list").write_text("0,1\n")
    device = tmp_path / "sys/class/net/enx525400123456/device"
    device.mkdir()
    (device / "driver").symlink_to("../../../../bus/pci/drivers/ice")
    (tmp_path / "sys/class/net/lo").mkdir()

    def run(command: Sequence[str]) -> str:
        return OUTPUTS.get(" ".join(command), "")

    return Files(tmp_path, run)


def test_simulated_host_has_all_facts(simulated_host: Files) -> None:
    facts = host.facts(simulated_host)
    assert facts["cpu"] == "A Xeon @ 1.80GHz"
    numbers = [facts[f"cpu_{key}"] for key in ("family", "model", "stepping")]
    assert numbers == [6, 143, 8]
    counts = [facts[key] for key in ("cpus", "cores", "threads_per_core", "sockets", "numa_nodes")]
    assert counts == [4, 2, 2, 1, 1]
    assert facts["isa"]["waitpkg"] is True and facts["isa"]["gfni"] is False
    assert facts["caches"] == [{"level": 2, "type": "unified", "size": "2048K", "cpus": 2}]
    assert facts["frequency"]["governor"] == "performance"
    assert facts["frequency"]["turbo"] == "off"
    assert facts["frequency"]["most_khz"] == 3800000
    assert facts["hypervisor"]["present"] is True and facts["hypervisor"]["detected"] == "kvm"
    assert facts["kernel"]["isolated_cpus"] == "1-3"
    assert facts["kernel"]["allowed_cpus"] == "1-3"
    assert facts["kernel"]["transparent_huge_pages"] == "madvise"
    assert facts["mitigations"] == {"retbleed": "Vulnerable"}
    assert facts["memory"]["total_kb"] == 16000000
    assert facts["memory"]["huge_page_pools"] == [{"size_kb": 2048, "total": 400, "free": 350}]
    assert facts["container"]["cpu_limit"] == "150000 100000"
    assert facts["software"]["intel_ipsec_mb"] == "1.3.0"
    assert facts["software"]["system"] == "Debian GNU/Linux 12"


def test_devices_have_models_and_drivers(simulated_host: Files) -> None:
    devices = host.facts(simulated_host)["devices"]
    ice = {"driver": "ice", "speed_mbps": 100000, "numa_node": NOT_KNOWN, "count": 1}
    assert devices["interfaces"] == [ice]
    nic = {"vendor": "8086", "device": "1592", "driver": "none", "count": 2}
    assert devices["pci_network"] == [nic]
    assert devices["pci_crypto"] == [{**nic, "device": "4940", "count": 1}]


def test_kernel_options_are_only_relevant_ones(simulated_host: Files) -> None:
    assert host.facts(simulated_host)["kernel"]["options"] == [
        *("isolcpus=1-3", "nohz_full=1-3", "mitigations=off", "hugepagesz=1G", "hugepages=4"),
        "intel_pstate=disable",
    ]


def test_facts_do_not_identify_the_machine(simulated_host: Files) -> None:
    text = json.dumps(host.facts(simulated_host))
    assert not [secret for secret in SECRETS if secret in text]


def test_facts_of_this_host_have_no_addresses() -> None:
    text = json.dumps(host.facts())
    assert not re.search(r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b", text)
    name = Path("/proc/sys/kernel/hostname").read_text().strip()
    words = re.findall(r'"([^"]*)"', text)
    assert name not in words


def leaves(value: Any) -> list[Any]:
    """Returns all values, at any depth."""
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


def test_facts_of_empty_host_are_unknown(tmp_path: Path) -> None:
    facts = host.facts(Files(tmp_path, lambda command: ""))
    assert facts["cpu"] == NOT_KNOWN and facts["cpus"] == NOT_KNOWN
    assert facts["memory"]["huge_page_pools"] == NOT_KNOWN
    values = leaves({key: inner for key, inner in facts.items() if key != "software"})
    assert set(values) <= {NOT_KNOWN, "none"}


def test_binary_files_are_unknown(tmp_path: Path) -> None:
    for name in ("proc/cpuinfo", "proc/meminfo", "proc/cmdline"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\x00model name: \xfe\n:\nMemTotal: many kB\n")
    assert host.facts(Files(tmp_path, lambda command: ""))["memory"]["total_kb"] == NOT_KNOWN


def test_measured_facts_take_precedence(simulated_host: Files) -> None:
    measured = {"cpu": "as measured", "tsc_hz": 2, "core_hz": 3, "huge_pages": True, "x": None}
    facts = host.full(measured, simulated_host)
    assert facts["cpu"] == "as measured" and facts["core_hz"] == 3 and "x" not in facts
    assert facts["cores"] == 2
