# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts host check` tells of hardware, firmware, and a node of Kubernetes; pools for its
device plugin."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from host.prepare import check, kubelet
from host.prepare.fact import Row, look
from python.host.host_kernel import Kernel, Nic, relink
from python.host.host_machines import base
from python.host.host_steps import machine
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
def server_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return machine("server", tmp_path / "machine")


def facts(kernel: Kernel, *, kubernetes: bool = False, says: str = "") -> dict[str, Row]:
    """`says`: of ethtool."""

    def run(command: Sequence[str]) -> str:
        if command[0] == "ethtool":
            return says
        if command[0] == "devlink":
            told = {"driver": "ice", "versions": {"running": {"fw.mgmt": "7.4.13"}}}
            return json.dumps({"info": {command[-1]: told}})
        return kernel.ask(command)

    files = Files(kernel.root, run)
    found = look(files, host_machine.read(files))
    return {row.fact: row for row in check.rows(found, 1, kubernetes=kubernetes)}


def test_firmware_and_microcode(server_yaml: Kernel) -> None:
    for name, text in (("vendor", "A Maker"), ("version", "2.1\x1b[31m"), ("date", "01/02/2026")):
        write(server_yaml.root / f"sys/class/dmi/id/bios_{name}", text)
    text = (server_yaml.root / "proc/cpuinfo").read_text()
    write(server_yaml.root / "proc/cpuinfo", f"microcode\t: 0x2b000590\n{text}")
    found = facts(server_yaml)["firmware"].found
    assert "BIOS A Maker 2.1[31m 01/02/2026" in found and "microcode 0x2b000590" in found


def test_firmware_of_cards(server_yaml: Kernel) -> None:
    """By ethtool; by devlink where that does not tell it."""
    fact = "card 0000:3b:00.0"
    assert "firmware 7.4.13" in facts(server_yaml, says="firmware-version: N/A\n")[fact].found
    said = "driver: ice\nfirmware-version: 4.60 0x8001e8dd 1.3682.0\nbus-info: x"
    assert "firmware 4.60 0x8001e8dd 1.3682.0" in facts(server_yaml, says=said)[fact].found
    files = Files(server_yaml.root, lambda command: "")
    assert not any(
        "firmware" in row.found for row in check.cards(look(files, host_machine.read(files)))
    )


def test_accelerators(server_yaml: Kernel) -> None:
    place = server_yaml.device(QAT)
    write(place / "class", "0x0b4000")
    write(place / "numa_node", "1")
    fact = facts(server_yaml)[f"accelerator {QAT}"]
    assert fact.verdict == "could be better" and "no driver" in fact.found
    for name, text in (
        ("vendor", "0x8086"),
        ("device", "0x4940"),
        ("sriov_totalvfs", "16"),
        ("sriov_numvfs", "2"),
        ("qat/cfg_services", "sym;dc"),
    ):
        write(place / name, text)
    relink(place / "driver", "../../drivers/4xxx")
    for index, driver in enumerate(("vfio-pci", "")):
        function = server_yaml.device(f"0000:6b:00.{index + 1}")
        write(function / "class", "0x0b4000")
        relink(function / "physfn", f"../{QAT}")
        relink(place / f"virtfn{index}", f"../{function.name}")
        if driver:
            relink(function / "driver", f"../../drivers/{driver}")
    found = facts(server_yaml)
    assert found[f"accelerator {QAT}"] == Row(
        f"accelerator {QAT}",
        "8086:4940 (QAT), 4xxx, 2 of 16 functions, of which 1 no driver, 1 vfio-pci, services "
        "sym;dc, node 1",
    )
    assert "accelerator 0000:6b:00.1" not in found


