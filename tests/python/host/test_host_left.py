# SPDX-License-Identifier: BSD-3-Clause
"""Tests steps that `vcmts host undo` cannot undo: they, and no others, stay in the journal."""

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from host.prepare import folder as host_folder
from host.prepare import journal as host_journal
from host.prepare import texts
from host.prepare.system import Done
from python.host.host_kernel import Kernel, Nic, system, tree
from python.host.host_steps import apply, set_up, undo

CARD = "0000:05:00.0"  # of the machine `single`
ENA = "0000:00:06.0"  # of the machine `cloud`


def remove_driver(kernel: Kernel) -> Callable[[], None]:
    original = kernel.write

    def write(name: str, text: str) -> None:
        if name.endswith("ena/bind") and text == ENA:
            raise OSError(errno.ENODEV, "No such device")
        original(name, text)

    kernel.write = write  # type: ignore[method-assign]
    return lambda: setattr(kernel, "write", original)


def use_module(kernel: Kernel) -> Callable[[], None]:
    original = kernel.start

    def start(command: Sequence[str]) -> Done:
        if tuple(command[:2]) == ("modprobe", "--remove"):
            return Done(1, "modprobe: FATAL: Module vfio_pci is in use.")
        return original(command)

    kernel.start = start  # type: ignore[method-assign]
    return lambda: setattr(kernel, "start", original)


def replace_file_by_folder(kernel: Kernel) -> Callable[[], None]:
    file = kernel.root / texts.SCRIPT
    text = file.read_text()
    file.unlink()
    file.mkdir()

    def repair() -> None:
        file.rmdir()
        file.write_text(text)
        file.chmod(0o644)

    return repair


# Machine, function that prevents a step of undo and returns a function that repairs it, message.
REFUSALS = [
    ("cloud", remove_driver, f"{ENA}: vfio-pci: {ENA}: ena does not bind it again"),
    ("single", use_module, "driver vfio-pci: `modprobe --remove vfio-pci`: modprobe: "),
    (
        "single",
        replace_file_by_folder,
        f"file /{texts.SCRIPT}: /{texts.SCRIPT}: it exists and is not a text file",
    ),
]


@pytest.mark.parametrize("later", [False, True], ids=["forgotten", "undone later"])
@pytest.mark.parametrize(("name", "obstruct", "message"), REFUSALS)
def test_refused_step_remains(
    name: str,
    obstruct: Callable[[Kernel], Callable[[], None]],
    message: str,
    later: bool,
    tmp_path: Path,
) -> None:
    kernel, plan = set_up(tmp_path, name)
    before = tree(tmp_path)
    apply(kernel, plan)
    repair = obstruct(kernel)
    left, lines = undo(kernel)
    (line,) = (line for line in lines if line.startswith("left: "))
    assert left == 1 and line.startswith(f"left: {message}")
    (entry,) = host_journal.read(system(kernel)).open_entries()
    assert entry.step["what"] in line
    assert kernel.text(tmp_path / plan.pages[0].file) == "0"
    assert undo(kernel)[0] == 1
    if later:
        repair()
        left, lines = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, lines
        return
    assert undo(kernel, forget=True)[0] == 0
    assert not (tmp_path / host_journal.PATH).exists()
    assert undo(kernel) == (0, ["no plan is applied"])


@pytest.mark.parametrize("forget", [False, True])
def test_card_of_remaining_function_is_kept(forget: bool, tmp_path: Path) -> None:
    """A function got another driver: the function and the interface of its card are not changed."""
    kernel, plan = set_up(tmp_path, "single")
    apply(kernel, plan)
    address = plan.cards[0].addresses[0]
    kernel.add_interface(Nic(address, "vf0", "ixgbevf", up=True))
    for _ in range(2):
        left, lines = undo(kernel, forget=forget)
        assert kernel.text(kernel.device(CARD) / "sriov_numvfs") == "2"
        assert (kernel.device(address) / "driver").readlink().name == "ixgbevf"
        assert kernel.text(tmp_path / "sys/class/net/enp5s0/flags") == "0x1003"
        assert left == (0 if forget else 3), lines
    kernel.detach(address)
    assert undo(kernel)[0] == 0
    assert kernel.text(kernel.device(CARD) / "sriov_numvfs") == ("2" if forget else "0")


def test_no_file_is_in_a_folder_of_the_package(tmp_path: Path) -> None:
    """A purge deletes /etc/vcmts, and the plan stays applied until undo."""
    kernel, plan = set_up(tmp_path)
    assert not any(name.startswith("etc/vcmts/") for name in texts.plan_files(plan))
    before = tree(tmp_path)
    apply(kernel, plan)
    assert not any("etc/vcmts/" in str(path) for path in {*tree(tmp_path)} - {*before})
    unit = (tmp_path / texts.UNIT).read_text()
    assert f"ExecStart=/bin/sh /{texts.SCRIPT}\n" in unit and (tmp_path / texts.SCRIPT).is_file()


def test_undo_of_plan_of_version_0_1_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its script was in /etc/vcmts."""
    kernel, plan = set_up(tmp_path / "machine")
    before = tree(tmp_path / "machine")
    with monkeypatch.context() as old:
        old.setattr(texts, "SCRIPT", texts.OLD_SCRIPT)
        host_folder.write_plan(tmp_path / "plan", plan, "text")
        apply(kernel, plan)
    assert (tmp_path / "machine" / texts.OLD_SCRIPT).is_file()
    host_folder.write_plan(tmp_path / "plan", plan, "text")
    assert not (tmp_path / "plan/files" / texts.OLD_SCRIPT).exists()
    assert undo(kernel)[0] == 0 and tree(tmp_path / "machine") == before
