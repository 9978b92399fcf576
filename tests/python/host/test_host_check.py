# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts host check`: firmware, accelerators, pages, Kubernetes nodes, device pools."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from host.prepare import check, kubelet
from host.prepare.fact import Finding, inspect_machine
from python.host.host_kernel import Kernel, Nic, relink
from python.host.host_machines import base
from python.host.host_steps import make_machine
from python.layout_machines import HostSpec, write
from vcmts import cli, yamls
from vcmts.layout import machine as host_machine
from vcmts.system.files import Files

QAT = "0000:6b:00.0"  # of the server
KUBELET = """
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
cpuManagerPolicyOptions: {full-pcpus-only: "true"}
reservedSystemCPUs: "0,8"
topologyManagerPolicy: single-numa-node
memoryManagerPolicy: Static
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return make_machine("server", tmp_path / "machine")


def facts(
    kernel: Kernel, *, kubernetes: bool = False, ethtool_output: str = ""
) -> dict[str, Finding]:
    """Returns the rows of the check by fact. `ethtool_output` is the output of ethtool."""

    def run(command: Sequence[str]) -> str:
        if command[0] == "ethtool":
            return ethtool_output
        if command[0] == "devlink":
            info = {"driver": "ice", "versions": {"running": {"fw.mgmt": "7.4.13"}}}
            return json.dumps({"info": {command[-1]: info}})
        return kernel.ask(command)

    files = Files(kernel.root, run)
    result = inspect_machine(files, host_machine.read(files))
    return {row.fact: row for row in check.findings(result, 1, kubernetes=kubernetes)}


def test_firmware_and_microcode_are_reported(server: Kernel) -> None:
    for name, text in (("vendor", "A Maker"), ("version", "2.1\x1b[31m"), ("date", "01/02/2026")):
        write(server.root / f"sys/class/dmi/id/bios_{name}", text)
    text = (server.root / "proc/cpuinfo").read_text()
    write(server.root / "proc/cpuinfo", f"microcode\t: 0x2b000590\n{text}")
    result = facts(server)["firmware"].found
    assert "BIOS A Maker 2.1[31m 01/02/2026" in result and "microcode 0x2b000590" in result


def test_firmware_of_cards_is_reported(server: Kernel) -> None:
    """From ethtool, or from devlink if ethtool has none."""
    fact = "card 0000:3b:00.0"
    assert "firmware 7.4.13" in facts(server, ethtool_output="firmware-version: N/A\n")[fact].found
    output = "driver: ice\nfirmware-version: 4.60 0x8001e8dd 1.3682.0\nbus-info: x"
    assert "firmware 4.60 0x8001e8dd 1.3682.0" in facts(server, ethtool_output=output)[fact].found
    files = Files(server.root, lambda command: "")
    assert not any(
        "firmware" in row.found
        for row in check.cards(inspect_machine(files, host_machine.read(files)))
    )


def test_accelerators_are_reported(server: Kernel) -> None:
    card = server.device(QAT)
    write(card / "class", "0x0b4000")
    write(card / "numa_node", "1")
    fact = facts(server)[f"accelerator {QAT}"]
    assert fact.verdict == "could be better" and "no driver" in fact.found
    for name, text in (
        ("vendor", "0x8086"),
        ("device", "0x4940"),
        ("sriov_totalvfs", "16"),
        ("sriov_numvfs", "2"),
        ("qat/cfg_services", "sym;dc"),
    ):
        write(card / name, text)
    relink(card / "driver", "../../drivers/4xxx")
    for index, driver in enumerate(("vfio-pci", "")):
        function = server.device(f"0000:6b:00.{index + 1}")
        write(function / "class", "0x0b4000")
        relink(function / "physfn", f"../{QAT}")
        relink(card / f"virtfn{index}", f"../{function.name}")
        if driver:
            relink(function / "driver", f"../../drivers/{driver}")
    result = facts(server)
    assert result[f"accelerator {QAT}"] == Finding(
        f"accelerator {QAT}",
        "8086:4940 (QAT), 4xxx, 2 of 16 functions, of which 1 no driver, 1 vfio-pci, services "
        "sym;dc, node 1",
    )
    assert "accelerator 0000:6b:00.1" not in result


def test_speed_select_is_reported(server: Kernel) -> None:
    found = facts(server)
    assert found["Speed Select"].found == "its driver is not loaded"
    assert "base frequency" in found["not known"].found.split(", ")
    for core in range(16):
        khz = "2400000" if core in (1, 2) else "1800000"
        write(server.root / f"sys/devices/system/cpu/cpu{core}/cpufreq/base_frequency", khz)
    (server.root / "sys/module/isst_if_common").mkdir(parents=True)
    fact = facts(server)["Speed Select"]
    assert "isst_if_common is loaded" in fact.found
    assert "base frequency 2.4 GHz for cores 1-2; 1.8 GHz for cores 0,3-15" in fact.found
    assert fact.todo == "poll on cores 1-2"


def test_what_is_not_known_is_said_once(server: Kernel) -> None:
    base = "sys/devices/system/cpu/cpu0/cpufreq"
    (server.root / base / "scaling_governor").unlink(missing_ok=True)
    (server.root / base / "scaling_driver").unlink(missing_ok=True)
    found = facts(server)
    texts = [f"{one.fact} {one.found}" for one in found.values()]
    assert "".join(texts).count("not known") == 1
    assert {"governor", "frequency driver"} <= set(found["not known"].found.split(", "))
    assert "" not in [one.found for one in found.values()]
    write(server.root / base / "scaling_governor", "powersave")
    assert facts(server)["clock policy"].found.startswith("governor powersave")
    assert facts(server)["clock policy"].verdict == "could be better"


def test_unknown_processor_has_no_empty_row(server: Kernel) -> None:
    write(server.root / "proc/cpuinfo", "\n")
    found = facts(server)
    assert "not known" not in found["processor"].found and found["processor"].found != ""


def test_sizes_of_huge_pages_are_reported(server: Kernel) -> None:
    write(server.root / "proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       2048 kB")
    base = "sys/devices/system/node/node1/hugepages/hugepages-1048576kB"
    write(server.root / base / "nr_hugepages", "4")
    result = facts(server)["huge page sizes"].found
    assert result.startswith("2048kB (default); 1048576kB; node1: 4 of 1048576kB")
    assert "no 1 GB pages" in result  # the processor has no pdpe1gb


def kubelet_rows(kernel: Kernel) -> dict[str, Finding]:
    """The findings about kubelet, by fact."""
    files = Files(kernel.root, kernel.ask)
    return {
        row.fact: row for row in kubelet.findings(inspect_machine(files, host_machine.read(files)))
    }


def test_node_with_all_settings_is_ok(server: Kernel) -> None:
    write(server.root / "var/lib/kubelet/config.yaml", KUBELET)
    write(server.root / "sys/devices/system/cpu/isolated", "1-7,9-15")
    write(server.root / "sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory hugetlb pids")
    write(server.root / "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1024")
    write(server.root / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "3")
    for name in ("kubelet.sock", "intel.com_vcmts_network.sock"):
        write(server.root / "var/lib/kubelet/device-plugins" / name, "")
    write(server.root / "etc/cni/net.d/00-multus.conf", "")
    result = kubelet_rows(server)
    assert {row.verdict for row in result.values()} == {"ok"}, result
    assert result["kubelet"].found == "configured by /var/lib/kubelet/config.yaml"
    assert result["allocatable"].found.startswith("hugepages-2Mi: 2048Mi, hugepages-1Gi: 3Gi")
    assert result["device plugins"].found == "intel.com_vcmts_network.sock"
    assert "memif" not in result["CNI"].found


def test_node_without_settings_has_advice(server: Kernel) -> None:
    assert kubelet_rows(server)["kubelet"].verdict == "missing"
    write(server.root / "var/lib/kubelet/config.yaml", "kind: KubeletConfiguration")
    write(server.root / "sys/devices/system/cpu/isolated", "1-7,9-15")
    write(server.root / "sys/fs/cgroup/cgroup.controllers", "cpu memory")
    write(server.root / "var/lib/kubelet/device-plugins/kubelet.sock", "")
    result = kubelet_rows(server)
    assert {fact: row.verdict for fact, row in result.items() if row.verdict != "ok"} == {
        "CPU manager": "missing",
        "reserved cores": "could be better",
        "topology manager": "could be better",
        "memory manager": "could be better",
        "allocatable": "missing",
        "device plugins": "could be better",
        "control groups": "missing",
    }
    assert result["reserved cores"].todo == "reservedSystemCPUs: 0,8"
    assert result["control groups"].found == "version 2, without cpuset, hugetlb"
    write(
        server.root / "var/lib/kubelet/config.yaml",
        KUBELET.replace('"0,8"', '"0-2"').replace('"true"', '"false"'),
    )
    result = kubelet_rows(server)
    assert result["reserved cores"].found == "0-2, of which 1-2 are isolated"
    assert "siblings may be of different pods" in result["CPU manager"].found


def test_arguments_of_kubelet_override_its_file(server: Kernel) -> None:
    """They name its file and drop-ins, and override both."""
    write(server.root / "var/lib/kubelet/config.yaml", "kind: KubeletConfiguration")
    write(server.root / "opt/k.yaml", KUBELET)
    write(server.root / "opt/k.d/9.conf", "kind: KubeletConfiguration\nreservedSystemCPUs: '0'")
    write(server.root / "proc/700/comm", "kubelet")
    options = ["kubelet", "--config", "/opt/k.yaml", "--config-dir=/opt/k.d"]
    write(server.root / "proc/700/cmdline", "\0".join([*options, "--cpu-manager-policy=none"]))
    result = kubelet_rows(server)
    assert result["kubelet"].found == "configured by /opt/k.yaml"
    assert result["CPU manager"].found.startswith("policy none")
    assert result["reserved cores"].found == "0"


@pytest.mark.parametrize(
    "text",
    ["", "[", "x: &a [*a]", "kind: Config", "- 1", "!!python/object:os.system {}", "\x00", "a" * 9],
)
def test_invalid_kubelet_configuration_is_missing(text: str, server: Kernel) -> None:
    write(server.root / "var/lib/kubelet/config.yaml", text)
    assert kubelet_rows(server)["kubelet"].verdict == "missing"


def plan_pools(server: Kernel, out: Path, *options: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yields pools by name, with their selectors."""
    arguments = ["host", "plan", "--kubernetes", *options, "--machine", str(server.root)]
    assert cli.main([*arguments, "-o", str(out)]) == 0
    result = yamls.safe_load((out / "kubernetes/sriov-device-plugin.yaml").read_text())
    assert result["kind"] == "ConfigMap" and result["metadata"]["name"] == "sriovdp-config"
    for one in json.loads(result["data"]["config.json"])["resourceList"]:
        yield f"{one['resourcePrefix']}/{one['resourceName']}", one