def test_speed_select(server_yaml: Kernel) -> None:
    assert (
        "no driver of it is loaded; base frequency not known"
        in facts(server_yaml)["Speed Select"].found
    )
    for core in range(16):
        khz = "2400000" if core in (1, 2) else "1800000"
        write(server_yaml.root / f"sys/devices/system/cpu/cpu{core}/cpufreq/base_frequency", khz)
    (server_yaml.root / "sys/module/isst_if_common").mkdir(parents=True)
    fact = facts(server_yaml)["Speed Select"]
    assert "isst_if_common is loaded" in fact.found
    assert "2.4 GHz for cores 1-2; 1.8 GHz for cores 0,3-15" in fact.found
    assert fact.todo == "cores 1-2 are the ones to poll"


def test_sizes_of_huge_pages(server_yaml: Kernel) -> None:
    write(server_yaml.root / "proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       2048 kB")
    base = "sys/devices/system/node/node1/hugepages/hugepages-1048576kB"
    write(server_yaml.root / base / "nr_hugepages", "4")
    found = facts(server_yaml)["huge page sizes"].found
    assert found.startswith("2048kB (as usual); 1048576kB; node1: 4 of 1048576kB")
    assert "none of 1 GB" in found  # the processor has no pdpe1gb


def kubelets(kernel: Kernel) -> dict[str, Row]:
    files = Files(kernel.root, kernel.ask)
    return {row.fact: row for row in kubelet.rows(look(files, host_machine.read(files)))}


def test_a_node_that_is_ready(server_yaml: Kernel) -> None:
    write(server_yaml.root / "var/lib/kubelet/config.yaml", KUBELET)
    write(server_yaml.root / "sys/devices/system/cpu/isolated", "1-7,9-15")
    write(server_yaml.root / "sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory hugetlb pids")
    write(server_yaml.root / "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1024")
    write(server_yaml.root / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "3")
    for name in ("kubelet.sock", "intel.com_vcmts_network.sock"):
        write(server_yaml.root / "var/lib/kubelet/device-plugins" / name, "")
    write(server_yaml.root / "etc/cni/net.d/00-multus.conf", "")
    found = kubelets(server_yaml)
    assert {row.verdict for row in found.values()} == {"ok"}, found
    assert found["kubelet"].found == "configured by /var/lib/kubelet/config.yaml"
    assert found["allocatable"].found.startswith("hugepages-2Mi: 2048Mi, hugepages-1Gi: 3Gi")
    assert found["device plugins"].found == "intel.com_vcmts_network.sock"
    assert "memif" not in found["CNI"].found


def test_a_node_that_is_not(server_yaml: Kernel) -> None:
    assert kubelets(server_yaml)["kubelet"].verdict == "missing"
    write(server_yaml.root / "var/lib/kubelet/config.yaml", "kind: KubeletConfiguration")
    write(server_yaml.root / "sys/devices/system/cpu/isolated", "1-7,9-15")
    write(server_yaml.root / "sys/fs/cgroup/cgroup.controllers", "cpu memory")
    write(server_yaml.root / "var/lib/kubelet/device-plugins/kubelet.sock", "")
    found = kubelets(server_yaml)
    assert {fact: row.verdict for fact, row in found.items() if row.verdict != "ok"} == {
        "CPU manager": "missing",
        "reserved cores": "could be better",
        "topology manager": "could be better",
        "memory manager": "could be better",
        "allocatable": "missing",
        "device plugins": "could be better",
        "control groups": "missing",
    }
    assert found["reserved cores"].todo == "reservedSystemCPUs: 0,8"
    assert found["control groups"].found == "version 2, without cpuset, hugetlb"
    write(
        server_yaml.root / "var/lib/kubelet/config.yaml",
        KUBELET.replace('"0,8"', '"0-2"').replace('"true"', '"false"'),
    )
    found = kubelets(server_yaml)
    assert found["reserved cores"].found == "0-2, of which 1-2 are isolated"
    assert "siblings may go to different pods" in found["CPU manager"].found


