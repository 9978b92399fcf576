# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts host apply` and `undo` refuse: other machines, cards that say no, plans and journals
that mean ill. Each is one line, and nothing is half done without the journal telling of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.prepare import journal as host_journal
from host.prepare.system import Done, StepError
from python.host.host_kernel import Kernel, system, tree
from python.host.host_steps import apply, decided, machine, prepared, undo
from python.layout_machines import write
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"


PAGES = "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"
SIBLINGS = "sys/devices/system/cpu/cpu3/topology/thread_siblings_list"
OF_CARD = f"sys/bus/pci/devices/{CARD}"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("usr/sbin/update-grub", None, "boot loader none, planned for grub"),
        (SIBLINGS, "3", "siblings are others"),
        (OF_CARD, None, f"card {CARD} is not there"),
        (f"{OF_CARD}/device", "0x1593", f"card {CARD} is another model"),
        (
            "sys/class/net/ens0f0/address",
            "52:54:00:99:99:99",
            f"card {CARD} has MAC address 52:54:00:99:99:99",
        ),
        (f"{OF_CARD}/sriov_totalvfs", "0", f"card {CARD} makes 0 functions, planned 1"),
        (f"{OF_CARD}/numa_node", "1", f"card {CARD} is on NUMA node 1, planned 0"),
        (PAGES, None, "nr_hugepages is not there"),
    ],
)
def test_facts_that_differ(file: str, text: str | None, said: str, tmp_path: Path) -> None:
    """Another text in a file, or none."""
    kernel, plan = prepared(tmp_path / "machine")
    if text is None:
        (kernel.root / file).rename(tmp_path / "elsewhere")
    else:
        write(kernel.root / file, text)
    before = tree(tmp_path)
    with pytest.raises(MistakeError, match=said):
        apply(kernel, plan)
    assert tree(tmp_path) == before


def refused(kernel: Kernel) -> None:
    kernel.refused = {CARD}


def deaf(kernel: Kernel) -> None:
    kernel.deaf = True


def few_pages(kernel: Kernel) -> None:
    kernel.pages = 100


def grub_fails(kernel: Kernel) -> None:
    shutil.rmtree(kernel.root / "boot")
    kernel.failing = Done(1, "looking\ncannot find a device for /\n")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (refused, f"card {CARD}: its driver refuses 1 functions .Invalid argument.: is SR-IOV on"),
        (deaf, f"function {CARD}/0: its driver did not take mac"),
        (few_pages, "huge pages.*the kernel took 100: memory is in pieces"),
        (grub_fails, "`update-grub`: cannot find a device for /"),
    ],
)
def test_what_a_machine_refuses(
    trouble: Callable[[Kernel], None], said: str, tmp_path: Path
) -> None:
    """It stops there with one line; what was done until then is in the journal, and is undone."""
    kernel, plan = prepared(tmp_path)
    trouble(kernel)
    before = tree(tmp_path)
    with pytest.raises(StepError, match=said) as error:
        apply(kernel, plan)
    assert "\n" not in str(error.value) and tree(tmp_path) != before
    if trouble is grub_fails:
        kernel.failing = None
    assert undo(kernel)[0] == 0
    if trouble is grub_fails:
        shutil.rmtree(tmp_path / "boot")
    assert tree(tmp_path) == before


def test_without_an_iommu_binding_waits_for_the_restart(tmp_path: Path) -> None:
    kernel = machine("cloud", tmp_path)
    plan = decided(kernel).plan
    apply(kernel, plan)
    driver = tmp_path / "sys/bus/pci/devices/0000:00:06.0/driver"
    assert driver.readlink().name == "ena"
    kernel.iommu = True
    kernel.join("0000:00:06.0", "1")
    kernel.join("0000:00:07.0", "2")
    assert apply(kernel, plan) == 3 and driver.readlink().name == "vfio-pci"


def test_another_plan_has_to_wait(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    other = decided(kernel, "--groups", "3").plan
    apply(kernel, plan)
    after = tree(tmp_path)
    with pytest.raises(MistakeError, match="another plan is applied here"):
        apply(kernel, other)
    assert tree(tmp_path) == after
    undo(kernel)
    assert apply(kernel, other) > 0


def test_one_at_a_time(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    with (
        host_journal.opened(system(kernel), plan.digest()),
        pytest.raises(MistakeError, match="another `vcmts host` is at work"),
    ):
        apply(kernel, plan)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_who_may_not_write(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    (tmp_path / "var/lib").chmod(0o500)
    with pytest.raises(PermissionError):
        apply(kernel, plan)
