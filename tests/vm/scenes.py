#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The data plane on cards of a virtual machine: called by tests/vm/run with the name of a scene.

One process does all of a scene: to start Python takes an emulated machine seconds.
"""

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
    driver,
    function,
    interface,
    monitor,
    no_faults,
    run,
    say,
    until,
    write,
)
from vm.system import System  # noqa: E402

CARDS = os.environ["LAB_NICS"].split()
LONG = ("--duration", "600s")  # ended by the test
SHORT = ("--duration", "8s")


@contextlib.contextmanager
def serving(config: Path, *arguments: str) -> Iterator[Server]:
    server = Server(config, *arguments)
    try:
        yield server
    except BaseException:
        print(server.said(), *server.drops(), sep="\n", flush=True)
        raise
    finally:
        server.kill()


@contextlib.contextmanager
def traffic(config: Path, network: str, rphy: str, *arguments: str) -> Iterator[Traffic]:
    program = Traffic(config, network, rphy, *arguments)
    try:
        yield program
    except BaseException:
        print(program.said(), flush=True)
        raise
    finally:
        program.kill()


def proven(config: Path, peers: tuple[str, str], of: int, *arguments: str) -> str:
    with traffic(config, *peers, *SHORT, *arguments) as program:
        return program.proven(of)


# ---- host: functions of a card by `vcmts host`


def memory(config: Path, peers: tuple[str, str]) -> None:
    """Addresses and pages."""
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
            with serving(config, "--iova-mode", mode) as server:
                kind = {"va": "virtual", "pa": "physical"}[mode]
                server.hears(f"cards reach memory by {kind} addresses")
                assert ("running on ordinary pages" in server.said()) == (pages == "ordinary")
                say(f"{pages} pages, IOVA {mode}: {proven(config, peers, 2)} proven")
                server.stop()
            no_faults()
    refused = Server.refused(config, "--iova-mode", "pa")
    assert "--iova-mode: found pa, allowed: va, auto, or" in refused, refused
    pool.write_text(reserved)


def unbound(server: Server, config: Path, of: list[str]) -> None:
    """A function of the first group, while both carry packets."""
    with traffic(config, of[4], of[5], "--duration", "25s") as program:
        program.runs()
        say(f"{of[0]} is unbound")
        write(Path("/sys/bus/pci/drivers/vfio-pci/unbind"), of[0])
        server.hears(f"{of[0]} was taken away: service groups without it: 1")
        assert driver(of[0]) == ""
        status, result = program.result()
    first, second = (group for group in result["groups"])
    for direction in ("downstream", "upstream"):
        one = second[direction]
        assert one["sent"] > 50 and one["proven"] == one["sent"], one
    lost = first["upstream"]["lost"]
    gone = server.metric("vcmts_upstream_dropped_total", service_group="1", reason="port_gone")
    say(f"upstream of the first: {lost} lost, {gone:.0f} of them as port_gone")
    assert status == 1 and 0 < gone <= lost, (status, gone, lost)
    states = server.ports()
    assert states == {of[0]: "gone", of[1]: "up", of[2]: "up", of[3]: "up"}, states
    assert server.metric("vcmts_port_state", port=of[0], state="gone") == 1
    assert server.metric("vcmts_ethdev_link_up", port=of[0]) == 0


def taken(tree: groups.Json, of: list[str]) -> None:
    """By the system, from a vcmtsd that has them open."""
    config = groups.own(tree, [(of[0], of[1]), (of[2], of[3])])
    with serving(config) as server:
        say(f"own ports: {proven(config, (of[4], of[5]), 2)} proven")
        unbound(server, config, of)
        say("all functions are taken: sriov_numvfs")
        write(PCI / CARDS[0] / "sriov_numvfs", "0")
        for name in of[1:4]:
            server.hears(f"{name} was taken away")
        assert set(server.ports().values()) == {"gone"}
        server.stop()
    no_faults()


def host_scene() -> None:
    from host_lab import in_guest as host

    login = host.set_up()
    before = host.state()
    tree = groups.profile(3)
    say("vcmts host plan, apply")
    host.vcmts(
        *("plan", "--config", str(groups.planned(tree)), "--cards", CARDS[0], "-o", "/tmp/plan"),
        *("--network-vlan", str(groups.NETWORK_VLAN), "--rphy-vlan", str(groups.RPHY_VLAN)),
    )
    print(host.vcmts("apply", "/tmp/plan"))
    after = host.state()
    of = [function(CARDS[0], n) for n in range(6)]
    assert [driver(name) for name in of] == ["vfio-pci"] * 6
    run("ip", "link", "set", interface(CARDS[0]), "up")
    tree["service_groups"].pop()
    taken(tree, of)
    say("vcmts host apply once more")
    host.vcmts("apply", "/tmp/plan")
    host.same(after, "applied again it is another", remade=True)
    again = host.state()
    memory(groups.shared(tree, of[0], of[1]), (of[4], of[5]))
    host.same(again, "there is something left of the data plane")
    say("vcmts host undo")
    print(host.vcmts("undo"))
    host.same(before, "undone it is not what it was")
    assert "10.77.0.1" in run("ip", "-o", "address", "show", "dev", login)


# ---- link: cards of their own, joined by cables in pairs


def link_of(server: Server, config: Path, nic: int, direction: str) -> None:
    """Goes and comes while packets are on their way out by it."""
    card = CARDS[nic]
    up = direction == "upstream"
    name = "vcmts_upstream_dropped_total" if up else "vcmts_downstream_dropped_packets_total"
    with traffic(config, CARDS[1], CARDS[3], "--duration", "25s") as program:
        program.runs()
        monitor(f"set_link net{nic} off")
        until(lambda: server.ports()[card] == "down", f"{card} without its link")
        assert server.metric("vcmts_port_state", port=card, state="down") == 1
        assert server.metric("vcmts_ethdev_link_up", port=card) == 0
        time.sleep(3)
        monitor(f"set_link net{nic} on")
        until(lambda: server.ports()[card] == "up", f"{card} with its link again")
        status, result = program.result()
    lost = result[direction]["lost"]
    dropped = server.metric(name, reason="link_down")
    say(f"{direction}: {lost} lost, {dropped:.0f} of them as link_down")
    assert status == 1 and 0 < dropped <= lost, (status, dropped, result[direction])
    say(f"with a link again: {proven(config, (CARDS[1], CARDS[3]), 1)} proven")


def link_scene() -> None:
    bind(CARDS)
    tree = groups.profile(2)
    config = groups.alone(tree, 0)
    with serving(config, "--network", CARDS[0], "--rphy", CARDS[2]) as server:
        say(f"four cards: {proven(config, (CARDS[1], CARDS[3]), 1)} proven")
        link_of(server, config, 0, "upstream")
        link_of(server, config, 2, "downstream")
        summary = server.stop()
        assert summary["upstream"]["drops"]["link_down"] > 0
        assert summary["downstream"]["drops"]["link_down"] > 0
    no_faults()


# ---- removed: a card is pulled out while another one goes on


def functions_of(card: str, mac: str) -> list[str]:
    """Four of them: the network's and R-PHY device's, and their peers'."""
    write(PCI / card / "sriov_numvfs", "4")
    name = interface(card)
    run("ip", "link", "set", name, "up")
    network, rphy = str(groups.NETWORK_VLAN), str(groups.RPHY_VLAN)
    for index, (address, vlan) in enumerate(
        ((mac, network), (mac, rphy), (ROUTER, network), (groups.RPD, rphy))
    ):
        run(*f"ip link set {name} vf {index} mac {address} vlan {vlan} spoofchk off".split())
    made = [function(card, index) for index in range(4)]
    bind(made)
    return made


