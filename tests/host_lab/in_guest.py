#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts host` on a real kernel with real virtual functions, in a virtual machine. Called by
`make host-test`.

The first card is an igb, the second one serves the login. One process runs all commands, as
starting Python takes seconds in an emulated machine."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(CHECKOUT / "tools"),
    *map(str, CHECKOUT.glob(".venv/lib/python3*/site-packages")),
]

from vcmts import cli  # noqa: E402

CARD, LOGIN = os.environ["LAB_NICS"].split()[:2]
PCI = Path("/sys/bus/pci/devices")
PLAN = Path("/tmp/plan")
JOURNAL = Path("/var/lib/vcmts-host/journal")
GRUB = """#!/bin/sh
cat /etc/default/grub.d/*.cfg >/boot/grub.cfg 2>/dev/null || : >/boot/grub.cfg
"""


def progress(text: str) -> None:
    print(f"host-test: {text}, {time.monotonic():.0f} s", flush=True)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def vcmts(*arguments: str, status: int = 0) -> str:
    """Runs `vcmts host`, checks its exit status and returns its output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        exit_status = cli.main(["host", *arguments])
    assert exit_status == status, f"{arguments}: status {exit_status}\n{output.getvalue()}"
    return output.getvalue()


def text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def interface(card: str) -> str:
    return next((PCI / card / "net").iterdir()).name


def function(index: int) -> str:
    return (PCI / CARD / f"virtfn{index}").readlink().name


def driver(device: str) -> str:
    link = PCI / device / "driver"
    return link.readlink().name if link.is_symlink() else ""


def links() -> dict[str, str]:
    result = {}
    for line in run("ip", "-o", "link", "show").splitlines():
        name, flags = line.split(": ")[1], line.split("<")[1].split(">")[0].split(",")
        mtu = re.search(r"mtu \d+", line)
        functions = re.findall(r"vf \d+ .*", line)
        result[f"link {name}"] = f"{'UP' in flags} {mtu and mtu[0]} {functions}"
    return result


def state() -> dict[str, str]:
    """Everything that `vcmts host` may change, and the login card."""
    devices = [
        CARD,
        LOGIN,
        *(path.readlink().name for path in sorted((PCI / CARD).glob("virtfn*"))),
    ]
    result = {f"driver of {name}": driver(name) for name in devices}
    for name in devices:
        for file in ("driver_override", "sriov_numvfs", "sriov_drivers_autoprobe"):
            result[f"{file} of {name}"] = text(PCI / name / file)
    pages = Path("/sys/devices/system/node").glob("node*/hugepages/*/nr_hugepages")
    for path in [*pages, *Path("/proc/sys/net/ipv6/conf").glob("*/disable_ipv6")]:
        result[str(path)] = text(path)
    result |= links()
    result["vfio-pci"] = str(Path("/sys/bus/pci/drivers/vfio-pci").is_dir())
    for folder in ("/etc", "/boot", "/var/lib"):
        for path in sorted(Path(folder).rglob("*")):
            what = str(path.readlink()) if path.is_symlink() else ""
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
                what = path.read_bytes().decode("latin-1")
            result[str(path)] = f"{path.lstat().st_mode:o} {what}"
    return result


def check_state(before: dict[str, str], reason: str, *, restored: bool = False) -> None:
    """Compares the current state with an earlier one. With `restored`, apply has redone lost
    changes: its journal has new lines for them."""
    now = state()
    if restored:
        lines = now[str(JOURNAL)].removeprefix(before[str(JOURNAL)]).splitlines()
        assert lines and all(line.startswith('{"event":"done",') for line in lines), lines
        now[str(JOURNAL)] = before[str(JOURNAL)]
    for name in sorted({*before, *now}):
        old, new = before.get(name, "missing"), now.get(name, "missing")
        assert old == new, f"{reason}: {name}: {old!r} before, {new!r} now"


def set_up() -> str:
    """Gives the login card an address and the default route, and installs a boot loader's files,
    which the guest lacks. Returns the interface of the login."""
    name = interface(LOGIN)
    run("ip", "address", "add", "10.77.0.1/24", "dev", name)
    run("ip", "link", "set", name, "up")
    run("ip", "route", "add", "default", "via", "10.77.0.2")
    for folder in ("/etc/default/grub.d", "/boot", "/usr/sbin"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    Path("/usr/sbin/update-grub").write_text(GRUB)
    Path("/usr/sbin/update-grub").chmod(0o755)
    run("update-grub")
    subprocess.run(["modprobe", "-r", "vfio-pci"], check=False)
    return name


def check_plan(login: str) -> None:
    progress("check")
    print(vcmts("check", status=1))
    progress("plan")
    print(vcmts("plan", "--network-vlan", "10", "--rphy-vlan", "20", "-o", str(PLAN)))
    report = (PLAN / "plan.md").read_text()
    assert f"interface {login}: your SSH session uses it" in report
    assert not [p for p in PLAN.rglob("files/**/*") if p.is_file() and LOGIN in p.read_text()]
    assert "it is not touched" in vcmts("plan", "--cards", LOGIN, status=2)


def check_apply(before: dict[str, str]) -> dict[str, str]:
    vcmts("apply", "--dry-run", str(PLAN))
    check_state(before, "a dry run changes the state")
    progress("apply")
    print(vcmts("apply", str(PLAN)))
    report = (PLAN / "plan.md").read_text()
    shown = run("ip", "link", "show", interface(CARD))
    print(shown)
    assert text(PCI / CARD / "sriov_numvfs") == "2"
    assert [driver(function(n)) for n in (0, 1)] == ["vfio-pci", "vfio-pci"]
    assert all(function(n) in report for n in (0, 1)), "other PCI addresses than planned"
    assert re.search(r"vf 0 .*vlan 10, spoof checking off", shown)
    assert re.search(r"vf 1 .*vlan 20, spoof checking on", shown)
    assert "isolcpus=" in text(Path("/boot/grub.cfg"))
    after = state()
    assert after != before
    progress("apply, second time")
    assert "everything is as planned" in vcmts("apply", str(PLAN))
    check_state(after, "a second apply makes another state")
    assert "applied: " in vcmts("check")
    return after


def check_restart(after: dict[str, str]) -> None:
    progress(
        "after a restart, without functions and pages: the script of the service restores them"
    )
    for n in (0, 1):
        Path("/sys/bus/pci/drivers/vfio-pci/unbind").write_text(function(n))
    (PCI / CARD / "sriov_numvfs").write_text("0")
    for path in Path("/sys/devices/system/node").glob("node*/hugepages/*-2048kB/nr_hugepages"):
        path.write_text("0")
    for _ in range(2):
        run("sh", "/var/lib/vcmts-host/prepare")
        check_state(after, "the script makes another state")


def check_in_use(after: dict[str, str]) -> None:
    progress("a process has a function open")
    group = (PCI / function(0) / "iommu_group").readlink().name
    with Path(f"/dev/vfio/{group}").open("r+b", buffering=0):
        output = vcmts("undo", status=1)
    print(output)
    assert f"{function(0)} is in use by" in output
    check_state(after, "a refused undo changes the state")


def check_killed_apply(before: dict[str, str], lines: int) -> None:
    """Kills apply once the journal has this number of lines; undo then restores the state."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            vcmts("apply", str(PLAN))
        os._exit(0)
    while text(JOURNAL).count("\n") < lines and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    output = vcmts("undo")
    print(f"killed at line {lines}: {output.count('undone: ')} changes undone", flush=True)
    check_state(before, "undo does not restore the state")


