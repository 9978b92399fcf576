# SPDX-License-Identifier: BSD-3-Clause
"""systemd in the guest, which serves by the unit.

In namespaces of its own, on the guest's root with its programs (tests/vm/systemd) below and what
the package would have installed above.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from host.prepare.cards import ADDRESS
from host.prepare.texts import vfio_rules
from vm.served import BUILD, CHECKOUT, run, until, where

ROOT = Path("/run/system")
PROGRAMS = Path("/run/lower") / os.environ.get("VCMTS_BUILD", "build-v2") / "guest-systemd"
CONFIG = Path("usr/local/etc/vcmts/vcmts.yaml")
DROP_INS = Path("etc/systemd/system/vcmtsd.service.d")
MASKED = ("getty.target", "systemd-networkd.service", "systemd-resolved.service", "apt-daily.timer")
# Mounts of this machine that systemd finds, and a root that it can leave nothing in.
START = """
cd {root} && mkdir -p oldroot && mount --make-rprivate / && pivot_root . oldroot
mount -t proc proc /proc
umount -l /oldroot
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=kmsg
"""


def mounted() -> None:
    """A root of the guest's and systemd's files; changes are lost with the machine."""
    above = Path("/run/above")
    for folder in (ROOT, above):
        folder.mkdir()
    run("mount", "-t", "tmpfs", "above", above)
    for name in ("upper", "work"):
        (above / name).mkdir()
    layers = f"lowerdir=/:{PROGRAMS},upperdir={above}/upper,workdir={above}/work"
    run("mount", "-t", "overlay", "-o", layers, "system", ROOT)
    for name in ("dev", "sys"):
        run("mount", "--rbind", f"/{name}", ROOT / name)
    run("mount", "-t", "tmpfs", "run", ROOT / "run")


def put(source: Path, *places: str) -> None:
    for place in places:
        (ROOT / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(source, ROOT / place)


def installed(libraries: Path) -> None:
    """As `meson install` does it with the prefix /usr/local."""
    put(BUILD / "src/vcmtsd", "usr/local/bin")
    for path in libraries.iterdir():
        put(path, "usr/lib/x86_64-linux-gnu")
    put(BUILD / "deploy/vcmtsd.service", "etc/systemd/system")
    put(BUILD / "deploy/vcmts.conf", "etc/tmpfiles.d")
    put(CHECKOUT / "deploy/sysusers/vcmts.conf", "etc/sysusers.d")
    wants = ROOT / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "vcmtsd.service").symlink_to("../vcmtsd.service")
    (ROOT / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    for name in MASKED:
        (ROOT / "etc/systemd/system" / name).symlink_to("/dev/null")


def given(devices: Sequence[str]) -> None:
    """To the user of the unit, as by the rules of `vcmts host plan`."""
    rules = ROOT / "etc/udev/rules.d/70-vcmts-host.rules"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text("".join(f"{line}\n" for device in devices for line in vfio_rules(device)))


class System:
    """systemd, from its start on; `end` ends it and all that it started."""

    def __init__(self, config: Path, options: str) -> None:
        mounted()
        installed(Path(os.environ["LD_LIBRARY_PATH"]))
        given(re.findall(ADDRESS, options))
        self.configure(config, options)
        words = ["unshare", "--mount", "--pid", "--cgroup", "--fork", "--kill-child"]
        self.process = subprocess.Popen([*words, "sh", "-euc", START.format(root=ROOT)])
        self.first = 0
        until(self.found, "systemd starts")

    def found(self) -> bool:
        """Whether the first process of the namespace is systemd by now."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        assert self.process.poll() is None, "systemd has ended"
        for pid in children.read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "systemd":
                self.first = int(pid)
        return self.first != 0

    def configure(self, config: Path, options: str) -> None:
        """Also while it runs: the file's folder is the same layer's."""
        folder = (self.root() / CONFIG).parent
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(config, folder / CONFIG.name)
        (folder / "vcmtsd.env").write_text(f'VCMTS_OPTIONS="{options}"\n')

    def root(self) -> Path:
        first = getattr(self, "first", 0)
        return Path(f"/proc/{first}/root") if first else ROOT

    def ask(self, *words: str) -> str:
        """A program beside it, and what that says, whatever its status is."""
        beside = ("nsenter", "--target", str(self.first), "--mount", "--pid", "--root", "--wd")
        done = subprocess.run(
            [*beside, *words],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
        return done.stdout.strip()

    def state(self) -> str:
        return self.ask("systemctl", "is-active", "vcmtsd")

    def said(self) -> str:
        return self.ask("journalctl", "--no-pager", "--output=cat", "--unit=vcmtsd")

    def told(self) -> str:
        """For people, where something is not as it should be."""
        units = ("vcmtsd", "systemd-udevd", "systemd-sysusers", "systemd-tmpfiles-setup")
        shown = self.ask("systemctl", "status", "--no-pager", *units)
        return f"{shown}\n{self.ask('ls', '-l', '/dev/vfio')}"

    def becomes(self, state: str) -> None:
        """A unit that fails meanwhile is told with its journal."""
        try:
            until(lambda: self.state() in (state, "failed"), f"vcmtsd becomes {state}")
        except AssertionError:
            print(self.told(), where(self.process), sep="\n", flush=True)
            raise
        found = self.state()
        assert found == state, f"{found}\n{self.told()}"

    def status(self) -> dict[str, str]:
        """Of vcmtsd, by the kernel."""
        for path in Path("/proc").glob("[0-9]*/status"):
            found = dict(
                line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line
            )
            if found["Name"] == "vcmtsd":
                return found
        raise AssertionError(f"no vcmtsd\n{self.said()}")

    def drop_in(self, name: str) -> None:
        """One of those that an operator copies."""
        folder = self.root() / DROP_INS
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(CHECKOUT / "deploy/systemd/vcmtsd.service.d" / name, folder)
        self.ask("systemctl", "daemon-reload")

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
