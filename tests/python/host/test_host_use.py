# SPDX-License-Identifier: BSD-3-Clause
"""Tests virtual functions that others made, and functions in use by a process."""

import shutil
from pathlib import Path

import pytest

from host.prepare import texts
from host.prepare.system import StepError
from python.host.host_kernel import Kernel, Nic, relink, tree
from python.host.host_machines import base
from python.host.host_steps import apply, make_machine, make_plan, set_up, undo
from python.layout_machines import HostSpec, write
from vcmts.paths import MistakeError

CARD = "0000:05:00.0"  # of the machine `single`


def open_files(kernel: Kernel, process: int, *files: str) -> None:
    write(kernel.root / f"proc/{process}/comm", "testpmd")
    for n, file in enumerate(files):
        relink(kernel.root / f"proc/{process}/fd/{n}", file)


def group_of(kernel: Kernel, address: str) -> str:
    return (kernel.device(address) / "iommu_group").readlink().name


def machine_with_functions(tmp_path: Path) -> tuple[Kernel, list[str]]:
    """Makes six functions, each with a MAC address and VLAN, two of them bound to vfio-pci."""
    kernel = make_machine("single", tmp_path)
    kernel.make_functions(CARD, 6)
    addresses = [(kernel.device(CARD) / f"virtfn{n}").readlink().name for n in range(6)]
    for n, link in enumerate(kernel.links[CARD]):
        link |= {"address": f"02:00:00:00:00:0{n}", "vlan_list": [{"vlan": 100 + n}]}
    for address in addresses[:2]:
        write(kernel.device(address) / "driver_override", "vfio-pci")
        kernel.rebind(address, "vfio-pci")
    return kernel, addresses


def test_existing_functions_are_used_and_restored(tmp_path: Path) -> None:
    kernel, addresses = machine_with_functions(tmp_path)
    links = [dict(link) for link in kernel.links[CARD]]
    before = tree(tmp_path)
    result = make_plan(kernel, "--groups", "1", "--network-vlan", "7")
    (card,) = result.plan.cards
    assert card.made == 6 and card.addresses == tuple(addresses)
    assert [one.index for one in card.functions] == [0, 1]
    assert any("6 functions of another program" in note for note in result.notes)
    apply(kernel, result.plan)
    assert kernel.links[CARD][0]["vlan_list"] == [{"vlan": 7}]
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
    assert kernel.links[CARD] == links


def test_card_with_existing_functions_is_not_changed(tmp_path: Path) -> None:
    """Its interface, its number of functions and their other drivers, also at each start."""
    kernel, addresses = machine_with_functions(tmp_path)
    kernel.add_interface(Nic(addresses[0], "vf0", "ixgbevf", up=True))
    before = tree(tmp_path)
    result = make_plan(kernel, "--groups", "1")
    (card,) = result.plan.cards
    assert card.others and [one.index for one in card.functions] == [1, 2]
    lines = [line for line in texts.script(result.plan).splitlines() if CARD in line]
    words = [line.split()[0] for line in lines]
    assert words == ["if", *["function_settings"] * 2, *["bind"] * 2, "fail"]
    assert f'KERNELS=="{CARD}"' not in texts.rules(result.plan)
    assert any("must create the functions" in note for note in result.notes)
    apply(kernel, result.plan)
    after = tree(tmp_path)
    pci, net = f"sys/bus/pci/devices/{CARD}", "sys/class/net/enp5s0"
    same = [name for name in before if name.startswith((f"{pci}/", net)) or addresses[0] in name]
    same.append("proc/sys/net/ipv6/conf/enp5s0/disable_ipv6")
    assert [after[name] for name in same] == [before[name] for name in same]
    assert apply(kernel, result.plan) == 0
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
    kernel.make_functions(CARD, 0)
    with pytest.raises(MistakeError, match=r"has 0 virtual functions.* planned 6 existing"):
        apply(kernel, result.plan)


def test_functions_made_after_the_plan_are_refused(tmp_path: Path) -> None:
    """Even if their number is the planned one."""
    kernel, plan = set_up(tmp_path, "single")
    kernel.make_functions(CARD, 2)
    before = tree(tmp_path)
    with pytest.raises(MistakeError, match="has 2 virtual functions, planned 2 new"):
        apply(kernel, plan)
    assert tree(tmp_path) == before


def test_functions_in_use_are_not_planned(tmp_path: Path) -> None:
    kernel, addresses = machine_with_functions(tmp_path)
    open_files(kernel, 4711, "/dev/null", f"/dev/vfio/{group_of(kernel, addresses[0])}")
    write(kernel.device(addresses[1]) / "vfio-dev/vfio3/dev", "1:1")
    open_files(kernel, 4712, "/dev/vfio/devices/vfio3")
    kernel.add_interface(Nic(addresses[2], "vf2", "ixgbevf", up=True))
    (card,) = make_plan(kernel, "--groups", "1").plan.cards
    assert [one.index for one in card.functions] == [3, 4]
    with pytest.raises(MistakeError, match="the cards have only 3 ports"):
        make_plan(kernel, "--groups", "2", "--ports", "own")


