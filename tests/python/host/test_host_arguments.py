# SPDX-License-Identifier: BSD-3-Clause
"""Tests a plan's kernel arguments, which do not depend on those of the running kernel."""

from pathlib import Path

from host.prepare import plan as host_plan
from python.host.host_kernel import Kernel
from python.host.host_steps import apply, make_machine, make_plan, set_up, undo
from python.layout_machines import write

CORES = {1: "1,8-9", 2: "1-3,8-11"}  # of the server, by number of groups


def isolation(groups: int = 1) -> tuple[str, ...]:
    """The kernel arguments that isolate the cores of the groups."""
    listed = CORES[groups]
    return (f"isolcpus=managed_irq,domain,{listed}", f"nohz_full={listed}", f"rcu_nocbs={listed}")


def restart(kernel: Kernel) -> None:
    """Restarts with the arguments of the boot loader."""
    options = kernel.text(kernel.root / "boot/grub.cfg").replace('"', " ").split()
    started = [word for word in options if "=" in word and not word.startswith("GRUB")]
    write(kernel.root / "proc/cmdline", " ".join(["quiet", *started]))
    isolated = next((w.split(",", 2)[2] for w in started if w.startswith("isolcpus=")), "")
    for name in ("isolated", "nohz_full"):
        write(kernel.root / "sys/devices/system/cpu" / name, isolated)


def test_new_plan_after_undo(tmp_path: Path) -> None:
    """The kernel keeps its arguments until the next restart."""
    kernel, plan = set_up(tmp_path)
    apply(kernel, plan)
    restart(kernel)
    assert kernel.text(tmp_path / "sys/devices/system/cpu/isolated") == CORES[2]
    repeated = make_plan(kernel, "--groups", "2", "--network-vlan", "10")
    assert repeated.plan == plan
    assert any("run `vcmts host undo` before" in note for note in repeated.notes)
    undo(kernel)
    new = make_plan(kernel, "--groups", "2")
    assert new.plan.arguments == plan.arguments == isolation(2)
    assert not any("undo" in note for note in new.notes)
    apply(kernel, new.plan)
    restart(kernel)
    assert kernel.text(tmp_path / "sys/devices/system/cpu/isolated") == CORES[2]


def test_iommu_arguments_are_kept(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    first = make_plan(kernel).plan.arguments
    assert first[-2:] == ("intel_iommu=on", "iommu=pt")
    write(tmp_path / "proc/cmdline", "quiet intel_iommu=on iommu=pt")
    kernel.iommu = True
    kernel.set_iommu_group("0000:00:06.0", "1")
    assert make_plan(kernel).plan.arguments == first
    write(tmp_path / "proc/cmdline", "quiet")  # the IOMMU works without arguments
    assert make_plan(kernel).plan.arguments == first[:-2]


def test_arguments_of_others_in_grub(tmp_path: Path) -> None:
    kernel = make_machine("server", tmp_path)
    assert make_plan(kernel).plan.arguments == isolation()
    wide = 'GRUB_CMDLINE_LINUX="quiet isolcpus=1-15 nohz_full=1-15"'
    write(tmp_path / "etc/default/grub", f"# {wide}")
    assert make_plan(kernel).plan.arguments == isolation()
    write(tmp_path / "etc/default/grub", wide)
    result = make_plan(kernel)
    assert result.plan.arguments == () and not result.notes
    write(tmp_path / "etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT='quiet'")
    write(tmp_path / "etc/default/grub.d/50-x.cfg", 'GRUB_CMDLINE_LINUX="isolcpus=5"')
    result = make_plan(kernel)
    assert result.plan.arguments == () and "sets isolcpus=5" in result.notes[0]
    write(tmp_path / "etc/default/grub.d/50-x.cfg", wide.replace("isolcpus=", "isolcpus=nohz,"))
    assert make_plan(kernel).plan.arguments == ()  # the argument isolates nothing
    assert "does not cover cores" in make_plan(kernel).notes[0]


def test_arguments_given_by_hand_are_reported(tmp_path: Path) -> None:
    """The next start may not have them."""
    kernel = make_machine("server", tmp_path)
    write(tmp_path / "proc/cmdline", "quiet isolcpus=5")
    result = make_plan(kernel)
    assert result.plan.arguments == isolation() and "sets isolcpus=5" in result.notes[0]


def test_arguments_of_other_boot_loaders(tmp_path: Path) -> None:
    for name, file, text in (
        ("stub", host_plan.KERNELSTUB, '{"user": {"kernel_options": ["quiet", "isolcpus=5"]}}'),
        ("cmdline", host_plan.CMDLINE, "root=/dev/x quiet isolcpus=5"),
    ):
        kernel = make_machine("server", tmp_path / name)
        (kernel.root / "usr/sbin/update-grub").unlink()
        write(kernel.root / "usr/bin/kernel-install", "")
        write(kernel.root / file, text.replace(" isolcpus=5", "").replace(', "isolcpus=5"', ""))
        assert make_plan(kernel).plan.arguments == isolation()
        write(kernel.root / file, text)
        result = make_plan(kernel)
        assert result.plan.arguments == () and "isolcpus=5" in result.notes[0]
    write(tmp_path / "stub" / host_plan.KERNELSTUB, "[")
    kernel.root = tmp_path / "stub"
    assert make_plan(kernel).plan.arguments == isolation()


def test_arguments_for_1_gb_pages(tmp_path: Path) -> None:
    """They exist after an undo, until the restart."""
    kernel = make_machine("server", tmp_path)
    options = ("--groups", "2", "--page-size", "1G")
    first = make_plan(kernel, *options).plan
    write(tmp_path / "proc/cmdline", " ".join(first.arguments))
    write(tmp_path / first.pages[0].file, str(first.pages[0].count))
    assert make_plan(kernel, *options).plan.arguments == first.arguments
    grub = tmp_path / "etc/default/grub"
    write(grub, "GRUB_CMDLINE_LINUX='hugepagesz=1G hugepages=16'")
    assert make_plan(kernel, *options).plan.arguments == isolation(2)  # enough pages
    write(tmp_path / first.pages[0].file, "0")
    assert any("hugepagesz=1G, but" in note for note in make_plan(kernel, *options).notes)
    write(grub, "GRUB_CMDLINE_LINUX='hugepagesz=2M hugepages=16'")
    assert make_plan(kernel, *options).plan.arguments == first.arguments
