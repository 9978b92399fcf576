# SPDX-License-Identifier: BSD-3-Clause
"""Runs the guest's systemd, which starts vcmtsd by its unit.

systemd has its own namespaces. Its root is an overlay: the guest's root and the programs that
tests/vm/systemd unpacked are the lower layers; the installed package is in the upper one."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from host.prepare.cards import ADDRESS
from host.prepare.texts import vfio_rules
from vm.served import BUILD, CHECKOUT, run, thread_states, until

ROOT = Path("/run/system")
PROGRAMS = Path("/run/lower") / os.environ.get("VCMTS_BUILD", "build-v2") / "guest-systemd"
CONFIG = Path("usr/local/etc/vcmts/vcmts.yaml")
DROP_INS = Path("etc/systemd/system/vcmtsd.service.d")
MASKED = ("getty.target", "systemd-networkd.service", "systemd-resolved.service", "apt-daily.timer")
# A shell script that makes the overlay the root of its namespaces, and becomes systemd.
START = """
cd {root} && mkdir -p oldroot && mount --make-rprivate / && pivot_root . oldroot
mount -t proc proc /proc
umount -l /oldroot
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=kmsg
"""


def mount_root() -> None:
    """Mounts the overlay root. Its changes are lost when the machine stops."""
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


def copy_into(source: Path, folder: str) -> None:
    """Copies a file into a folder of the overlay."""
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(source, ROOT / folder)


def install(libraries: Path) -> None:
    """Installs the files as `meson install` does with the prefix /usr/local."""
    copy_into(BUILD / "src/vcmtsd", "usr/local/bin")
    for path in libraries.iterdir():
        copy_into(path, "usr/lib/x86_64-linux-gnu")
    copy_into(BUILD / "deploy/vcmtsd.service", "etc/systemd/system")
    copy_into(BUILD / "deploy/vcmts.conf", "etc/tmpfiles.d")
    copy_into(CHECKOUT / "deploy/sysusers/vcmts.conf", "etc/sysusers.d")
    wants = ROOT / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "vcmtsd.service").symlink_to("../vcmtsd.service")
    (ROOT / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    for name in MASKED:
        (ROOT / "etc/systemd/system" / name).symlink_to("/dev/null")


def write_udev_rules(devices: Sequence[str]) -> None:
    """Writes the udev rules of `vcmts host plan`, which give the devices to the unit's user."""
    rules = ROOT / "etc/udev/rules.d/70-vcmts-host.rules"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text("".join(f"{line}\n" for device in devices for line in vfio_rules(device)))


class System:
    """A systemd instance. `end` kills it and everything that it started."""

    def __init__(self, config: Path, options: str) -> None:
        mount_root()
        install(Path(os.environ["LD_LIBRARY_PATH"]))
        write_udev_rules(re.findall(ADDRESS, options))
        self.configure(config, options)
        unshare = ["unshare", "--mount", "--pid", "--cgroup", "--fork", "--kill-child"]
        self.process = subprocess.Popen([*unshare, "sh", "-euc", START.format(root=ROOT)])
        self.systemd_pid = 0
        until(self.is_started, "systemd starts")

    def is_started(self) -> bool:
        """Whether systemd runs in the namespace. Records its process ID."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        assert self.process.poll() is None, "systemd has exited"
        for pid in children.read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "systemd":
                self.systemd_pid = int(pid)
        return self.systemd_pid != 0

    def configure(self, config: Path, options: str) -> None:
        """Writes the configuration and the options of vcmtsd, before or after systemd's start."""
        folder = (self.root() / CONFIG).parent
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(config, folder / CONFIG.name)
        (folder / "vcmtsd.env").write_text(f'VCMTS_OPTIONS="{options}"\n')

    def root(self) -> Path:
        """The overlay, as the guest or systemd has it mounted."""
        pid = getattr(self, "systemd_pid", 0)
        return Path(f"/proc/{pid}/root") if pid else ROOT

    def run(self, *command: str) -> str:
        """Runs a command in the namespaces. Returns its output, whatever its exit status."""
        nsenter = ("nsenter", "--target", str(self.systemd_pid), "--mount", "--pid", "--root")
        done = subprocess.run(
            [*nsenter, "--wd", *command],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
        return done.stdout.strip()

    def state(self) -> str:
        return self.run("systemctl", "is-active", "vcmtsd")

    def journal(self) -> str:
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit=vcmtsd")

    def details(self) -> str:
        """Details for a failure message."""
        units = ("vcmtsd", "systemd-udevd", "systemd-sysusers", "systemd-tmpfiles-setup")
        shown = self.run("systemctl", "status", "--no-pager", *units)
        return f"{shown}\n{self.run('ls', '-l', '/dev/vfio')}"

    def wait_for_state(self, state: str) -> None:
        """Waits for this state of the unit. Fails with details if the unit has failed."""
        try:
            until(lambda: self.state() in (state, "failed"), f"vcmtsd becomes {state}")
        except AssertionError:
            print(self.details(), thread_states(self.process), sep="\n", flush=True)
            raise
        assert self.state() == state, f"{self.state()}\n{self.details()}"

    def status(self) -> dict[str, str]:
        """/proc/PID/status of vcmtsd."""
        for path in Path("/proc").glob("[0-9]*/status"):
            lines = path.read_text().splitlines()
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            if status["Name"] == "vcmtsd":
                return status
        raise AssertionError(f"no vcmtsd process\n{self.journal()}")

    def drop_in(self, name: str) -> None:
        """Installs only this drop-in of the unit, as an operator does."""
        folder = self.root() / DROP_INS
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(CHECKOUT / "deploy/systemd/vcmtsd.service.d" / name, folder)
        self.run("systemctl", "daemon-reload")

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
