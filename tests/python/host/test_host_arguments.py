# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's arguments: all that a plan needs, whatever the running kernel was started with."""

from pathlib import Path

from host.prepare import plan as host_plan
from python.host.host_kernel import Kernel
from python.host.host_steps import apply, decided, machine, prepared, undo
from python.layout_machines import write

CORES = {1: "1,8-9", 2: "1-3,8-11"}  # of the server, for so many groups


def isolation(groups: int = 1) -> tuple[str, ...]:
    listed = CORES[groups]
    return (f"isolcpus=managed_irq,domain,{listed}", f"nohz_full={listed}", f"rcu_nocbs={listed}")


def restarted(kernel: Kernel) -> None:
    """With what the boot loader has now."""
    words = kernel.text(kernel.root / "boot/grub.cfg").replace('"', " ").split()
    started = [word for word in words if "=" in word and not word.startswith("GRUB")]
    write(kernel.root / "proc/cmdline", " ".join(["quiet", *started]))
    isolated = next((w.split(",", 2)[2] for w in started if w.startswith("isolcpus=")), "")
    for name in ("isolated", "nohz_full"):
        write(kernel.root / "sys/devices/system/cpu" / name, isolated)


def test_planned_again_after_an_undo(tmp_path: Path) -> None:
    """The kernel still has what it was started with, and not after the next restart."""
    kernel, plan = prepared(tmp_path)
    apply(kernel, plan)
    restarted(kernel)
    assert kernel.text(tmp_path / "sys/devices/system/cpu/isolated") == CORES[2]
    again = decided(kernel, "--groups", "2", "--network-vlan", "10")
    assert again.plan == plan
    assert any("`vcmts host undo` takes it back" in note for note in again.notes)
    undo(kernel)
    new = decided(kernel, "--groups", "2")
    assert new.plan.arguments == plan.arguments == isolation(2)
    assert not any("undo" in note for note in new.notes)
    apply(kernel, new.plan)
    restarted(kernel)
    assert kernel.text(tmp_path / "sys/devices/system/cpu/isolated") == CORES[2]


def test_an_iommu_that_a_preparation_switched_on(tmp_path: Path) -> None:
    kernel = machine("cloud", tmp_path)
    first = decided(kernel).plan.arguments
    assert first[-2:] == ("intel_iommu=on", "iommu=pt")
    write(tmp_path / "proc/cmdline", "quiet intel_iommu=on iommu=pt")
    kernel.iommu = True
    kernel.join("0000:00:06.0", "1")
    assert decided(kernel).plan.arguments == first
    write(tmp_path / "proc/cmdline", "quiet")  # it works without
    assert decided(kernel).plan.arguments == first[:-2]


def test_what_the_boot_loader_has_for_others(tmp_path: Path) -> None:
    kernel = machine("server", tmp_path)
    assert decided(kernel).plan.arguments == isolation()
    wide = 'GRUB_CMDLINE_LINUX="quiet isolcpus=1-15 nohz_full=1-15"'
    write(tmp_path / "etc/default/grub", f"# {wide}")
    assert decided(kernel).plan.arguments == isolation()
    write(tmp_path / "etc/default/grub", wide)
    found = decided(kernel)
    assert found.plan.arguments == () and not found.notes
    write(tmp_path / "etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT='quiet'")
    write(tmp_path / "etc/default/grub.d/50-x.cfg", 'GRUB_CMDLINE_LINUX="isolcpus=5"')
    found = decided(kernel)
    assert found.plan.arguments == () and "started with isolcpus=5" in found.notes[0]
    write(tmp_path / "etc/default/grub.d/50-x.cfg", wide.replace("isolcpus=", "isolcpus=nohz,"))
    assert decided(kernel).plan.arguments == ()  # which isolates nothing
    assert "is not enough" in decided(kernel).notes[0]


def test_arguments_that_nobody_keeps(tmp_path: Path) -> None:
    """The kernel was started with them by hand: they are told, and may come again."""
    kernel = machine("server", tmp_path)
    write(tmp_path / "proc/cmdline", "quiet isolcpus=5")
    found = decided(kernel)
    assert found.plan.arguments == isolation() and "started with isolcpus=5" in found.notes[0]


def test_other_boot_loaders(tmp_path: Path) -> None:
    for name, place, text in (
        ("stub", host_plan.KERNELSTUB, '{"user": {"kernel_options": ["quiet", "isolcpus=5"]}}'),
        ("cmdline", host_plan.CMDLINE, "root=/dev/x quiet isolcpus=5"),
    ):
        kernel = machine("server", tmp_path / name)
        (kernel.root / "usr/sbin/update-grub").unlink()
        write(kernel.root / "usr/bin/kernel-install", "")
        write(kernel.root / place, text.replace(" isolcpus=5", "").replace(', "isolcpus=5"', ""))
        assert decided(kernel).plan.arguments == isolation()
        write(kernel.root / place, text)
        found = decided(kernel)
        assert found.plan.arguments == () and "isolcpus=5" in found.notes[0]
    write(tmp_path / "stub" / host_plan.KERNELSTUB, "[")
    kernel.root = tmp_path / "stub"
    assert decided(kernel).plan.arguments == isolation()


def test_pages_of_a_gigabyte(tmp_path: Path) -> None:
    """They are there after an undo, until the restart."""
    kernel = machine("server", tmp_path)
    words = ("--groups", "2", "--page-size", "1G")
    first = decided(kernel, *words).plan
    write(tmp_path / "proc/cmdline", " ".join(first.arguments))
    write(tmp_path / first.pages[0].file, str(first.pages[0].count))
    assert decided(kernel, *words).plan.arguments == first.arguments
    grub = tmp_path / "etc/default/grub"
    write(grub, "GRUB_CMDLINE_LINUX='hugepagesz=1G hugepages=16'")
    assert decided(kernel, *words).plan.arguments == isolation(2)  # there are enough
    write(tmp_path / first.pages[0].file, "0")
    assert any("hugepagesz=1G, and" in note for note in decided(kernel, *words).notes)
    write(grub, "GRUB_CMDLINE_LINUX='hugepagesz=2M hugepages=16'")
    assert decided(kernel, *words).plan.arguments == first.arguments
