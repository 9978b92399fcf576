# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `vcmts host apply` and `undo` refuse: plans for other machines, failed changes, and
concurrent runs. Each error is one line, and undo restores all files."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.prepare import journal as host_journal
from host.prepare.system import Done, StepError
from python.host.host_kernel import Kernel, system, tree
from python.host.host_steps import apply, make_machine, make_plan, set_up, undo
from python.layout_machines import write
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"


PAGES = "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"
SIBLINGS = "sys/devices/system/cpu/cpu3/topology/thread_siblings_list"
CARD_FOLDER = f"sys/bus/pci/devices/{CARD}"


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("usr/sbin/update-grub", None, "boot loader none, planned for grub"),
        (SIBLINGS, "3", "siblings differ"),
        (CARD_FOLDER, None, f"card {CARD} does not exist"),
        (f"{CARD_FOLDER}/device", "0x1593", f"card {CARD} is another model"),
        (
            "sys/class/net/ens0f0/address",
            "52:54:00:99:99:99",
            f"card {CARD} has MAC address 52:54:00:99:99:99",
        ),
        (f"{CARD_FOLDER}/sriov_totalvfs", "0", f"card {CARD} supports 0 functions, planned 1"),
        (f"{CARD_FOLDER}/numa_node", "1", f"card {CARD} is on NUMA node 1, planned 0"),
        (PAGES, None, "nr_hugepages does not exist"),
    ],
)
def test_changed_host_is_refused(file: str, text: str | None, error: str, tmp_path: Path) -> None:
    """A file has another text, or is missing."""
    kernel, plan = set_up(tmp_path / "machine")
    if text is None:
        (kernel.root / file).rename(tmp_path / "elsewhere")
    else:
        write(kernel.root / file, text)
    before = tree(tmp_path)
    with pytest.raises(MistakeError, match=error):
        apply(kernel, plan)
    assert tree(tmp_path) == before


def refuse_functions(kernel: Kernel) -> None:
    kernel.refused = {CARD}


def ignore_mac(kernel: Kernel) -> None:
    kernel.ignores_mac = True


def limit_pages(kernel: Kernel) -> None:
    kernel.pages = 100


def fail_grub(kernel: Kernel) -> None:
    shutil.rmtree(kernel.root / "boot")
    kernel.grub_result = Done(1, "looking\ncannot find a device for /\n")


@pytest.mark.parametrize(
    ("breaks", "error"),
    [
        (
            refuse_functions,
            f"card {CARD}: its driver refuses 1 functions .Invalid argument.: is SR-IOV enabled",
        ),
        (ignore_mac, f"function {CARD}/0: its driver did not apply mac"),
        (limit_pages, "huge pages.*the kernel set 100: memory is fragmented"),
        (fail_grub, "`update-grub`: cannot find a device for /"),
    ],
)
def test_failed_change_is_undone(
    breaks: Callable[[Kernel], None], error: str, tmp_path: Path
) -> None:
    """Apply stops with one line. The journal has the steps until then."""
    kernel, plan = set_up(tmp_path)
    breaks(kernel)
    before = tree(tmp_path)
    with pytest.raises(StepError, match=error) as raised:
        apply(kernel, plan)
    assert "\n" not in str(raised.value) and tree(tmp_path) != before
    if breaks is fail_grub:
        kernel.grub_result = None
    assert undo(kernel)[0] == 0
    if breaks is fail_grub:
        shutil.rmtree(tmp_path / "boot")
    assert tree(tmp_path) == before


def test_binding_without_iommu_is_pending(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    plan = make_plan(kernel).plan
    apply(kernel, plan)
    driver = tmp_path / "sys/bus/pci/devices/0000:00:06.0/driver"
    assert driver.readlink().name == "ena"
    kernel.iommu = True
    kernel.set_iommu_group("0000:00:06.0", "1")
    kernel.set_iommu_group("0000:00:07.0", "2")
    assert apply(kernel, plan) == 3 and driver.readlink().name == "vfio-pci"


def test_second_plan_is_refused(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    other = make_plan(kernel, "--groups", "3").plan
    apply(kernel, plan)
    after = tree(tmp_path)
    with pytest.raises(MistakeError, match="another plan is applied: run"):
        apply(kernel, other)
    assert tree(tmp_path) == after
    undo(kernel)
    assert apply(kernel, other) > 0


def test_concurrent_run_is_refused(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    with (
        host_journal.open_journal(system(kernel), plan.digest()),
        pytest.raises(MistakeError, match="another `vcmts host` is running"),
    ):
        apply(kernel, plan)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_missing_write_permission_is_an_error(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    (tmp_path / "var/lib").chmod(0o500)
    with pytest.raises(PermissionError):
        apply(kernel, plan)
