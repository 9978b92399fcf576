# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts host undo` cannot make again what it was keeps nothing else from being undone."""

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from host.prepare import journal as host_journal
from host.prepare import texts
from host.prepare.system import Done
from python.host.host_kernel import Kernel, Nic, system, tree
from python.host.host_steps import apply, prepared, undo

CARD = "0000:05:00.0"  # of the machine with one card
ENA = "0000:00:06.0"  # of the cloud's


def its_driver_is_gone(kernel: Kernel) -> Callable[[], None]:
    whole = kernel.write

    def write(name: str, text: str) -> None:
        if name.endswith("ena/bind") and text == ENA:
            raise OSError(errno.ENODEV, "No such device")
        whole(name, text)

    kernel.write = write  # type: ignore[method-assign]
    return lambda: setattr(kernel, "write", whole)


def its_module_is_in_use(kernel: Kernel) -> Callable[[], None]:
    whole = kernel.start

    def start(command: Sequence[str]) -> Done:
        if tuple(command[:2]) == ("modprobe", "--remove"):
            return Done(1, "modprobe: FATAL: Module vfio_pci is in use.")
        return whole(command)

    kernel.start = start  # type: ignore[method-assign]
    return lambda: setattr(kernel, "start", whole)


def a_folder_is_its_file(kernel: Kernel) -> Callable[[], None]:
    file = kernel.root / texts.SCRIPT
    text = file.read_text()
    file.unlink()
    file.mkdir()

    def mended() -> None:
        file.rmdir()
        file.write_text(text)
        file.chmod(0o644)

    return mended


REFUSALS = [
    ("cloud", its_driver_is_gone, f"{ENA}: vfio-pci: {ENA}: ena does not take it back"),
    ("single", its_module_is_in_use, "driver vfio-pci: `modprobe --remove vfio-pci`: modprobe: "),
    ("single", a_folder_is_its_file, f"file /{texts.SCRIPT}: /{texts.SCRIPT}: something is there"),
]


@pytest.mark.parametrize("later", [False, True], ids=["forgotten", "undone later"])
@pytest.mark.parametrize(("name", "refusal", "said"), REFUSALS)
def test_a_refusal_leaves_one_step(
    name: str,
    refusal: Callable[[Kernel], Callable[[], None]],
    said: str,
    later: bool,
    tmp_path: Path,
) -> None:
    kernel, plan = prepared(tmp_path, name)
    before = tree(tmp_path)
    apply(kernel, plan)
    mended = refusal(kernel)
    left, lines = undo(kernel)
    (line,) = (line for line in lines if line.startswith("left: "))
    assert left == 1 and line.startswith(f"left: {said}")
    (entry,) = host_journal.read(system(kernel)).open_entries()
    assert entry.step["what"] in line
    assert kernel.text(tmp_path / plan.pages[0].file) == "0"
    assert undo(kernel)[0] == 1
    if later:
        mended()
        left, lines = undo(kernel)
        assert left == 0 and tree(tmp_path) == before, lines
        return
    assert undo(kernel, forget=True)[0] == 0
    assert not (tmp_path / host_journal.PLACE).exists()
    assert undo(kernel) == (0, ["nothing is applied here"])


@pytest.mark.parametrize("forget", [False, True])
def test_a_function_that_is_left_keeps_its_card(forget: bool, tmp_path: Path) -> None:
    """Somebody gave it another driver: it does not go, nor is its card's interface changed."""
    kernel, plan = prepared(tmp_path, "single")
    apply(kernel, plan)
    address = plan.cards[0].addresses[0]
    kernel.drive_with(Nic(address, "vf0", "ixgbevf", up=True))
    for _ in range(2):
        left, lines = undo(kernel, forget=forget)
        assert kernel.text(kernel.device(CARD) / "sriov_numvfs") == "2"
        assert (kernel.device(address) / "driver").readlink().name == "ixgbevf"
        assert kernel.text(tmp_path / "sys/class/net/enp5s0/flags") == "0x1003"
        assert left == (0 if forget else 3), lines
    kernel.detach(address)
    assert undo(kernel)[0] == 0
    assert kernel.text(kernel.device(CARD) / "sriov_numvfs") == ("2" if forget else "0")
