# SPDX-License-Identifier: BSD-3-Clause
"""Tests plans for simulated machines, refused options, and interfaces that are never touched."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from host.prepare import plan as host_plan
from host.prepare import texts
from host.prepare.login import guarded
from python.host.host_kernel import Kernel, Nic, relink
from python.host.host_machines import MACHINES, base, default_route
from python.host.host_steps import make_machine, make_plan
from python.layout_machines import HostSpec, write
from vcmts import cli
from vcmts.paths import MistakeError, program
from vcmts.system.files import Files

LOGIN = {
    "server": {"eno1"},
    "single": {"bond0.7", "bond0", "eno1", "eno2"},
    "cloud": {"ens5"},
    "laptop": {"enp0s31f6"},
    "small": {"eth0"},
}


@pytest.mark.parametrize("name", MACHINES)
def test_login_interface_is_never_planned(name: str, tmp_path: Path) -> None:
    result = make_plan(make_machine(name, tmp_path), "--groups", "1")
    assert set(result.guarded) == LOGIN[name]
    planned = {card.address for card in result.plan.cards}
    assert not planned & set(result.cards)
    text = json.dumps(texts.plan_files(result.plan))
    assert not any(address in text for address in result.cards)


def test_plan_of_server(tmp_path: Path) -> None:
    """One group: both ports on the card of node 0, cores of the same node, whole cores isolated."""
    result = make_plan(make_machine("server", tmp_path), "--groups", "1", "--network-vlan", "10")
    plan = result.plan
    assert [card.address for card in plan.cards] == ["0000:3b:00.0", "0000:3b:00.1"]
    assert [[f.role for f in card.functions] for card in plan.cards] == [["network"], ["rphy"]]
    network, rphy = (card.functions[0] for card in plan.cards)
    assert (network.vlan, rphy.vlan) == (10, 0) and (network.check, rphy.check) == (False, True)
    assert plan.cards[0].addresses == ("0000:3b:02.0",)
    # node 0 has cores 0-3 and their siblings 8-11; core 0 and its sibling are for the system
    assert plan.main_core == 0 and set(plan.polling) <= {1, 2, 3, 8, 9, 10, 11}
    assert plan.isolated == tuple(
        sorted({n for core in plan.polling for n in (core % 8, core % 8 + 8)} - {0})
    )
    assert [(p.node, p.size_kb, p.count) for p in plan.pages] == [(0, 2048, 512)]
    listed = ",".join(map(str, plan.isolated)) if len(plan.isolated) < 2 else ""
    assert plan.arguments[0].startswith("isolcpus=managed_irq,domain," + listed)
    assert [word.partition("=")[0] for word in plan.arguments] == [
        "isolcpus",
        "nohz_full",
        "rcu_nocbs",
    ]


def test_mac_addresses_are_local_and_reproducible(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    macs = [
        [
            f.mac
            for card in make_plan(kernel, "--groups", "3", "--ports", "own").plan.cards
            for f in card.functions
        ]
        for _ in range(2)
    ]
    assert macs[0] == macs[1] and len(set(macs[0])) == 6
    assert all(int(mac[:2], 16) & 3 == 2 for mac in macs[0])


def test_groups_have_cards_of_their_node(tmp_path: Path) -> None:
    result = make_plan(make_machine("server", tmp_path), "--groups", "5", "--ports", "own")
    assert set(result.cores.nodes) == {0, 1}
    nodes = dict(zip(result.plan.groups, result.cores.nodes, strict=True))
    for card in result.plan.cards:
        for one in card.functions:
            assert {nodes[group] for group in one.groups} == {card.node}
        assert card.made == len(card.functions)
    both = {(g, f.role) for c in result.plan.cards for f in c.functions for g in f.groups}
    assert len(both) == 10
    assert {(p.node, p.count) for p in result.plan.pages} == {
        (node, 512 * result.cores.nodes.count(node)) for node in (0, 1)
    }


def test_single_card_has_both_ports(tmp_path: Path) -> None:
    result = make_plan(make_machine("single", tmp_path), "--groups", "2", "--ports", "own")
    (card,) = result.plan.cards
    assert card.address == "0000:05:00.0" and card.made == 4
    assert "uses it (the default route" in result.guarded["eno1"]


def test_plan_of_cloud_instance(tmp_path: Path) -> None:
    """Whole cards are bound. The missing IOMMU is reported, or not used."""
    kernel = make_machine("cloud", tmp_path)
    result = make_plan(kernel, "--groups", "1")
    assert [(c.address, c.made, c.bind) for c in result.plan.cards] == [
        ("0000:00:06.0", 0, True),
        ("0000:00:07.0", 0, True),
    ]
    assert "iommu=pt" in result.plan.arguments
    assert any("--no-iommu" in note for note in result.notes)
    without = make_plan(kernel, "--groups", "1", "--no-iommu")
    assert texts.OPTIONS in texts.plan_files(without.plan)
    assert "iommu=pt" not in without.plan.arguments
    assert not any("IOMMU" in note for note in without.notes)
    with pytest.raises(MistakeError, match=r"has no functions.*ports\.network\.vlan"):
        make_plan(kernel, "--network-vlan", "7")


def test_plan_of_laptop(tmp_path: Path) -> None:
    result = make_plan(make_machine("laptop", tmp_path), "--groups", "1")
    assert result.plan.cards == () and host_plan.GRUB not in texts.plan_files(result.plan)
    assert any("no card is free" in note for note in result.notes)
    assert any("by hand" in note for note in result.notes)


def test_interfaces_of_the_session_are_protected(tmp_path: Path) -> None:
    """The address of the session names its interface, also if it is an IPv4-mapped IPv6 address."""
    base(tmp_path, HostSpec(cores=2))
    nics = [
        Nic("0000:02:00.0", "eth0", up=True, addresses=("10.1.1.1",)),
        Nic("0000:02:00.1", "eth1", addresses=("10.1.1.2",)),
        Nic("0000:02:00.2", "eth2", addresses=("fe80::1",)),
        Nic("0000:02:00.3", "eth3"),
    ]
    files = Files(tmp_path, Kernel(tmp_path, nics).ask)
    assert set(guarded(files, {})) == {"eth0"}  # the others are down
    session = {"SSH_CONNECTION": "10.9.9.9 5000 ::ffff:10.1.1.2 22"}
    assert guarded(files, session)["eth1"] == "your SSH session uses it"
    session = {"SSH_CONNECTION": "fe80::9%eth2 5000 fe80::1%eth2 22"}
    assert set(guarded(files, session)) == {"eth0", "eth2"}
    assert set(guarded(files, {"SSH_CONNECTION": "not what it is"})) == {"eth0"}


def test_interfaces_that_are_up_are_protected_without_ip(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    write(tmp_path / "sys/class/net/ens0f0/flags", "0x1003")
    kernel.has_ip = False
    result = make_plan(kernel)
    assert set(result.guarded) == {"eno1", "ens0f0"}
    assert "0000:3b:00.0" not in {card.address for card in result.plan.cards}


def test_bridge_port_and_card_of_container_are_protected(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    net = tmp_path / "sys/class/net"
    write(net / "br0/flags", "0x1003")
    relink(net / "ens0f0/master", "../br0")
    (net / "ens0f1").unlink()  # it is in another namespace
    (tmp_path / "sys/bus/pci/devices/0000:3b:00.1/net").rename(tmp_path / "elsewhere")
    result = make_plan(kernel)
    assert result.cards["0000:3b:00.0"] == "ens0f0: it is a port of br0"
    assert "its interface is not visible" in result.cards["0000:3b:00.1"]
    assert {card.address for card in result.plan.cards} == {"0000:af:00.0", "0000:af:00.1"}


def test_card_of_function_in_use_is_protected(tmp_path: Path) -> None:
    """The login is over a virtual function, so the number of functions must not change."""
    kernel = make_machine("server", tmp_path)
    kernel.make_functions("0000:3b:00.0", 1)
    kernel.add_interface(Nic("0000:3b:02.0", "vf0", "iavf", up=True, addresses=("10.2.2.2",)))
    result = make_plan(kernel)
    assert "0000:3b:02.0" in result.cards["0000:3b:00.0"]
    assert "0000:3b:00.0" not in {card.address for card in result.plan.cards}


def test_card_in_iommu_group_of_login_is_not_planned(tmp_path: Path) -> None:
    base(tmp_path, HostSpec(cores=4))
    default_route(tmp_path, "eth0")
    nics = [
        Nic("0000:02:00.0", "eth0", "e1000e", up=True, group="5"),
        Nic("0000:03:00.0", "eth1", "e1000e", group="5"),
        Nic("0000:04:00.0", "eth2", "e1000e", group="6"),
        Nic("0000:05:00.0", "eth3", "e1000e", group="7"),
    ]
    kernel = Kernel(tmp_path, nics)
    result = make_plan(kernel)
    assert {c.address for c in result.plan.cards} == {"0000:04:00.0", "0000:05:00.0"}
    with pytest.raises(MistakeError, match=r"its IOMMU group also has 0000:02:00\.0"):
        make_plan(kernel, "--cards", "03:00.0")


def test_cards_with_kernel_driver_are_not_bound(tmp_path: Path) -> None:
    base(tmp_path, HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), max_vfs=8)
    plan = make_plan(Kernel(tmp_path, [nic])).plan
    assert [(card.bind, card.made) for card in plan.cards] == [(False, 2)]
    files = texts.plan_files(plan)
    assert texts.MODULES not in files and "\tbind " not in files[texts.SCRIPT]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--groups", "0"], "--groups: found 0, allowed: 1 to 64"),
        (["--groups", "65"], "--groups: found 65"),
        (
            ["--cards", "0000:01:00.0"],
            r"0000:01:00.0: it must not be changed: eno1: the default route",
        ),
        (["--cards", "0000:99:00.0"], "no network card has this PCI address"),
        (["--cards", "../etc"], "allowed: PCI addresses"),
        (["--network-vlan", "0"], "--network-vlan: found '0'"),
        (["--network-vlan", "4095"], "--network-vlan: found '4095'"),
        (["--rphy-vlan", "9-7"], "--rphy-vlan: found '9-7'"),
        (["--rphy-vlan", "1-3"], "found 3 VLANs for 1 ports"),
        (["--config", "/no/such"], "no such file"),
    ],
)
def test_wrong_options_are_refused(options: list[str], error: str, tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match=error):
        make_plan(make_machine("server", tmp_path), *options)


def test_too_many_groups_are_refused(tmp_path: Path) -> None:
    kernel = make_machine("single", tmp_path)
    for name in ("sriov_totalvfs",):
        write(tmp_path / f"sys/bus/pci/devices/0000:05:00.0/{name}", "3")
    with pytest.raises(MistakeError, match="the cards have only 3 ports"):
        make_plan(kernel, "--groups", "2", "--ports", "own")
    write(tmp_path / "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1048576 kB")
    with pytest.raises(MistakeError, match=r"2\.0 GiB of huge pages .* node 0, which has 1\.0 GiB"):
        make_plan(kernel, "--groups", "2")
    pool = tmp_path / "sys/devices/system/node/node0/hugepages/hugepages-1048576kB"
    (pool / "nr_hugepages").unlink()
    with pytest.raises(MistakeError, match="huge pages of 1024 MB: not supported"):
        make_plan(kernel, "--page-size", "1G")


def test_pages_in_use_are_reported(tmp_path: Path) -> None:
    kernel = make_machine("single", tmp_path)
    pool = tmp_path / "sys/devices/system/node/node0/hugepages/hugepages-2048kB"
    write(pool / "nr_hugepages", "512")
    write(pool / "free_hugepages", "512")
    assert not any("in use" in note for note in make_plan(kernel).notes)
    write(pool / "free_hugepages", "12")
    assert any(
        note.startswith("500 of 512 huge pages are in use") for note in make_plan(kernel).notes
    )


def test_1_gb_pages_are_kernel_arguments(tmp_path: Path) -> None:
    result = make_plan(make_machine("server", tmp_path), "--groups", "2", "--page-size", "1G")
    assert result.plan.arguments[-3:] == (
        "default_hugepagesz=1G",
        "hugepagesz=1G",
        f"hugepages=0:{result.plan.pages[0].count}",
    )
    assert "pages sys" not in texts.plan_files(result.plan)[texts.SCRIPT]


def test_script_is_valid(tmp_path: Path) -> None:
    plan = make_plan(make_machine("server", tmp_path), "--groups", "5", "--ports", "own").plan
    script = tmp_path / "script"
    script.write_text(texts.plan_files(plan)[texts.SCRIPT])
    subprocess.run(["sh", "-n", str(script)], check=True)
    assert script.read_text().count("\tbind ") == 10


@pytest.mark.parametrize("name", MACHINES)
def test_check_of_machines(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --machine, so that no program of this host is called."""
    make_machine(name, tmp_path)
    status = cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    result = json.loads(capsys.readouterr().out)
    facts = {row["fact"]: row for row in result["facts"]}
    assert {row["verdict"] for row in result["facts"]} <= {"ok", "could be better", "missing"}
    assert status == (0 if result["ok"] else 1)
    assert facts["isolated cores"]["verdict"] == "could be better"
    assert all(name in facts["never changed"]["found"] for name in LOGIN[name])
    assert facts["IOMMU"]["verdict"] == ("missing" if name == "cloud" else "ok")
    if name != "laptop":
        assert facts["huge pages"]["verdict"] == "missing" and status == 1
    assert cli.main(["host", "check", "--machine", str(tmp_path)]) == status
    assert "never changed" in capsys.readouterr().out