def test_arguments_of_the_kubelet_count(server_yaml: Kernel) -> None:
    """They name its file and its drop-ins, and override both."""
    write(server_yaml.root / "var/lib/kubelet/config.yaml", "kind: KubeletConfiguration")
    write(server_yaml.root / "opt/k.yaml", KUBELET)
    write(
        server_yaml.root / "opt/k.d/9.conf", "kind: KubeletConfiguration\nreservedSystemCPUs: '0'"
    )
    write(server_yaml.root / "proc/700/comm", "kubelet")
    words = ["kubelet", "--config", "/opt/k.yaml", "--config-dir=/opt/k.d"]
    write(server_yaml.root / "proc/700/cmdline", "\0".join([*words, "--cpu-manager-policy=none"]))
    found = kubelets(server_yaml)
    assert found["kubelet"].found == "configured by /opt/k.yaml"
    assert found["CPU manager"].found.startswith("policy none")
    assert found["reserved cores"].found == "0"


@pytest.mark.parametrize(
    "text",
    ["", "[", "x: &a [*a]", "kind: Config", "- 1", "!!python/object:os.system {}", "\x00", "a" * 9],
)
def test_configurations_that_are_none(text: str, server_yaml: Kernel) -> None:
    write(server_yaml.root / "var/lib/kubelet/config.yaml", text)
    assert kubelets(server_yaml)["kubelet"].verdict == "missing"


def planned(server_yaml: Kernel, out: Path, *words: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Pools by name, each with its selectors."""
    arguments = ["host", "plan", "--kubernetes", *words, "--machine", str(server_yaml.root)]
    assert cli.main([*arguments, "-o", str(out)]) == 0
    found = yamls.safe_load((out / "kubernetes/sriov-device-plugin.yaml").read_text())
    assert found["kind"] == "ConfigMap" and found["metadata"]["name"] == "sriovdp-config"
    for one in json.loads(found["data"]["config.json"])["resourceList"]:
        yield f"{one['resourcePrefix']}/{one['resourceName']}", one


def test_pools_of_ports_that_are_shared(
    server_yaml: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "plan"
    found = dict(planned(server_yaml, out, "--groups", "2"))
    assert {name: one["selectors"] for name, one in found.items()} == {
        "intel.com/vcmts_network": {"pciAddresses": ["0000:3b:02.0"], "drivers": ["vfio-pci"]},
        "intel.com/vcmts_rphy": {"pciAddresses": ["0000:3b:02.1"], "drivers": ["vfio-pci"]},
    }
    assert "${PCIDEVICE_INTEL_COM_VCMTS_NETWORK[0]}" in capsys.readouterr().out
    told = yamls.safe_load((out / "kubernetes/kubelet.yaml").read_text())
    assert told["cpuManagerPolicy"] == "static" and told["reservedSystemCPUs"] == "0,4-7,12-15"
    assert cli.main(["host", "plan", "--machine", str(server_yaml.root), "-o", str(out)]) == 0
    assert not (out / "kubernetes/kubelet.yaml").exists()  # not asked for any more


def test_pools_of_ports_of_their_own(server_yaml: Kernel, tmp_path: Path) -> None:
    """A function has its group's MAC address and VLAN: it goes to no other group's pod."""
    words = ("--groups", "2", "--ports", "own", "--network-vlan", "10,11")
    found = dict(planned(server_yaml, tmp_path / "plan", *words))
    assert sorted(found) == [
        f"intel.com/vcmts_{role}_sg{n}" for role in ("network", "rphy") for n in (1, 2)
    ]
    addresses = {str(one["selectors"]) for one in found.values()}
    assert len(addresses) == 4


def test_pools_beside_the_kernels_driver(tmp_path: Path) -> None:
    base(tmp_path / "machine", HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), most=8)
    found = dict(planned(Kernel(tmp_path / "machine", [nic]), tmp_path / "plan"))
    assert {str(one["selectors"]) for one in found.values()} == {
        "{'pciAddresses': ['0000:02:02.0'], 'isRdma': True}",
        "{'pciAddresses': ['0000:02:02.2'], 'isRdma': True}",
    }
