# SPDX-License-Identifier: BSD-3-Clause
"""Tests apply and undo of plans on a simulated kernel: undo restores all files, also after power
failures. A change is one write of a file or kernel setting, or one command."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from host.prepare import apply as host_apply
from host.prepare import journal as host_journal
from host.prepare import plan as host_plan
from host.prepare import texts
from host.prepare.plan import Plan
from host.prepare.system import StepError
from python.host.host_kernel import Crash, Kernel, Nic, Tree, system, tree
from python.host.host_machines import MACHINES
from python.host.host_steps import apply, ignore, make_machine, make_plan, set_up, undo
from python.layout_machines import write
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"  # nics[1] of machine "server", its first card that may be changed


@pytest.mark.parametrize("name", MACHINES)
def test_undo_restores_all_files(name: str, tmp_path: Path) -> None:
    """A dry run and a second apply change nothing, and the login card is never changed."""
    kernel, plan = set_up(tmp_path, name)
    before = tree(tmp_path)
    assert host_apply.dry_run(system(kernel), plan, ignore) > 0 and tree(tmp_path) == before
    assert apply(kernel, plan) > 4
    after = tree(tmp_path)
    assert apply(kernel, plan) == 0 and tree(tmp_path) == after
    assert host_apply.dry_run(system(kernel), plan, ignore) == 0
    login = [path for path in before if f"/{kernel.nics[0].address}" in path]
    assert [after[path] for path in login] == [before[path] for path in login]
    for name, text in texts.plan_files(plan).items():
        assert (tmp_path / name).read_text() == text
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
    assert undo(kernel) == (0, ["no plan is applied"]) and tree(tmp_path) == before


def test_apply_creates_virtual_functions_and_kernel_arguments(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    apply(kernel, plan)
    pci = tmp_path / "sys/bus/pci/devices"
    for card in plan.cards:
        assert kernel.text(pci / card.address / "sriov_numvfs") == "1"
        function = pci / card.addresses[0]
        assert (function / "driver").readlink().name == "vfio-pci"
        function_link = kernel.links[card.address][0]
        assert function_link["address"] == card.functions[0].mac
        assert function_link["spoofchk"] is card.functions[0].check
    assert kernel.links[CARD][0]["vlan_list"] == [{"vlan": 10}]
    net = tmp_path / "sys/class/net/ens0f0"
    assert (kernel.text(net / "flags"), kernel.text(net / "mtu")) == ("0x1003", "2000")
    assert "isolcpus=" in (tmp_path / "boot/grub.cfg").read_text()


def apply_crashes(kernel: Kernel, plan: Plan, crash_at: int, complete: bool) -> bool:
    """Applies the plan. The power fails at change `crash_at`, from 1, if there are so many.
    `complete`: that change is made, else in part or not. Returns whether the power failed."""
    try:
        host_apply.apply(system(kernel, crash_at, complete), plan, ignore)
    except Crash:
        return True
    return False


def undo_crashes(kernel: Kernel, crash_at: int, complete: bool) -> bool:
    try:
        host_apply.undo(system(kernel, crash_at, complete), ignore)
    except Crash:
        return True
    return False


def without_journal(files_: Tree) -> Tree:
    return {name: what for name, what in files_.items() if name != host_journal.PATH}


@pytest.mark.parametrize(("complete", "first_crash"), [(True, 1), (False, 2)])
def test_undo_after_crash_at_each_change(complete: bool, first_crash: int, tmp_path: Path) -> None:
    """Apply crashes at each change: odd ones are complete then, even ones partial or not made. Undo
    restores all files, each third time after apply has completed the plan."""
    kernel, plan = set_up(tmp_path, "small")
    before = tree(tmp_path)
    apply(kernel, plan)
    after = without_journal(tree(tmp_path))
    undo(kernel)
    crash_at = first_crash
    while apply_crashes(kernel, plan, crash_at, complete):
        if crash_at % 6 < 2:
            apply(kernel, plan)
            assert without_journal(tree(tmp_path)) == after, crash_at
        left, messages = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, (crash_at, messages)
        crash_at += 2
    assert crash_at > 40 and undo(kernel)[0] == 0 and tree(tmp_path) == before


@pytest.mark.parametrize(("complete", "first_crash"), [(True, 1), (False, 3)])
def test_undo_after_crash_of_undo(complete: bool, first_crash: int, tmp_path: Path) -> None:
    """Undo crashes at each odd change, by turns complete and not. A second undo completes it."""
    kernel, plan = set_up(tmp_path, "small")
    before = tree(tmp_path)
    apply(kernel, plan)
    crash_at = first_crash
    while undo_crashes(kernel, crash_at, complete):
        left, messages = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, (crash_at, messages)
        apply(kernel, plan)
        crash_at += 4
    assert crash_at > 40 and tree(tmp_path) == before


@settings(max_examples=12)
@given(
    name=st.sampled_from(["small", "single", "cloud"]),
    groups=st.integers(1, 4),
    own=st.booleans(),
    pages=st.sampled_from(["2M", "1G"]),
    # apply or undo, number of the change that crashes, whether it is complete
    crashes=st.lists(st.tuples(st.booleans(), st.integers(1, 70), st.booleans()), max_size=3),
)
def test_undo_after_random_crashes(
    name: str, groups: int, own: bool, pages: str, crashes: list[tuple[bool, int, bool]]
) -> None:
    """Random plans, applied and undone up to three times with crashes; then undo restores all."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        kernel = make_machine(name, root)
        arguments = ["--groups", str(groups), "--ports", "own" if own else "shared", "--no-iommu"]
        try:
            plan = make_plan(kernel, *arguments, "--page-size", pages).plan
        except MistakeError as error:
            assert "the cards have only" in str(error)
            reject()
        before = tree(root)
        for applying, crash_at, complete in crashes:
            if applying:
                apply_crashes(kernel, plan, crash_at, complete)
            else:
                undo_crashes(kernel, crash_at, complete)
        left, messages = undo(kernel)
        assert left == 0 and tree(root) == before, messages


