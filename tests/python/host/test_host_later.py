# SPDX-License-Identifier: BSD-3-Clause
"""Tests changes at the service's next start, and failed steps: undo restores all files."""

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
from python.host.host_steps import apply, make_machine, make_plan, set_up, undo
from python.layout_machines import HostSpec, write
from vcmts import cli

CARD = "0000:3b:00.0"
ENA = ("0000:00:06.0", "0000:00:07.0")


def test_unit_has_the_capabilities_of_its_cards(tmp_path: Path) -> None:
    """None with an IOMMU; other ones for VFIO without it, or kernel drivers."""
    base(tmp_path / "nvidia", HostSpec(cores=4))
    nic = Nic("0000:02:00.0", "eth1", "mlx5_core", ("15b3", "101d"), max_vfs=8)
    named = r"^(CapabilityBoundingSet|AmbientCapabilities)=(.*)$"
    for kernel, arguments, expected in (
        (make_machine("server", tmp_path / "server"), (), None),
        (make_machine("cloud", tmp_path / "cloud"), ("--no-iommu",), "CAP_SYS_ADMIN CAP_SYS_RAWIO"),
        (Kernel(tmp_path / "nvidia", [nic]), (), "CAP_NET_ADMIN CAP_NET_RAW"),
    ):
        plan = make_plan(kernel, "--groups", "1", *arguments).plan
        result = re.findall(named, texts.plan_files(plan)[texts.DROP_IN], re.M)
        assert plan.cards
        assert [value for _, value in result] == ([expected] * 2 if expected else []), kernel.root
        assert len({name for name, _ in result}) == len(result)


