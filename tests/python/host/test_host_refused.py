# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts host apply` and `undo` refuse: other machines, cards that say no, plans and journals
that mean ill. Each is one line, and nothing is half done without the journal telling of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.prepare import journal as host_journal
from host.prepare.plan import Plan
from host.prepare.system import Done, StepError
from python.host.host_kernel import Kernel, system, tree
from python.host.host_steps import apply, decided, machine, prepared, undo
from python.layout_machines import put
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"


def no_loader(kernel: Kernel) -> None:
    (kernel.root / "usr/sbin/update-grub").unlink()


def other_siblings(kernel: Kernel) -> None:
    put(kernel.root / "sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3")


def no_card(kernel: Kernel) -> None:
    shutil.rmtree(kernel.device(CARD))


def other_model(kernel: Kernel) -> None:
    put(kernel.device(CARD) / "device", "0x1593")


def other_mac(kernel: Kernel) -> None:
    put(kernel.root / "sys/class/net/ens0f0/address", "52:54:00:99:99:99")


def no_functions(kernel: Kernel) -> None:
    put(kernel.device(CARD) / "sriov_totalvfs", "0")


def others_functions(kernel: Kernel) -> None:
    kernel.functions(CARD, 3)


def other_node(kernel: Kernel) -> None:
    put(kernel.device(CARD) / "numa_node", "1")


def no_pages(kernel: Kernel) -> None:
    pool = kernel.root / "sys/devices/system/node/node0/hugepages/hugepages-2048kB"
    (pool / "nr_hugepages").unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (no_loader, "boot loader none, planned for grub"),
        (other_siblings, "siblings are others"),
        (no_card, f"card {CARD} is not there"),
        (other_model, f"card {CARD} is another model"),
        (other_mac, f"card {CARD} has MAC address 52:54:00:99:99:99"),
        (no_functions, f"card {CARD} makes 0 functions, planned 1"),
        (others_functions, f"card {CARD} has 3 functions that somebody made"),
        (other_node, f"card {CARD} is on NUMA node 1, planned 0"),
        (no_pages, "nr_hugepages is not there"),
    ],
)
def test_facts_that_differ(change: Callable[[Kernel], None], said: str, tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    change(kernel)
    before = tree(tmp_path)
    with pytest.raises(MistakeError, match=said):
        apply(kernel, plan)
    assert tree(tmp_path) == before


def refused(kernel: Kernel, plan: Plan) -> None:
    kernel.refused = {CARD}


def deaf(kernel: Kernel, plan: Plan) -> None:
    kernel.deaf = True


def few_pages(kernel: Kernel, plan: Plan) -> None:
    kernel.pages = 100


def grub_fails(kernel: Kernel, plan: Plan) -> None:
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
    trouble: Callable[[Kernel, Plan], None], said: str, tmp_path: Path
) -> None:
    """It stops there with one line; what was done until then is in the journal, and is undone."""
    kernel, plan = prepared(tmp_path)
    trouble(kernel, plan)
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
