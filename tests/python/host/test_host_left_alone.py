# SPDX-License-Identifier: BSD-3-Clause
"""Tests what a plan does not change: system memory, cards that are up, other VFIO devices."""

import json
from pathlib import Path

import pytest

from host.prepare import texts
from python.host.host_steps import apply, make_machine, make_plan
from python.layout_machines import write
from vcmts import cli
from vcmts.paths import CHECKOUT, MistakeError


def test_system_keeps_memory(tmp_path: Path) -> None:
    """Pages leave a quarter of each node and 1 GiB of the machine to the system. Pages of all
    sizes count; those that exist already are not refused."""
    kernel = make_machine("single", tmp_path)
    meminfo = tmp_path / "sys/devices/system/node/node0/meminfo"
    pools = tmp_path / "sys/devices/system/node/node0/hugepages"
    write(meminfo, f"Node 0 MemTotal: {4 << 20} kB")
    write(tmp_path / "proc/meminfo", f"MemTotal: {4 << 20} kB")
    assert [p.count for p in make_plan(kernel, "--groups", "3").plan.pages] == [1536]
    with pytest.raises(
        MistakeError,
        match=r"4\.0 GiB of huge pages .* node 0, which has 4\.0 GiB, allowed: 3\.0 GiB, as the "
        r"system needs 1\.0 GiB: plan fewer groups",
    ):
        make_plan(kernel, "--groups", "4")
    write(pools / "hugepages-1048576kB/nr_hugepages", "1")
    with pytest.raises(MistakeError, match=r"4\.0 GiB of huge pages are needed on node 0"):
        make_plan(kernel, "--groups", "3")
    write(pools / "hugepages-1048576kB/nr_hugepages", "3")
    write(pools / "hugepages-2048kB/nr_hugepages", "512")
    assert make_plan(kernel).plan.pages[0].count == 512  # 512 exist already
    write(pools / "hugepages-2048kB/nr_hugepages", "511")
    with pytest.raises(MistakeError, match="allowed: 3"):
        make_plan(kernel)
    write(pools / "hugepages-1048576kB/nr_hugepages", "0")
    write(meminfo, f"Node 0 MemTotal: {8 << 20} kB")  # most of it is in use
    with pytest.raises(
        MistakeError, match=r"on the machine, which has 4\.0 GiB, allowed: 3\.0 GiB"
    ):
        make_plan(kernel, "--groups", "4")


def test_pages_of_other_nodes_count(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    write(tmp_path / "proc/meminfo", f"MemTotal: {64 << 20} kB")
    other = tmp_path / "sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
    write(other, "62")
    assert make_plan(kernel).plan.pages
    write(other, "63")
    with pytest.raises(MistakeError, match=r"64\.0 GiB of huge pages are needed on the machine"):
        make_plan(kernel)


def test_whole_card_that_is_up_needs_its_name(tmp_path: Path) -> None:
    """A program may listen on an interface without an address."""
    kernel = make_machine("cloud", tmp_path)
    write(tmp_path / "sys/class/net/ens6/flags", "0x1103")  # up, promiscuous
    with pytest.raises(MistakeError, match="the cards have only 1 ports"):
        make_plan(kernel)
    write(tmp_path / "sys/class/net/ens7/flags", "0x1003")
    result = make_plan(kernel)
    assert not result.plan.cards and any("no card is free" in note for note in result.notes)
    assert result.cards["0000:00:06.0"] == (
        "its interface ens6 is up, and a program may use it: `--cards 0000:00:06.0` "
        "selects it anyway"
    )
    named = make_plan(kernel, "--cards", "00:06.0,00:07.0").plan
    assert [(card.address, card.bind, card.named) for card in named.cards] == [
        ("0000:00:06.0", True, True),
        ("0000:00:07.0", True, True),
    ]
    for name in ("ens6", "ens7"):
        write(tmp_path / f"sys/class/net/{name}/flags", "0x1002")
    assert len(make_plan(kernel).plan.cards) == 2
    assert not any(card.named for card in make_plan(kernel).plan.cards)


def test_card_that_came_up_after_the_plan_is_not_bound(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    planned = make_plan(kernel, "--no-iommu").plan
    named = make_plan(kernel, "--no-iommu", "--cards", "00:06.0,00:07.0").plan
    write(tmp_path / "sys/class/net/ens6/flags", "0x1003")
    with pytest.raises(MistakeError, match=r"card 0000:00:06\.0 must not be changed: .*ens6 is up"):
        apply(kernel, planned)
    assert apply(kernel, named) > 0


def test_check_reports_card_that_is_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_machine("cloud", tmp_path)
    write(tmp_path / "sys/class/net/ens6/flags", "0x1003")
    cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    facts = {row["fact"]: row for row in json.loads(capsys.readouterr().out)["facts"]}
    assert "; not planned: " in facts["card 0000:00:06.0"]["found"]
    assert facts["card 0000:00:07.0"]["found"].endswith("; free")


def test_card_with_functions_may_be_up(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    for name in ("ens0f0", "ens0f1"):
        write(tmp_path / f"sys/class/net/{name}/flags", "0x1003")
    assert [card.address for card in make_plan(kernel).plan.cards] == [
        "0000:3b:00.0",
        "0000:3b:00.1",
    ]


def test_udev_rules_cover_only_planned_devices(tmp_path: Path) -> None:
    for name, addresses in (
        ("server", ["0000:3b:02.0", "0000:3b:02.1"]),
        ("cloud", ["0000:00:06.0", "0000:00:07.0"]),
    ):
        text = texts.plan_files(make_plan(make_machine(name, tmp_path / name)).plan)[texts.RULES]
        rules = [line for line in text.splitlines() if "GROUP=" in line]
        assert len(rules) == 4
        for line, (address, names, group) in zip(
            rules,
            [(a, *n) for a in addresses for n in (("[0-9]*", "%k"), ("noiommu-*", "%n"))],
            strict=True,
        ):
            assert f'SUBSYSTEM=="vfio", KERNEL=="{names}", ' in line
            assert f'TEST=="/sys/kernel/iommu_groups/{group}/devices/{address}", ' in line
            assert line.endswith('GROUP="vcmts", MODE="0660"')
    assert not (CHECKOUT / "deploy/udev/70-vcmts-vfio.rules").exists()