def removed_scene() -> None:
    first, second = (functions_of(CARDS[n], groups.CORES[n]) for n in (0, 1))
    tree = groups.profile(2)
    config = groups.own(tree, [(first[0], first[1]), (second[0], second[1])])
    with serving(config) as server:
        with traffic(groups.alone(tree, 0), first[2], first[3], *LONG, "--core", "3") as doomed:
            doomed.runs()
            with traffic(groups.alone(tree, 1), second[2], second[3], "--duration", "30s") as other:
                other.runs()
                doomed.kill()  # it has functions of the card, too
                say("device_del nic0")
                monitor("device_del nic0")
                server.hears(f"{first[0]} was taken away: service groups without it: 1")
                server.hears(f"{first[1]} was taken away: service groups without it: 1")
                say(f"the other card: {other.proven()} proven")
        assert server.ports() == dict.fromkeys(first[:2], "gone") | dict.fromkeys(second[:2], "up")
        assert server.metric("vcmts_port_state", service_group="1", state="gone") == 2
        assert server.metric("vcmts_port_state", service_group="2", state="up") == 2
        run(
            "sh",
            "-c",
            f"i=0; while [ -e {PCI / CARDS[0]} ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.2; done",
        )
        assert not (PCI / CARDS[0]).exists(), "the card is still there"
        say(f"behind it: {proven(groups.alone(tree, 1), (second[2], second[3]), 1)} proven")
        server.stop()
    no_faults()