def test_apply_and_undo_after_restart(tmp_path: Path) -> None:
    """A restart loses kernel settings and keeps files. Undo after it removes the files, apply
    after it sets the settings again."""
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    after = tree(tmp_path)
    for card in plan.cards:
        for address in card.addresses:
            kernel.detach(address)
        kernel.make_functions(card.address, 0)
        write(tmp_path / f"sys/bus/pci/devices/{card.address}/sriov_drivers_autoprobe", "1")
        kernel.set_link(kernel.nic(card.address).name, ("down",))  # type: ignore[union-attr]
    shutil.rmtree(tmp_path / "sys/bus/pci/drivers/vfio-pci")
    shutil.rmtree(tmp_path / "sys/module/vfio")
    write(tmp_path / plan.pages[0].file, "0")
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
    shutil.rmtree(tmp_path)
    kernel, plan = set_up(tmp_path)
    apply(kernel, plan)
    for card in plan.cards:
        kernel.detach(card.addresses[0])
        kernel.make_functions(card.address, 0)
    assert apply(kernel, plan) > 0
    # New functions have other IOMMU groups, and the journal has more records.
    assert {k: v for k, v in tree(tmp_path).items() if "iommu" not in k and "journal" not in k} == {
        k: v for k, v in after.items() if "iommu" not in k and "journal" not in k
    }
    assert undo(kernel)[0] == 0


def test_undo_keeps_changes_of_others(tmp_path: Path) -> None:
    """Undo leaves what another program changed, until --forget. Apply refuses such a change."""
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    (tmp_path / texts.RULES).write_text("# mine now\n")
    write(tmp_path / plan.pages[0].file, "4000")
    left, messages = undo(kernel)
    assert left == 2
    assert [line for line in messages if line.startswith("left: ")] == [
        f"left: {plan.pages[0].count} huge pages, /{plan.pages[0].file}: another program changed "
        "it meanwhile (found 4000)",
        f"left: file /{texts.RULES}: another program changed it meanwhile",
    ]
    assert (tmp_path / texts.RULES).read_text() == "# mine now\n"
    assert kernel.text(tmp_path / plan.pages[0].file) == "4000"
    with pytest.raises(StepError, match=r"huge pages|file .*another program changed it"):
        apply(kernel, plan)
    (tmp_path / texts.RULES).unlink()  # as before apply, so nothing is left to undo
    assert undo(kernel)[0] == 1
    assert undo(kernel, forget=True)[0] == 0
    write(tmp_path / plan.pages[0].file, "0")
    now = tree(tmp_path)
    assert {k: v for k, v in now.items() if "udev" not in k} == {
        k: v for k, v in before.items() if "udev" not in k
    }


def test_undo_restores_existing_files(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    write(tmp_path / host_plan.GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=mine")
    (tmp_path / host_plan.GRUB).chmod(0o600)
    (tmp_path / texts.WANTED).parent.mkdir(parents=True)
    (tmp_path / texts.WANTED).symlink_to("/dev/null")
    kernel.start(("update-grub",))
    before = tree(tmp_path)
    apply(kernel, plan)
    assert tree(tmp_path) != before
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_functions_in_use_are_not_removed(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    address = plan.cards[0].addresses[0]  # undo would change others before it
    group = (tmp_path / f"sys/bus/pci/devices/{address}/iommu_group").readlink().name
    write(tmp_path / "proc/4711/comm", "vcmtsd")
    (tmp_path / "proc/4711/fd").mkdir()
    (tmp_path / "proc/4711/fd/9").symlink_to(f"/dev/vfio/{group}")
    after = tree(tmp_path)
    with pytest.raises(StepError, match=rf"{address} is in use by vcmtsd 4711; stop it first"):
        undo(kernel)
    assert tree(tmp_path) == after
    shutil.rmtree(tmp_path / "proc/4711")
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_card_that_got_an_address_is_not_changed(tmp_path: Path) -> None:
    """The operator may have logged in over it: undo leaves the card and its functions."""
    kernel, plan = set_up(tmp_path)
    apply(kernel, plan)
    kernel.nics[1] = Nic(**{**vars(kernel.nics[1]), "addresses": ("10.3.3.3",)})
    with pytest.raises(MistakeError, match=f"card {CARD} must not be changed: ens0f0"):
        apply(kernel, plan)
    left, messages = undo(kernel)
    assert left > 0 and any(
        f"{CARD}: 1 functions: its card must not be changed now" in line for line in messages
    )
    assert kernel.text(tmp_path / f"sys/bus/pci/devices/{CARD}/sriov_numvfs") == "1"
    assert kernel.text(tmp_path / "sys/class/net/ens0f0/flags") == "0x1003"
