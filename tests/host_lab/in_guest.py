#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts host` on a real kernel with real functions: in a virtual machine whose first card is an
igb, and whose second one is the login's. Called by `make host-test`.

One process calls the command again and again: to start Python takes an emulated machine seconds.
"""

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


def say(text: str) -> None:
    print(f"host-test: {text}, {time.monotonic():.0f} s", flush=True)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def vcmts(*words: str, status: int = 0) -> str:
    """What the command says, which has to end with that status."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        found = cli.main(["host", *words])
    assert found == status, f"{words}: status {found}\n{said.getvalue()}"
    return said.getvalue()


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
    found = {}
    for line in run("ip", "-o", "link", "show").splitlines():
        name, flags = line.split(": ")[1], line.split("<")[1].split(">")[0].split(",")
        mtu = re.search(r"mtu \d+", line)
        functions = re.findall(r"vf \d+ .*", line)
        found[f"link {name}"] = f"{'UP' in flags} {mtu and mtu[0]} {functions}"
    return found


def state() -> dict[str, str]:
    """Everything that a preparation may change, and the login's card."""
    devices = [
        CARD,
        LOGIN,
        *(path.readlink().name for path in sorted((PCI / CARD).glob("virtfn*"))),
    ]
    found = {f"driver of {name}": driver(name) for name in devices}
    for name in devices:
        for file in ("driver_override", "sriov_numvfs", "sriov_drivers_autoprobe"):
            found[f"{file} of {name}"] = text(PCI / name / file)
    pages = Path("/sys/devices/system/node").glob("node*/hugepages/*/nr_hugepages")
    for path in [*pages, *Path("/proc/sys/net/ipv6/conf").glob("*/disable_ipv6")]:
        found[str(path)] = text(path)
    found |= links()
    found["vfio-pci"] = str(Path("/sys/bus/pci/drivers/vfio-pci").is_dir())
    for folder in ("/etc", "/boot", "/var/lib"):
        for path in sorted(Path(folder).rglob("*")):
            what = str(path.readlink()) if path.is_symlink() else ""
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
                what = path.read_bytes().decode("latin-1")
            found[str(path)] = f"{path.lstat().st_mode:o} {what}"
    return found


def same(before: dict[str, str], why: str, *, remade: bool = False) -> None:
    """`remade`: apply has made again what was lost, and its journal has lines more that say so."""
    now = state()
    if remade:
        more = now[str(JOURNAL)].removeprefix(before[str(JOURNAL)]).splitlines()
        assert more and all(line.startswith('{"event":"done",') for line in more), more
        now[str(JOURNAL)] = before[str(JOURNAL)]
    for name in sorted({*before, *now}):
        one, other = before.get(name, "not there"), now.get(name, "not there")
        assert one == other, f"{why}: {name}: {one!r} before, {other!r} now"


def set_up() -> str:
    """The login: an address, the default route. A boot loader: this machine was started by none."""
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


def planned(login: str) -> None:
    say("check")
    print(vcmts("check", status=1))
    say("plan")
    print(vcmts("plan", "--network-vlan", "10", "--rphy-vlan", "20", "-o", str(PLAN)))
    told = (PLAN / "plan.md").read_text()
    assert f"interface {login}: you are logged in over it" in told
    assert not [p for p in PLAN.rglob("files/**/*") if p.is_file() and LOGIN in p.read_text()]
    assert "it is not touched" in vcmts("plan", "--cards", LOGIN, status=2)


