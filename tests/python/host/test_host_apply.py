# SPDX-License-Identifier: BSD-3-Clause
"""Plans carried out and taken back, also when the machine stops in the middle of it."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.prepare import apply as host_apply
from host.prepare import journal as host_journal
from host.prepare import plan as host_plan
from host.prepare import texts
from host.prepare.plan import Plan
from host.prepare.system import StepError
from python.host.host_kernel import Crash, Kernel, Nic, Tree, system, tree
from python.host.host_machines import MACHINES
from python.host.host_steps import apply, decided, machine, prepared, quiet, undo
from python.layout_machines import write
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"


@pytest.mark.parametrize("name", MACHINES)
def test_apply_and_undo(name: str, tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path, name)
    before = tree(tmp_path)
    assert host_apply.rehearse(system(kernel), plan, quiet) > 0 and tree(tmp_path) == before
    assert apply(kernel, plan) > 4
    after = tree(tmp_path)
    assert apply(kernel, plan) == 0 and tree(tmp_path) == after
    assert host_apply.rehearse(system(kernel), plan, quiet) == 0
    login = [path for path in before if f"/{kernel.nics[0].address}" in path]
    assert [after[path] for path in login] == [before[path] for path in login]
    for name, text in texts.files_of(plan).items():
        assert (tmp_path / name).read_text() == text
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
    assert undo(kernel) == (0, ["nothing is applied here"]) and tree(tmp_path) == before


def test_what_is_made(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    apply(kernel, plan)
    pci = tmp_path / "sys/bus/pci/devices"
    for card in plan.cards:
        assert kernel.text(pci / card.address / "sriov_numvfs") == "1"
        function = pci / card.addresses[0]
        assert (function / "driver").readlink().name == "vfio-pci"
        told = kernel.links[card.address][0]
        assert told["address"] == card.functions[0].mac
        assert told["spoofchk"] is card.functions[0].check
    assert kernel.links[CARD][0]["vlan_list"] == [{"vlan": 10}]
    net = tmp_path / "sys/class/net/ens0f0"
    assert (kernel.text(net / "flags"), kernel.text(net / "mtu")) == ("0x1003", "2000")
    assert "isolcpus=" in (tmp_path / "boot/grub.cfg").read_text()


def crashed(kernel: Kernel, plan: Plan, last: int, whole: bool) -> bool:
    """Whether the power went while the plan was applied."""
    try:
        host_apply.apply(system(kernel, last, whole), plan, quiet)
    except Crash:
        return True
    return False


def crashed_undo(kernel: Kernel, last: int, whole: bool) -> bool:
    try:
        host_apply.undo(system(kernel, last, whole), quiet)
    except Crash:
        return True
    return False


def without_journal(found: Tree) -> Tree:
    return {name: what for name, what in found.items() if name != host_journal.PLACE}


@pytest.mark.parametrize(("whole", "last"), [(True, 1), (False, 2)])
def test_a_crash_at_each_change(whole: bool, last: int, tmp_path: Path) -> None:
    """Undone from there, or finished and undone, it is what it was. Every second change is made
    before the crash, the others in part or not at all."""
    kernel, plan = prepared(tmp_path, "small")
    before = tree(tmp_path)
    apply(kernel, plan)
    after = without_journal(tree(tmp_path))
    undo(kernel)
    while crashed(kernel, plan, last, whole):
        if last % 6 < 2:
            apply(kernel, plan)
            assert without_journal(tree(tmp_path)) == after, last
        left, said = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, (last, said)
        last += 2
    assert last > 40 and undo(kernel)[0] == 0 and tree(tmp_path) == before


@pytest.mark.parametrize(("whole", "last"), [(True, 1), (False, 3)])
def test_a_crash_at_each_change_of_an_undo(whole: bool, last: int, tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path, "small")
    before = tree(tmp_path)
    apply(kernel, plan)
    while crashed_undo(kernel, last, whole):
        left, said = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, (last, said)
        apply(kernel, plan)
        last += 4
    assert last > 40 and tree(tmp_path) == before


@settings(max_examples=12)
@given(
    name=st.sampled_from(["small", "single", "cloud"]),
    groups=st.integers(1, 4),
    own=st.booleans(),
    pages=st.sampled_from(["2M", "1G"]),
    points=st.lists(st.tuples(st.booleans(), st.integers(1, 70), st.booleans()), max_size=3),
)
def test_whatever_happens_undo_is_exact(
    name: str, groups: int, own: bool, pages: str, points: list[tuple[bool, int, bool]]
) -> None:
    """Applied and undone, with crashes here and there: the same tree."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        kernel = machine(name, root)
        words = ["--groups", str(groups), "--ports", "own" if own else "shared", "--no-iommu"]
        try:
            plan = decided(kernel, *words, "--page-size", pages).plan
        except MistakeError:
            return
        before = tree(root)
        for applying, last, whole in points:
            if applying:
                crashed(kernel, plan, last, whole)
            else:
                crashed_undo(kernel, last, whole)
        left, said = undo(kernel)
        assert left == 0 and tree(root) == before, said