def test_card_with_all_functions_in_use_is_refused(tmp_path: Path) -> None:
    kernel, addresses = machine_with_functions(tmp_path)
    for address in addresses:
        kernel.attach(address, "vfio-pci")
    open_files(kernel, 4711, *(f"/dev/vfio/{group_of(kernel, address)}" for address in addresses))
    assert make_plan(kernel, "--groups", "1").plan.cards == ()
    with pytest.raises(MistakeError, match=f"--cards {CARD}: all its functions are in use"):
        make_plan(kernel, "--cards", CARD)


def test_whole_card_in_use_is_not_planned(tmp_path: Path) -> None:
    """A card bound by others is not free. A card bound by us may be in use by the data plane."""
    kernel = make_machine("cloud", tmp_path)
    kernel.iommu = True
    third = Nic("0000:00:08.0", "ens8", "ena", ("1d0f", "ec20"))
    kernel.nics.append(third)
    kernel.plug(third)
    first, second = "0000:00:06.0", "0000:00:07.0"
    kernel.set_iommu_group(first, "11")
    kernel.set_iommu_group(second, "12")
    kernel.rebind(first, "vfio-pci")
    open_files(kernel, 4711, "/dev/vfio/11")
    result = make_plan(kernel)
    assert [card.address for card in result.plan.cards] == [second, third.address]
    assert result.cards[first] == "in use by testpmd 4711"
    with pytest.raises(
        MistakeError, match=f"{first}: it must not be changed: in use by testpmd 4711"
    ):
        make_plan(kernel, "--cards", f"{first},{second}")
    (tmp_path / "proc/4711/fd/0").unlink()
    kernel.rebind(first, "ena")
    plan = make_plan(kernel).plan
    assert [card.address for card in plan.cards] == [first, second]
    apply(kernel, plan)
    open_files(kernel, 4711, "/dev/vfio/11", "/dev/vfio/12")
    assert [card.address for card in make_plan(kernel).plan.cards] == [first, second]


def test_functions_used_after_the_plan_are_refused(tmp_path: Path) -> None:
    """Apply refuses, changes nothing of the card, and undo undoes the other steps."""
    kernel, addresses = machine_with_functions(tmp_path)
    links = [dict(link) for link in kernel.links[CARD]]
    plan = make_plan(kernel, "--groups", "1").plan
    before = tree(tmp_path)
    open_files(kernel, 4711, f"/dev/vfio/{group_of(kernel, addresses[0])}")
    busy = tree(tmp_path)
    with pytest.raises(StepError, match=rf"{addresses[0]} is in use by testpmd 4711; stop it"):
        apply(kernel, plan)
    assert kernel.links[CARD] == links
    assert undo(kernel)[0] == 0 and tree(tmp_path) == busy
    shutil.rmtree(tmp_path / "proc/4711")
    assert tree(tmp_path) == before
    kernel.add_interface(Nic(addresses[0], "vf0", "ixgbevf", up=True))
    with pytest.raises(StepError, match=f"{addresses[0]}: its interface vf0 is up: exclude its"):
        apply(kernel, plan)
    assert kernel.links[CARD] == links


def test_own_functions_in_use_stay_planned(tmp_path: Path) -> None:
    """Their user is the data plane."""
    kernel, plan = set_up(tmp_path, "single")
    apply(kernel, plan)
    open_files(kernel, 9, *(f"/dev/vfio/{group_of(kernel, a)}" for a in plan.cards[0].addresses))
    result = make_plan(kernel, "--groups", "1")
    assert result.plan == plan
    assert not any("of another program" in note for note in result.notes)
    with pytest.raises(StepError, match="is in use by testpmd 9"):
        undo(kernel)


def test_functions_with_kernel_driver(tmp_path: Path) -> None:
    """A process with open verbs uses them. Network managers do not get their interfaces."""
    base(tmp_path, HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), max_vfs=8)
    kernel = Kernel(tmp_path, [nic])
    plan = make_plan(kernel).plan
    rules = texts.plan_files(plan)[texts.RULES].splitlines()
    (card,) = plan.cards
    assert len(card.addresses) == 2
    for address in (card.address, *card.addresses):
        (rule,) = (line for line in rules if f'KERNELS=="{address}"' in line)
        assert 'SUBSYSTEM=="net"' in rule and 'ENV{NM_UNMANAGED}="1"' in rule
    assert not any("driver_override" in line for line in rules)
    before = tree(tmp_path)
    apply(kernel, plan)
    write(kernel.device(card.addresses[1]) / "infiniband_verbs/uverbs2/dev", "1:1")
    open_files(kernel, 9, "/dev/infiniband/uverbs2")
    after = tree(tmp_path)
    with pytest.raises(StepError, match=f"{card.addresses[1]} is in use by testpmd 9"):
        undo(kernel)
    assert tree(tmp_path) == after
    (tmp_path / "proc/9/fd/0").unlink()
    assert undo(kernel)[0] == 0
    result = tree(tmp_path)
    assert {k: v for k, v in result.items() if not k.startswith("proc/9")} == before
