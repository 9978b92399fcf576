# SPDX-License-Identifier: BSD-3-Clause
"""What the service does at the next start, and what a refusal leaves: undone exactly too."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from host.prepare import apply as host_apply
from host.prepare import journal as host_journal
from host.prepare import texts
from host.prepare.system import Done, StepError
from python.host.host_kernel import Kernel, Nic, system, tree
from python.host.host_machines import base
from python.host.host_steps import apply, decided, machine, prepared, undo
from python.layout_machines import HostSpec, write
from vcmts import cli

CARD = "0000:3b:00.0"
ENA = ("0000:00:06.0", "0000:00:07.0")


def test_the_unit_gets_the_capabilities_of_its_cards(tmp_path: Path) -> None:
    """None with an IOMMU; without one those of VFIO; others where the kernel keeps the card."""
    base(tmp_path / "nvidia", HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), most=8)
    named = r"^(CapabilityBoundingSet|AmbientCapabilities)=(.*)$"
    for kernel, words, wanted in (
        (machine("server", tmp_path / "server"), (), None),
        (machine("cloud", tmp_path / "cloud"), ("--no-iommu",), "CAP_SYS_ADMIN CAP_SYS_RAWIO"),
        (Kernel(tmp_path / "nvidia", [nic]), (), "CAP_NET_ADMIN CAP_NET_RAW"),
    ):
        plan = decided(kernel, "--groups", "1", *words).plan
        found = re.findall(named, texts.files_of(plan)[texts.DROP_IN], re.M)
        assert plan.cards
        assert [value for _, value in found] == ([wanted] * 2 if wanted else []), kernel.root
        assert len({name for name, _ in found}) == len(found)


def started_with_an_iommu(kernel: Kernel) -> None:
    """And the service has given the cards away."""
    kernel.iommu = True
    write(kernel.root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N")
    for turn, address in enumerate(ENA):
        kernel.join(address, str(turn))
        write(kernel.device(address) / "driver_override", "vfio-pci")
        kernel.drive(address, "vfio-pci")


def changed(before: dict[str, object], kernel: Kernel) -> list[str]:
    """What is another but the groups of the IOMMU, which the machine has by itself."""
    now = tree(kernel.root)
    names = sorted({*before, *now})
    return [n for n in names if "iommu" not in n and before.get(n) != now.get(n)]


def test_what_the_service_binds_is_undone(tmp_path: Path) -> None:
    kernel = machine("cloud", tmp_path)
    before: dict[str, object] = {**tree(tmp_path)}
    plan = decided(kernel).plan
    said: list[str] = []
    count = host_apply.rehearse(system(kernel), plan, said.append)
    assert sum(line.startswith("after the restart: ") for line in said) == 3
    said = []
    assert host_apply.apply(system(kernel), plan, said.append) == count
    assert sum(line.startswith("after the restart: ") for line in said) == 3
    after = tree(tmp_path)
    assert apply(kernel, plan) == 0 and tree(tmp_path) == after
    assert not host_journal.read(system(kernel)).entry(("module", "vfio-pci")).done  # type: ignore[union-attr]
    started_with_an_iommu(kernel)
    left, lines = undo(kernel)
    assert left == 0 and changed(before, kernel) == [], lines
    assert (kernel.device(ENA[0]) / "driver").readlink().name == "ena"


def test_applied_again_what_the_service_bound_is_done(tmp_path: Path) -> None:
    kernel = machine("cloud", tmp_path)
    before: dict[str, object] = {**tree(tmp_path)}
    plan = decided(kernel).plan
    apply(kernel, plan)
    started_with_an_iommu(kernel)
    assert apply(kernel, plan) == 0
    assert all(entry.done for entry in host_journal.read(system(kernel)).open_entries())
    assert undo(kernel)[0] == 0 and changed(before, kernel) == []


def test_check_tells_what_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = machine("cloud", tmp_path)
    apply(kernel, decided(kernel).plan)
    cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    facts = {row["fact"]: row for row in json.loads(capsys.readouterr().out)["facts"]}
    assert facts["preparation"]["verdict"] == "ok"
    assert "3 of them at the next start" in facts["preparation"]["found"]


def test_a_journal_that_root_alone_can_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of mode 0600, and the tests may be root's: as the kernel would say it."""
    kernel, plan = prepared(tmp_path)
    apply(kernel, plan)
    assert (tmp_path / host_journal.PLACE).stat().st_mode & 0o777 == 0o600
    whole = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.name == "journal":
            raise PermissionError(13, "Permission denied", str(path))
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    facts = {row["fact"]: row for row in json.loads(capsys.readouterr().out)["facts"]}
    assert "root alone can read it" in facts["preparation"]["found"]
    assert cli.main(["host", "plan", "--machine", str(tmp_path)]) == 0
    assert "root alone can read: plan as root" in capsys.readouterr().out


def shell_of(root: Path, text: str, refused: str = "") -> subprocess.CompletedProcess[str]:
    """The service's script on a copy of a machine, where sysfs keeps what is written into it.
    `refused`: a pattern of the shell's, of programs and their arguments."""
    place = root / "script"
    for name in ("sys", "proc"):
        text = text.replace(f"/{name}/", f"{root}/{name}/")
    text = text.replace('"/$1"', f'"{root}/$1"')
    place.write_text(text)
    for program in ("ip", "modprobe"):
        write(
            root / "bin" / program,
            f'#!/bin/sh\ncase "{program} $*" in {refused or "none"}) exit 2 ;; esac',
        )
        (root / "bin" / program).chmod(0o755)
    return subprocess.run(
        ["sh", str(place)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}"},
    )