def check_existing_functions(before: dict[str, str]) -> None:
    """`vcmts host` uses and restores two VFs that another process created."""
    progress("functions created by another process")
    (PCI / CARD / "sriov_numvfs").write_text("2")
    name = interface(CARD)
    for n in (0, 1):
        run("ip", "link", "set", "dev", name, "vf", str(n), "mac", f"02:00:00:00:00:0{n + 1}")
    created = state()
    assert created != before
    vcmts("plan", "--network-vlan", "30", "-o", str(PLAN))
    assert "2 functions of another program" in (PLAN / "plan.md").read_text()
    vcmts("apply", str(PLAN))
    assert [driver(function(n)) for n in (0, 1)] == ["vfio-pci", "vfio-pci"]
    group = (PCI / function(0) / "iommu_group").readlink().name
    with Path(f"/dev/vfio/{group}").open("r+b", buffering=0):
        run("ip", "link", "set", "dev", name, "vf", "0", "vlan", "31")
        output = vcmts("apply", str(PLAN), status=1)
    in_use = f"{function(0)} is in use by" in output
    assert in_use or "another program changed it" in output, output
    run("ip", "link", "set", "dev", name, "vf", "0", "vlan", "30")
    vcmts("undo")
    check_state(created, "undo does not restore the existing functions")
    (PCI / CARD / "sriov_numvfs").write_text("0")


def run_as_by_sudo() -> int:
    """Runs main() in a child: as under sudo, only its parent has SSH_CONNECTION."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    del os.environ["SSH_CONNECTION"]
    try:
        status = main()
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)


def main() -> int:
    login = set_up()
    before = state()
    check_plan(login)
    check_state(before, "plan changes the state")
    after = check_apply(before)
    check_restart(after)
    check_in_use(after)
    progress("undo")
    print(vcmts("undo"))
    check_state(before, "undo does not restore the state")
    check_existing_functions(before)
    check_state(before, "the test does not restore the state")
    vcmts("plan", "--network-vlan", "10", "--rphy-vlan", "20", "-o", str(PLAN))
    progress("apply is killed at several lines of the journal")
    for lines in range(3, 33, 4):
        check_killed_apply(before, lines)
    assert "10.77.0.1" in run("ip", "-o", "address", "show", "dev", login)
    assert f"default via 10.77.0.2 dev {login}" in run("ip", "route")
    progress("ok")
    return 0


if __name__ == "__main__":
    sys.exit(run_as_by_sudo())
