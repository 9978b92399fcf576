#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one scene of the VM test, named in the argument, as root in the guest. tests/vm/run starts
it.

One process runs the whole scene, as starting Python takes seconds in an emulated machine."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(CHECKOUT / "tests"),
    str(CHECKOUT / "tools"),
    *map(str, CHECKOUT.glob(".venv/lib/python3*/site-packages")),
]

from vm import groups  # noqa: E402
from vm.served import (  # noqa: E402
    PCI,
    ROUTER,
    Server,
    Traffic,
    bind,
    check_no_faults,
    driver,
    function,
    interface,
    monitor,
    progress,
    run,
    until,
    write,
)
from vm.system import System  # noqa: E402

CARDS = os.environ["LAB_NICS"].split()
LONG = ("--duration", "600s")  # the test kills it
SHORT = ("--duration", "8s")


@contextlib.contextmanager
def running_server(config: Path, *arguments: str) -> Iterator[Server]:
    server = Server(config, *arguments)
    try:
        yield server
    except BaseException:
        print(server.output(), *server.drops(), sep="\n", flush=True)
        raise
    finally:
        server.kill()


@contextlib.contextmanager
def traffic(config: Path, network: str, rphy: str, *arguments: str) -> Iterator[Traffic]:
    program = Traffic(config, network, rphy, *arguments)
    try:
        yield program
    except BaseException:
        print(program.output(), flush=True)
        raise
    finally:
        program.kill()


def check_proven(config: Path, peers: tuple[str, str], group_count: int, *arguments: str) -> str:
    """Runs the traffic program on the ports `peers`. Returns the numbers of proven packets."""
    with traffic(config, *peers, *SHORT, *arguments) as program:
        return program.check_proven(group_count)


# ---- host: virtual functions created by `vcmts host`


def check_memory_modes(config: Path, peers: tuple[str, str]) -> None:
    """Packets are proven with each kind of IOVA and of memory pages. vcmtsd refuses physical
    addresses on ordinary pages."""
    for pages in ("huge", "ordinary"):
        if pages == "ordinary":
            pool = next(
                Path("/sys/devices/system/node").glob("node0/hugepages/*-2048kB/nr_hugepages")
            )
            reserved = pool.read_text()
            pool.write_text("0")
        for mode in ("va", "pa"):
            if (pages, mode) == ("ordinary", "pa"):
                continue
            with running_server(config, "--iova-mode", mode) as server:
                kind = {"va": "virtual", "pa": "physical"}[mode]
                server.wait_for_output(f"PCI NICs use {kind} addresses for DMA")
                assert ("running on ordinary pages" in server.output()) == (pages == "ordinary")
                progress(f"{pages} pages, IOVA {mode}: {check_proven(config, peers, 2)} proven")
                server.stop()
            check_no_faults()
    refused = Server.refused(config, "--iova-mode", "pa")
    assert "--iova-mode: found pa, allowed: va, auto, or" in refused, refused
    pool.write_text(reserved)


def check_unbind(server: Server, config: Path, vfs: list[str]) -> None:
    """Unbinds a VF of the first group while both groups carry packets."""
    with traffic(config, vfs[4], vfs[5], "--duration", "25s") as program:
        program.wait_for_traffic()
        progress(f"{vfs[0]} is unbound")
        write(Path("/sys/bus/pci/drivers/vfio-pci/unbind"), vfs[0])
        server.wait_for_output(f"{vfs[0]} was removed: service groups without it: 1")
        assert driver(vfs[0]) == ""
        status, result = program.result()
    first, second = (group for group in result["groups"])
    for direction in ("downstream", "upstream"):
        counts = second[direction]
        assert counts["sent"] > 50 and counts["proven"] == counts["sent"], counts
    lost = first["upstream"]["lost"]
    gone = server.metric("vcmts_upstream_dropped_total", service_group="1", reason="port_gone")
    progress(f"upstream of the first group: {lost} lost, {gone:.0f} of them as port_gone")
    assert status == 1 and 0 < gone <= lost, (status, gone, lost)
    states = server.ports()
    assert states == {vfs[0]: "gone", vfs[1]: "up", vfs[2]: "up", vfs[3]: "up"}, states
    assert server.metric("vcmts_port_state", port=vfs[0], state="gone") == 1
    assert server.metric("vcmts_ethdev_link_up", port=vfs[0]) == 0