def applied(before: dict[str, str]) -> dict[str, str]:
    vcmts("apply", "--dry-run", str(PLAN))
    same(before, "a dry run changes something")
    say("apply")
    print(vcmts("apply", str(PLAN)))
    told = (PLAN / "plan.md").read_text()
    shown = run("ip", "link", "show", interface(CARD))
    print(shown)
    assert text(PCI / CARD / "sriov_numvfs") == "2"
    assert [driver(function(n)) for n in (0, 1)] == ["vfio-pci", "vfio-pci"]
    assert all(function(n) in told for n in (0, 1)), "other addresses than planned"
    assert re.search(r"vf 0 .*vlan 10, spoof checking off", shown)
    assert re.search(r"vf 1 .*vlan 20, spoof checking on", shown)
    assert "isolcpus=" in text(Path("/boot/grub.cfg"))
    after = state()
    assert after != before
    say("apply again")
    assert "everything is as planned" in vcmts("apply", str(PLAN))
    same(after, "applied again it is another")
    assert "applied: " in vcmts("check")
    return after


def restarted(after: dict[str, str]) -> None:
    say("as after a restart: without functions and pages, by the script that the service calls")
    for n in (0, 1):
        Path("/sys/bus/pci/drivers/vfio-pci/unbind").write_text(function(n))
    (PCI / CARD / "sriov_numvfs").write_text("0")
    for path in Path("/sys/devices/system/node").glob("node*/hugepages/*-2048kB/nr_hugepages"):
        path.write_text("0")
    for _ in range(2):
        run("sh", "/etc/vcmts/host-prepare")
        same(after, "the script makes another state")


def in_use(after: dict[str, str]) -> None:
    say("a process that has a function open")
    group = (PCI / function(0) / "iommu_group").readlink().name
    with Path(f"/dev/vfio/{group}").open("r+b", buffering=0):
        said = vcmts("undo", status=1)
    print(said)
    assert f"{function(0)} is in use by" in said
    same(after, "something is undone before that is found")


def killed(before: dict[str, str], lines: int) -> None:
    """As soon as the journal has so many."""
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
    said = vcmts("undo")
    print(f"killed at line {lines}: {said.count('undone: ')} changes undone", flush=True)
    same(before, "undone it is not what it was")


def functions_of_others(before: dict[str, str]) -> None:
    """Two that somebody made and gave an address: used, and put back as they were."""
    say("functions that somebody else made")
    (PCI / CARD / "sriov_numvfs").write_text("2")
    name = interface(CARD)
    for n in (0, 1):
        run("ip", "link", "set", "dev", name, "vf", str(n), "mac", f"02:00:00:00:00:0{n + 1}")
    there = state()
    assert there != before
    vcmts("plan", "--network-vlan", "30", "-o", str(PLAN))
    assert "2 functions, which are used as they are" in (PLAN / "plan.md").read_text()
    vcmts("apply", str(PLAN))
    assert [driver(function(n)) for n in (0, 1)] == ["vfio-pci", "vfio-pci"]
    group = (PCI / function(0) / "iommu_group").readlink().name
    with Path(f"/dev/vfio/{group}").open("r+b", buffering=0):
        run("ip", "link", "set", "dev", name, "vf", "0", "vlan", "31")
        said = vcmts("apply", str(PLAN), status=1)
    assert f"{function(0)} is in use by" in said or "somebody else changed it" in said, said
    run("ip", "link", "set", "dev", name, "vf", "0", "vlan", "30")
    vcmts("undo")
    same(there, "functions of others are not what they were")
    (PCI / CARD / "sriov_numvfs").write_text("0")


def as_by_sudo() -> int:
    """SSH_CONNECTION is in the environment of the process above only."""
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
    planned(login)
    same(before, "a plan changes something")
    after = applied(before)
    restarted(after)
    in_use(after)
    say("undo")
    print(vcmts("undo"))
    same(before, "undone it is not what it was")
    functions_of_others(before)
    same(before, "the machine is not what it was")
    vcmts("plan", "--network-vlan", "10", "--rphy-vlan", "20", "-o", str(PLAN))
    say("killed in the middle, many times")
    for lines in range(3, 33, 4):
        killed(before, lines)
    assert "10.77.0.1" in run("ip", "-o", "address", "show", "dev", login)
    assert f"default via 10.77.0.2 dev {login}" in run("ip", "route")
    say("ok")
    return 0


if __name__ == "__main__":
    sys.exit(as_by_sudo())