def test_the_script_takes_no_driver_away_without_an_iommu(tmp_path: Path) -> None:
    kernel = machine("cloud", tmp_path)
    plan = decided(kernel).plan
    write(tmp_path / plan.pages[0].file, "99999")
    done = shell_of(tmp_path, texts.files_of(plan)[texts.SCRIPT])
    assert done.returncode == 1 and done.stderr.count("no IOMMU is before it") == 2, done.stderr
    for address in ENA:
        assert kernel.text(kernel.device(address) / "driver_override") == "(null)"
        assert (kernel.device(address) / "driver").readlink().name == "ena"
    without = decided(kernel, "--no-iommu").plan  # asked for: it tries
    done = shell_of(tmp_path, texts.files_of(without)[texts.SCRIPT])
    assert "no IOMMU is before it" not in done.stderr
    assert kernel.text(kernel.device(ENA[0]) / "driver_override") == "vfio-pci"


@pytest.mark.parametrize(
    ("refused", "missing", "said"),
    [
        ("*ens0f0*mtu*", "", f"{CARD}: its driver refuses MTU 2000"),
        ("*ens0f0*mtu*", "net/ens0f0/mtu", f"{CARD}: its driver refuses MTU 2000"),
        ("*ens0f0*up*", "", f"{CARD}: it does not come up"),
        ("*ens0f0*vf*", "", f"{CARD}: function 0 refuses mac "),
        ("modprobe*", "", "vfio-pci: the kernel has no such driver"),
        ("", "net", f"{CARD}: it has no interface to set function 0 by"),
        ("", "", f"/{CARD}/virtfn0: it is not there"),
    ],
)
def test_the_script_goes_on_after_a_refusal(
    refused: str, missing: str, said: str, tmp_path: Path
) -> None:
    """One line of its own, and all cards get what they can have."""
    kernel, plan = prepared(tmp_path)
    if missing:
        (kernel.device(CARD) / missing).rename(tmp_path / "elsewhere")
    write(tmp_path / plan.pages[0].file, "99999")
    done = shell_of(tmp_path, texts.files_of(plan)[texts.SCRIPT], refused)
    lines = [line for line in done.stderr.splitlines() if line.startswith("vcmts-host: ")]
    assert done.returncode == 1 and any(said in line for line in lines), done.stderr
    assert len(plan.cards) == 2
    for card in plan.cards:
        assert kernel.text(kernel.device(card.address) / "sriov_numvfs") == "1"
        assert any(f"{card.address}/virtfn0: it is not there" in line for line in lines)


def test_a_device_that_no_iommu_is_before_keeps_its_driver(tmp_path: Path) -> None:
    """Others of the machine have one."""
    kernel = machine("cloud", tmp_path)
    plan = decided(kernel).plan
    (tmp_path / "sys/kernel/iommu_groups/0").mkdir()
    with pytest.raises(StepError, match=f"{ENA[0]}: no IOMMU is before it"):
        apply(kernel, plan)
    assert (kernel.device(ENA[0]) / "driver").readlink().name == "ena"
    assert undo(kernel)[0] == 0


def test_groups_that_vfio_makes_up_are_no_iommu(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path, "cloud")
    apply(kernel, plan)
    write(tmp_path / "sys/kernel/iommu_groups/0/name", "vfio-noiommu")
    assert apply(kernel, plan) == 0


def test_a_refusal_is_no_dead_end(tmp_path: Path) -> None:
    """What was in the way goes away, which is no change of what we made: apply goes on."""
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    function = plan.cards[0].addresses[0]

    def in_the_way(address: str, count: int) -> None:
        """Between the look at the card and the change."""
        raise OSError(16, "Device or resource busy")

    whole = kernel.functions
    kernel.functions = in_the_way  # type: ignore[method-assign,assignment]
    with pytest.raises(StepError, match="its driver refuses 1 functions"):
        apply(kernel, plan)
    entries = host_journal.read(system(kernel)).open_entries()
    assert "functions" not in {entry.step["kind"] for entry in entries}
    kernel.functions = whole  # type: ignore[method-assign]
    assert apply(kernel, plan) > 0
    assert kernel.device(function).is_dir()
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_a_plan_that_was_refused_gives_way_to_another(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    (tmp_path / "etc/default").rename(tmp_path / "etc/old")
    write(tmp_path / "etc/default", "a file is in the way of a folder")
    with pytest.raises(StepError):
        apply(kernel, plan)
    assert host_journal.read(system(kernel)).open_entries() == []
    (tmp_path / "etc/default").unlink()
    (tmp_path / "etc/old").rename(tmp_path / "etc/default")
    other = decided(kernel, "--groups", "3").plan
    assert apply(kernel, other) > 0
    assert host_journal.read(system(kernel)).plan == other.digest()
    assert apply(kernel, other) == 0
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_a_program_that_fails_keeps_nothing_else_from_being_undone(tmp_path: Path) -> None:
    kernel, plan = prepared(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    kernel.failing = Done(1, "cannot find a device for /")
    left, said = undo(kernel)
    assert left == 1 and any("update-grub" in line for line in said)
    assert kernel.text(tmp_path / f"sys/bus/pci/devices/{CARD}/sriov_numvfs") == "0"
    kernel.failing = None
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