def check_vf_removal(tree: groups.Json, vfs: list[str]) -> None:
    """Removes VFs that vcmtsd has open: first one by unbinding, then all by sriov_numvfs."""
    config = groups.own_config(tree, [(vfs[0], vfs[1]), (vfs[2], vfs[3])])
    with running_server(config) as server:
        progress(f"own ports: {check_proven(config, (vfs[4], vfs[5]), 2)} proven")
        check_unbind(server, config, vfs)
        progress("sriov_numvfs = 0 removes all functions")
        write(PCI / CARDS[0] / "sriov_numvfs", "0")
        for name in vfs[1:4]:
            server.wait_for_output(f"{name} was removed")
        assert set(server.ports().values()) == {"gone"}
        server.stop()
    check_no_faults()


def host_scene() -> None:
    from host_lab import in_guest as host

    login = host.set_up()
    initial = host.state()
    tree = groups.profile(3)
    progress("vcmts host plan, apply")
    config = str(groups.plan_config(tree))
    host.vcmts(
        *("plan", "--config", config, "--cards", CARDS[0], "-o", "/tmp/plan"),
        *("--network-vlan", str(groups.NETWORK_VLAN), "--rphy-vlan", str(groups.RPHY_VLAN)),
    )
    print(host.vcmts("apply", "/tmp/plan"))
    applied = host.state()
    vfs = [function(CARDS[0], n) for n in range(6)]
    assert [driver(name) for name in vfs] == ["vfio-pci"] * 6
    run("ip", "link", "set", interface(CARDS[0]), "up")
    tree["service_groups"].pop()
    check_vf_removal(tree, vfs)
    progress("vcmts host apply, second time")
    host.vcmts("apply", "/tmp/plan")
    host.check_state(applied, "a second apply makes another state", restored=True)
    before = host.state()
    check_memory_modes(groups.shared_config(tree, vfs[0], vfs[1]), (vfs[4], vfs[5]))
    host.check_state(before, "vcmtsd leaves something behind")
    progress("vcmts host undo")
    print(host.vcmts("undo"))
    host.check_state(initial, "undo does not restore the initial state")
    assert "10.77.0.1" in run("ip", "-o", "address", "show", "dev", login)


# ---- link: four cards, connected in pairs


def check_link(server: Server, config: Path, nic: int, direction: str) -> None:
    """Sets the link of a port down and up while packets leave by this port."""
    card = CARDS[nic]
    up = direction == "upstream"
    name = "vcmts_upstream_dropped_total" if up else "vcmts_downstream_dropped_packets_total"
    with traffic(config, CARDS[1], CARDS[3], "--duration", "25s") as program:
        program.wait_for_traffic()
        monitor(f"set_link net{nic} off")
        until(lambda: server.ports()[card] == "down", f"link down of {card}")
        assert server.metric("vcmts_port_state", port=card, state="down") == 1
        assert server.metric("vcmts_ethdev_link_up", port=card) == 0
        time.sleep(3)
        monitor(f"set_link net{nic} on")
        until(lambda: server.ports()[card] == "up", f"link up of {card}")
        status, result = program.result()
    lost = result[direction]["lost"]
    dropped = server.metric(name, reason="link_down")
    progress(f"{direction}: {lost} lost, {dropped:.0f} of them as link_down")
    assert status == 1 and 0 < dropped <= lost, (status, dropped, result[direction])
    progress(f"with the link up: {check_proven(config, (CARDS[1], CARDS[3]), 1)} proven")


def link_scene() -> None:
    bind(CARDS)
    tree = groups.profile(2)
    config = groups.single_config(tree, 0)
    with running_server(config, "--network", CARDS[0], "--rphy", CARDS[2]) as server:
        progress(f"four cards: {check_proven(config, (CARDS[1], CARDS[3]), 1)} proven")
        check_link(server, config, 0, "upstream")
        check_link(server, config, 2, "downstream")
        summary = server.stop()
        assert summary["upstream"]["drops"]["link_down"] > 0
        assert summary["downstream"]["drops"]["link_down"] > 0
    check_no_faults()


# ---- removed: a card is unplugged while another one carries packets


def create_vfs(card: str, mac: str) -> list[str]:
    """Creates four VFs: for the network and R-PHY ports, and for those of the traffic program."""
    write(PCI / card / "sriov_numvfs", "4")
    name = interface(card)
    run("ip", "link", "set", name, "up")
    network, rphy = str(groups.NETWORK_VLAN), str(groups.RPHY_VLAN)
    for index, (address, vlan) in enumerate(
        ((mac, network), (mac, rphy), (ROUTER, network), (groups.RPD, rphy))
    ):
        run(*f"ip link set {name} vf {index} mac {address} vlan {vlan} spoofchk off".split())
    vfs = [function(card, index) for index in range(4)]
    bind(vfs)
    return vfs