# ---- service: systemd starts it by the unit, as a user without privileges


def unprivileged(system: System, capabilities: int) -> None:
    """All its sets are those, and the user is not root."""
    status = system.status()
    assert "0" not in status["Uid"].split() and status["NoNewPrivs"] == "1", status
    sets = {name: int(status[name], 16) for name in status if name.startswith("Cap")}
    assert len(sets) == 5 and set(sets.values()) == {capabilities}, sets


def restarted(system: System, drop_in: str) -> None:
    system.drop_in(drop_in)
    system.ask("systemctl", "start", "vcmtsd")
    system.becomes("active")


def stopped(system: System) -> None:
    system.ask("systemctl", "stop", "vcmtsd")
    system.becomes("inactive")
    assert "this is a defect" not in system.said()


def unit(system: System, config: Path, of: list[str]) -> None:
    system.becomes("active")
    unprivileged(system, 0)
    assert "running on ordinary pages" not in system.said(), system.said()
    say(f"without a capability, on huge pages: {proven(config, (of[2], of[3]), 1)} proven")
    system.ask("systemctl", "reload", "vcmtsd")
    until(lambda: "read again" in system.said(), "the file is read again")
    stopped(system)
    say("interfaces of the kernel, by their drop-in")
    kernel = "--network net_tap0,iface=vcmts0 --rphy net_af_packet0,iface=lo"
    system.configure(config, kernel)
    restarted(system, "kernel-interfaces.conf")
    unprivileged(system, 1 << 12 | 1 << 13 | 1 << 39)  # NET_ADMIN, NET_RAW, BPF
    stopped(system)
    say("physical addresses, by theirs")
    system.configure(config, f"--network {of[0]} --rphy {of[1]} --iova-mode pa")
    restarted(system, "physical-addresses.conf")
    unprivileged(system, 1 << 17 | 1 << 21)  # SYS_RAWIO, SYS_ADMIN
    assert "cards reach memory by physical addresses" in system.said(), system.said()
    say(f"physical addresses: {proven(config, (of[2], of[3]), 1)} proven")
    stopped(system)


def service_scene() -> None:
    of = functions_of(CARDS[0], groups.CORES[0])
    config = groups.alone(groups.profile(2), 0)
    say("systemd is started")
    system = System(config, f"--network {of[0]} --rphy {of[1]}")
    try:
        unit(system, config, of)
    except BaseException:
        print(system.said(), flush=True)
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
    no_faults()
    say("ok")