def restart_with_iommu(kernel: Kernel) -> None:
    """Restarts with an IOMMU; the service binds the cards."""
    kernel.iommu = True
    write(kernel.root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N")
    for n, address in enumerate(ENA):
        kernel.set_iommu_group(address, str(n))
        write(kernel.device(address) / "driver_override", "vfio-pci")
        kernel.rebind(address, "vfio-pci")


def changed_files(before: dict[str, object], kernel: Kernel) -> list[str]:
    """Returns the changed files, without IOMMU groups, which the machine makes."""
    now = tree(kernel.root)
    names = sorted({*before, *now})
    return [n for n in names if "iommu" not in n and before.get(n) != now.get(n)]


def test_undo_covers_bindings_of_the_service(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    before: dict[str, object] = {**tree(tmp_path)}
    plan = make_plan(kernel).plan
    messages: list[str] = []
    count = host_apply.dry_run(system(kernel), plan, messages.append)
    assert sum(line.startswith("after the reboot: ") for line in messages) == 3
    messages = []
    assert host_apply.apply(system(kernel), plan, messages.append) == count
    assert sum(line.startswith("after the reboot: ") for line in messages) == 3
    after = tree(tmp_path)
    assert apply(kernel, plan) == 0 and tree(tmp_path) == after
    assert not host_journal.read(system(kernel)).entry(("module", "vfio-pci")).done  # type: ignore[union-attr]
    restart_with_iommu(kernel)
    left, lines = undo(kernel)
    assert left == 0 and changed_files(before, kernel) == [], lines
    assert (kernel.device(ENA[0]) / "driver").readlink().name == "ena"


def test_second_apply_records_bindings_of_the_service(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    before: dict[str, object] = {**tree(tmp_path)}
    plan = make_plan(kernel).plan
    apply(kernel, plan)
    restart_with_iommu(kernel)
    assert apply(kernel, plan) == 0
    assert all(entry.done for entry in host_journal.read(system(kernel)).open_entries())
    assert undo(kernel)[0] == 0 and changed_files(before, kernel) == []


def test_check_reports_pending_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = make_machine("cloud", tmp_path)
    apply(kernel, make_plan(kernel).plan)
    cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    facts = {row["fact"]: row for row in json.loads(capsys.readouterr().out)["facts"]}
    assert facts["preparation"]["verdict"] == "ok"
    assert "3 of them after the next boot" in facts["preparation"]["found"]


def test_unreadable_journal_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mode is 0600. The error is simulated, as the tests may run as root."""
    kernel, plan = set_up(tmp_path)
    apply(kernel, plan)
    assert (tmp_path / host_journal.PATH).stat().st_mode & 0o777 == 0o600
    original = Path.read_bytes

    def refusing(path: Path) -> bytes:
        if path.name == "journal":
            raise PermissionError(13, "Permission denied", str(path))
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    cli.main(["host", "check", "--json", "--machine", str(tmp_path)])
    facts = {row["fact"]: row for row in json.loads(capsys.readouterr().out)["facts"]}
    assert "only root can read it" in facts["preparation"]["found"]
    assert cli.main(["host", "plan", "--machine", str(tmp_path)]) == 0
    assert "only root can read: plan as root" in capsys.readouterr().out


def run_script(root: Path, text: str, refusing: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the service's script on a copy of a machine, where sysfs keeps what is written. Calls of
    programs that match the shell pattern `refusing` fail."""
    script = root / "script"
    for name in ("sys", "proc"):
        text = text.replace(f"/{name}/", f"{root}/{name}/")
    text = text.replace('"/$1"', f'"{root}/$1"')
    script.write_text(text)
    for program in ("ip", "modprobe"):
        write(
            root / "bin" / program,
            f'#!/bin/sh\ncase "{program} $*" in {refusing or "none"}) exit 2 ;; esac',
        )
        (root / "bin" / program).chmod(0o755)
    return subprocess.run(
        ["sh", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}"},
    )


def test_script_keeps_drivers_without_iommu(tmp_path: Path) -> None:
    kernel = make_machine("cloud", tmp_path)
    plan = make_plan(kernel).plan
    write(tmp_path / plan.pages[0].file, "99999")
    done = run_script(tmp_path, texts.plan_files(plan)[texts.SCRIPT])
    assert done.returncode == 1 and done.stderr.count("it has no IOMMU") == 2, done.stderr
    for address in ENA:
        assert kernel.text(kernel.device(address) / "driver_override") == "(null)"
        assert (kernel.device(address) / "driver").readlink().name == "ena"
    without = make_plan(kernel, "--no-iommu").plan  # requested: it tries
    done = run_script(tmp_path, texts.plan_files(without)[texts.SCRIPT])
    assert "it has no IOMMU" not in done.stderr
    assert kernel.text(kernel.device(ENA[0]) / "driver_override") == "vfio-pci"


def test_script_and_vcmtsd_continue_with_fewer_pages(tmp_path: Path) -> None:
    """The service fails visibly, sets up the cards, and does not prevent the start of vcmtsd."""
    kernel, plan = set_up(tmp_path)
    pages = tmp_path / plan.pages[0].file
    pages.unlink()
    limited = Path("/proc/sys/kernel/cap_last_cap")  # a number that no program can change
    pages.symlink_to(limited)
    done = run_script(tmp_path, texts.plan_files(plan)[texts.SCRIPT])
    found = limited.read_text().strip()
    assert done.returncode == 1
    assert f"{plan.pages[0].count} huge pages requested, {found} allocated" in done.stderr
    assert kernel.text(kernel.device(CARD) / "sriov_numvfs") == "1"
    unit = texts.plan_files(plan)[texts.DROP_IN]
    assert "Wants=vcmts-host.service" in unit and "After=vcmts-host.service" in unit
    assert not re.search(r"^(Requires|Requisite|BindsTo|PartOf)=", unit, re.M)


@pytest.mark.parametrize(
    ("refusing", "missing", "message"),
    [
        ("*ens0f0*mtu*", "", f"{CARD}: its driver refuses MTU 2000"),
        ("*ens0f0*mtu*", "net/ens0f0/mtu", f"{CARD}: its driver refuses MTU 2000"),
        ("*ens0f0*up*", "", f"{CARD}: its interface cannot be set up"),
        ("*ens0f0*vf*", "", f"{CARD}: function 0 refuses mac "),
        ("modprobe*", "", "vfio-pci: the kernel has no such driver"),
        ("", "net", f"{CARD}: no interface to set function 0"),
        ("", "", f"/{CARD}/virtfn0: no such device"),
    ],
)
def test_script_continues(refusing: str, missing: str, message: str, tmp_path: Path) -> None:
    """The script prints a line per failure, and sets up all cards as far as possible."""
    kernel, plan = set_up(tmp_path)
    if missing:
        (kernel.device(CARD) / missing).rename(tmp_path / "elsewhere")
    write(tmp_path / plan.pages[0].file, "99999")
    done = run_script(tmp_path, texts.plan_files(plan)[texts.SCRIPT], refusing)
    lines = [line for line in done.stderr.splitlines() if line.startswith("vcmts-host: ")]
    assert done.returncode == 1 and any(message in line for line in lines), done.stderr
    assert len(plan.cards) == 2
    for card in plan.cards:
        assert kernel.text(kernel.device(card.address) / "sriov_numvfs") == "1"
        assert any(f"{card.address}/virtfn0: no such device" in line for line in lines)


def test_device_without_iommu_keeps_its_driver(tmp_path: Path) -> None:
    """Other devices of the machine have an IOMMU."""
    kernel = make_machine("cloud", tmp_path)
    plan = make_plan(kernel).plan
    (tmp_path / "sys/kernel/iommu_groups/0").mkdir()
    with pytest.raises(StepError, match=f"{ENA[0]}: it has no IOMMU"):
        apply(kernel, plan)
    assert (kernel.device(ENA[0]) / "driver").readlink().name == "ena"
    assert undo(kernel)[0] == 0


def test_groups_of_vfio_noiommu_are_no_iommu(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path, "cloud")
    apply(kernel, plan)
    write(tmp_path / "sys/kernel/iommu_groups/0/name", "vfio-noiommu")
    assert apply(kernel, plan) == 0


def test_apply_continues_when_refusal_ends(tmp_path: Path) -> None:
    """When the driver accepts functions again, apply continues."""
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    function = plan.cards[0].addresses[0]

    def refuse(address: str, count: int) -> None:
        raise OSError(16, "Device or resource busy")

    original = kernel.make_functions
    kernel.make_functions = refuse  # type: ignore[method-assign,assignment]
    with pytest.raises(StepError, match="its driver refuses 1 functions"):
        apply(kernel, plan)
    entries = host_journal.read(system(kernel)).open_entries()
    assert "functions" not in {entry.step["kind"] for entry in entries}
    kernel.make_functions = original  # type: ignore[method-assign]
    assert apply(kernel, plan) > 0
    assert kernel.device(function).is_dir()
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_other_plan_after_refused_plan(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    (tmp_path / "etc/default").rename(tmp_path / "etc/old")
    write(tmp_path / "etc/default", "a file is in the way of a folder")
    with pytest.raises(StepError):
        apply(kernel, plan)
    assert host_journal.read(system(kernel)).open_entries() == []
    (tmp_path / "etc/default").unlink()
    (tmp_path / "etc/old").rename(tmp_path / "etc/default")
    other = make_plan(kernel, "--groups", "3").plan
    assert apply(kernel, other) > 0
    assert host_journal.read(system(kernel)).plan == other.digest()
    assert apply(kernel, other) == 0
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before


def test_failed_program_does_not_stop_undo(tmp_path: Path) -> None:
    kernel, plan = set_up(tmp_path)
    before = tree(tmp_path)
    apply(kernel, plan)
    kernel.grub_result = Done(1, "cannot find a device for /")
    left, lines = undo(kernel)
    assert left == 1 and any("update-grub" in line for line in lines)
    assert kernel.text(tmp_path / f"sys/bus/pci/devices/{CARD}/sriov_numvfs") == "0"
    kernel.grub_result = None
    assert undo(kernel)[0] == 0 and tree(tmp_path) == before