def test_check_of_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["host", "check", "--machine", str(tmp_path)]) == 1
    assert cli.main(["host", "check", "--machine", str(tmp_path / "no")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_malicious_sysfs_is_not_copied(tmp_path: Path) -> None:
    """No value reaches a file that root runs, and none causes a traceback."""
    kernel = make_machine("server", tmp_path)
    card = tmp_path / "sys/bus/pci/devices/0000:3b:00.0"
    write(card / "vendor", "0x8086$(touch x)")
    write(card / "sriov_totalvfs", "9" * 6000)
    write(card / "numa_node", "-99999999999999999999")
    write(tmp_path / "sys/class/net/ens0f1/address", '52:54:00:00:00:01"; reboot')
    write(tmp_path / "sys/class/net/ens1f0/speed", "\x1b[31m")
    write(tmp_path / "sys/devices/system/cpu/nohz_full", "0-9999999999999999999999,7-3")
    result = make_plan(kernel, "--groups", "4", "--ports", "own")
    assert "0000:3b:00.0" not in {card.address for card in result.plan.cards}
    text = "".join(texts.plan_files(result.plan).values())
    assert "reboot" not in text and "touch" not in text
    assert re.search(r"same 0000:3b:00\.1 8086 1592 -;", text)


def test_undo_of_other_host_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["host", "undo", "--machine", str(tmp_path)]) == 2
    assert "allowed only with check and plan" in capsys.readouterr().err


SERVER = """
rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2, core_mac: "02:00:00:00:0a:01"}
bonding_groups: [{id: 1, channels: [1]}]
service_groups:
"""
ITEM = """
  - service_group: %d
    ports: {network: {device: "0000:99:00.%d"%s}, rphy: {device: "0000:99:01.0", vlan: %d}}
    channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: %d}]
    modems:
      - mac: "02:01:00:00:00:0%d"
        addresses: [10.0.0.%d]
        bonding_group: 1
        security: {said: 1, cipher: none}
        service_flows: [{id: 1}]
"""


def test_groups_of_a_configuration(tmp_path: Path) -> None:
    """Ports, MAC addresses, VLANs and memory are those that vcmtsd reports."""
    kernel = make_machine("server", tmp_path / "machine")
    mac = ', mac: "02:00:00:00:0b:01"'
    config = tmp_path / "server.yaml"
    items = [ITEM % (n, n, mac if n == 3 else "", n, n, n, n) for n in (3, 5)]
    config.write_text(SERVER + "".join(items), encoding="utf-8")
    options = ["--config", str(config), "--network-vlan", "30,50"]
    result = make_plan(kernel, *options)
    ports = {
        f.groups: f for card in result.plan.cards for f in card.functions if f.role == "network"
    }
    assert {groups: f.vlan for groups, f in ports.items()} == {(3,): 30, (5,): 50}
    assert ports[(3,)].mac == "02:00:00:00:0b:01" and ports[(5,)].mac != ports[(3,)].mac
    (rphy,) = [f for card in result.plan.cards for f in card.functions if f.role == "rphy"]
    assert rphy.groups == (3, 5) and rphy.mac == "02:00:00:00:0a:01" and not rphy.vlan
    cores = ["--cores", "0-7/0-7/0-7"]
    output = subprocess.check_output(
        [program("vcmtsd"), "check", "--json", "--config", config, *cores]
    )
    placed = json.loads(output)["placement"]["memory_mb"]
    assert result.requirements.memory_mb == placed != json.loads(output)["memory_mb"]
    assert "server.yaml" in result.requirements.memory_source
    assert result.plan.groups == (3, 5) and result.cores.layout.startswith("1us1t")
    with pytest.raises(MistakeError, match="allowed: only one of both"):
        make_plan(kernel, *options, "--rphy-vlan", "9")
    with pytest.raises(MistakeError, match=r"--groups: found 4, but .* has 2"):
        make_plan(kernel, *options, "--groups", "4")


def test_cores_of_a_configuration(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path / "machine")
    config = tmp_path / "server.yaml"
    text = SERVER + ITEM % (1, 1, "", 1, 1, 1, 1)
    config.write_text(f"threads: {{downstream: 1ds1t, upper_mac_core: 6}}{text}", encoding="utf-8")
    result = make_plan(kernel, "--config", str(config))
    assert result.cores.layout == "as given" and result.plan.isolated == (6, 14)
    config.write_text(config.read_text().replace("core: 6", "core: 99"))
    with pytest.raises(MistakeError, match="upper_mac_core: found core 99"):
        make_plan(kernel, "--config", str(config))


def test_mtu_of_cards_suffices_for_subscribers_and_tunnel(tmp_path: Path) -> None:
    """Network ports have IP packets of almost max_frame, which is up to 2000 bytes."""
    kernel = make_machine("server", tmp_path / "machine")
    config = tmp_path / "server.yaml"
    for mtu, wanted in ((1500, 2000), (4000, 4000)):
        text = SERVER.replace("rphy: {", f"rphy: {{mtu: {mtu}, ") + ITEM % (1, 1, "", 1, 1, 1, 1)
        config.write_text(text, encoding="utf-8")
        assert {card.mtu for card in make_plan(kernel, "--config", str(config)).plan.cards} == {
            wanted
        }