def test_shared_pools(server: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan"
    result = dict(plan_pools(server, out, "--groups", "2"))
    assert {name: one["selectors"] for name, one in result.items()} == {
        "intel.com/vcmts_network": {"pciAddresses": ["0000:3b:02.0"], "drivers": ["vfio-pci"]},
        "intel.com/vcmts_rphy": {"pciAddresses": ["0000:3b:02.1"], "drivers": ["vfio-pci"]},
    }
    assert "${PCIDEVICE_INTEL_COM_VCMTS_NETWORK[0]}" in capsys.readouterr().out
    settings = yamls.safe_load((out / "kubernetes/kubelet.yaml").read_text())
    assert (
        settings["cpuManagerPolicy"] == "static" and settings["reservedSystemCPUs"] == "0,4-7,12-15"
    )
    assert cli.main(["host", "plan", "--machine", str(server.root), "-o", str(out)]) == 0
    assert not (out / "kubernetes/kubelet.yaml").exists()  # not requested


def test_pools_of_own_ports(server: Kernel, tmp_path: Path) -> None:
    """A function has its group's MAC address and VLAN, so each pod has its own pool."""
    options = ("--groups", "2", "--ports", "own", "--network-vlan", "10,11")
    result = dict(plan_pools(server, tmp_path / "plan", *options))
    assert sorted(result) == [
        f"intel.com/vcmts_{role}_sg{n}" for role in ("network", "rphy") for n in (1, 2)
    ]
    addresses = {str(one["selectors"]) for one in result.values()}
    assert len(addresses) == 4


def test_pools_of_cards_with_kernel_driver(tmp_path: Path) -> None:
    base(tmp_path / "machine", HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), max_vfs=8)
    result = dict(plan_pools(Kernel(tmp_path / "machine", [nic]), tmp_path / "plan"))
    assert {str(one["selectors"]) for one in result.values()} == {
        "{'pciAddresses': ['0000:02:02.0'], 'isRdma': True}",
        "{'pciAddresses': ['0000:02:02.2'], 'isRdma': True}",
    }