def test_after_a_restart(tmp_path: Path) -> None:
    """Files are there, what the kernel had is gone: applied again it is as before, and undone."""
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    after = tree(tmp_path)
    for card in plan.cards:
        for address in card.addresses:
            kernel.detach(address)
        kernel.functions(card.address, 0)
        write(tmp_path / f"sys/bus/pci/devices/{card.address}/sriov_drivers_autoprobe", "1")
        kernel.set_link(kernel.nic(card.address).name, ("down",))  # type: ignore[union-attr]
    shutil.rmtree(tmp_path / "sys/bus/pci/drivers/vfio-pci")
    shutil.rmtree(tmp_path / "sys/module/vfio")
    write(tmp_path / plan.pages[0].file, "0")
    middle = tree(tmp_path)
    assert undo(kernel)[0] == 0 and tree(tmp_path) != middle
    expected = {
        name: what for name, what in before.items() if not name.endswith(("mtu", "disable_ipv6"))
    }
    assert expected.items() <= tree(tmp_path).items()
    shutil.rmtree(tmp_path)
    kernel, plan = prepared(tmp_path)
    apply(kernel, plan)
    for card in plan.cards:
        kernel.detach(card.addresses[0])
        kernel.functions(card.address, 0)
    assert apply(kernel, plan) > 0
    assert {k: v for k, v in tree(tmp_path).items() if "iommu" not in k and "journal" not in k} == {
        k: v for k, v in after.items() if "iommu" not in k and "journal" not in k
    }
    assert undo(kernel)[0] == 0


def test_what_others_changed_is_left(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    (tmp_path / texts.RULES).write_text("# mine now\n")
    write(tmp_path / plan.pages[0].file, "4000")
    left, said = undo(kernel)
    assert left == 2
    assert [line for line in said if line.startswith("left: ")] == [
        f"left: {plan.pages[0].count} huge pages, /{plan.pages[0].file}: somebody else changed it "
        "meanwhile (found 4000)",
        f"left: file /{texts.RULES}: somebody else changed it meanwhile",
    ]
    assert (tmp_path / texts.RULES).read_text() == "# mine now\n"
    assert kernel.text(tmp_path / plan.pages[0].file) == "4000"
    with pytest.raises(StepError, match=r"huge pages|file .*somebody else changed it"):
        apply(kernel, plan)
    (tmp_path / texts.RULES).unlink()  # as it was before
    assert undo(kernel)[0] == 1
    assert undo(kernel, forget=True)[0] == 0
    write(tmp_path / plan.pages[0].file, "0")
    now = tree(tmp_path)
    assert {k: v for k, v in now.items() if "udev" not in k} == {
        k: v for k, v in before.items() if "udev" not in k
    }


def test_a_file_that_was_there_is_put_back(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    write(tmp_path / host_plan.GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=mine")
    (tmp_path / host_plan.GRUB).chmod(0o600)
    (tmp_path / texts.WANTED).parent.mkdir(parents=True)
    (tmp_path / texts.WANTED).symlink_to("/dev/null")
    kernel.start(("update-grub",))
    before = tree(tmp_path)
    apply(kernel, plan)
    assert tree(tmp_path) != before
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_functions_in_use_are_not_taken_away(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    address = plan.cards[0].addresses[0]  # which others are undone before
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


def test_a_card_that_became_the_operators_is_left(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    apply(kernel, plan)
    kernel.nics[1] = Nic(**{**vars(kernel.nics[1]), "addresses": ("10.3.3.3",)})
    with pytest.raises(MistakeError, match=f"card {CARD} is not touched: ens0f0"):
        apply(kernel, plan)
    left, said = undo(kernel)
    assert left > 0 and any(f"{CARD}: 1 functions: not touched now" in line for line in said)
    assert kernel.text(tmp_path / f"sys/bus/pci/devices/{CARD}/sriov_numvfs") == "1"
    assert kernel.text(tmp_path / "sys/class/net/ens0f0/flags") == "0x1003"