def removed_scene() -> None:
    first, second = (create_vfs(CARDS[n], groups.CORES[n]) for n in (0, 1))
    tree = groups.profile(2)
    config = groups.own_config(tree, [(first[0], first[1]), (second[0], second[1])])
    configs = [groups.single_config(tree, number) for number in (0, 1)]
    with running_server(config) as server:
        with traffic(configs[0], first[2], first[3], *LONG, "--core", "3") as removed:
            removed.wait_for_traffic()
            with traffic(configs[1], second[2], second[3], "--duration", "30s") as remaining:
                remaining.wait_for_traffic()
                removed.kill()  # it uses functions of the same card
                progress("device_del nic0")
                monitor("device_del nic0")
                server.wait_for_output(f"{first[0]} was removed: service groups without it: 1")
                server.wait_for_output(f"{first[1]} was removed: service groups without it: 1")
                progress(f"the other card: {remaining.check_proven()} proven")
        assert server.ports() == dict.fromkeys(first[:2], "gone") | dict.fromkeys(second[:2], "up")
        assert server.metric("vcmts_port_state", service_group="1", state="gone") == 2
        assert server.metric("vcmts_port_state", service_group="2", state="up") == 2
        loop = f"while [ -e {PCI / CARDS[0]} ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.2; done"
        run("sh", "-c", f"i=0; {loop}")
        assert not (PCI / CARDS[0]).exists(), f"{CARDS[0]} is not removed"
        progress(f"without the card: {check_proven(configs[1], (second[2], second[3]), 1)} proven")
        server.stop()
    check_no_faults()


# ---- service: systemd starts vcmtsd by its unit, as an unprivileged user


def check_privileges(system: System, capabilities: int) -> None:
    """vcmtsd does not run as root, and all its capability sets are exactly these."""
    status = system.status()
    assert "0" not in status["Uid"].split() and status["NoNewPrivs"] == "1", status
    sets = {name: int(status[name], 16) for name in status if name.startswith("Cap")}
    assert len(sets) == 5 and set(sets.values()) == {capabilities}, sets


def start_with_drop_in(system: System, drop_in: str) -> None:
    system.drop_in(drop_in)
    system.run("systemctl", "start", "vcmtsd")
    system.wait_for_state("active")


def stop_unit(system: System) -> None:
    system.run("systemctl", "stop", "vcmtsd")
    system.wait_for_state("inactive")
    assert "this is a defect" not in system.journal()


def check_unit(system: System, config: Path, vfs: list[str]) -> None:
    system.wait_for_state("active")
    check_privileges(system, 0)
    assert "running on ordinary pages" not in system.journal(), system.journal()
    progress(
        f"without a capability, on huge pages: {check_proven(config, (vfs[2], vfs[3]), 1)} proven"
    )
    system.run("systemctl", "reload", "vcmtsd")
    until(lambda: "reloaded" in system.journal(), "the reload")
    stop_unit(system)
    progress("kernel interfaces, with their drop-in")
    kernel = "--network net_tap0,iface=vcmts0 --rphy net_af_packet0,iface=lo"
    system.configure(config, kernel)
    start_with_drop_in(system, "kernel-interfaces.conf")
    check_privileges(system, 1 << 12 | 1 << 13 | 1 << 39)  # NET_ADMIN, NET_RAW, BPF
    stop_unit(system)
    progress("physical addresses, with their drop-in")
    system.configure(config, f"--network {vfs[0]} --rphy {vfs[1]} --iova-mode pa")
    start_with_drop_in(system, "physical-addresses.conf")
    check_privileges(system, 1 << 17 | 1 << 21)  # SYS_RAWIO, SYS_ADMIN
    assert "PCI NICs use physical addresses for DMA" in system.journal(), system.journal()
    progress(f"physical addresses: {check_proven(config, (vfs[2], vfs[3]), 1)} proven")
    stop_unit(system)


def service_scene() -> None:
    vfs = create_vfs(CARDS[0], groups.CORES[0])
    config = groups.single_config(groups.profile(2), 0)
    progress("systemd is started")
    system = System(config, f"--network {vfs[0]} --rphy {vfs[1]}")
    try:
        check_unit(system, config, vfs)
    except BaseException:
        print(system.journal(), flush=True)
        raise
    finally:
        system.end()


SCENES = {
    "host": host_scene,
    "link": link_scene,
    "removed": removed_scene,
    "service": service_scene,
}

if __name__ == "__main__":
    SCENES[sys.argv[1]]()
    check_no_faults()
    progress("ok")
