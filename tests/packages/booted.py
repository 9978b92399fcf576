# SPDX-License-Identifier: BSD-3-Clause
"""Root filesystems of Debian in which systemd runs, and vcmtsd as its service. devtools/deb-test
creates the base, in which the packages are not yet installed."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from patience import TIMEOUT, within
from vcmts.paths import CHECKOUT

DEVTOOLS = CHECKOUT / "devtools"
PROGRAM = DEVTOOLS / "booted-root"
BASE = Path(os.environ.get("VCMTS_BASE", ""))
ROOTS = os.environ.get("VCMTS_ROOTS")  # folder of the roots; default: that of tempfile
PACKAGES = Path(os.environ.get("VCMTS_PACKAGES", ""))
PROFILE = "6ofdm-0sc-qam_300cms_aes"
CONFIG = "/etc/vcmts/vcmts.yaml"
SERVICE = "vcmtsd"
MEMIF = "role={role},id={id},rsize=11,socket-abstract=no,socket=/run/vcmts/{name}.sock"


def ports(role: str) -> str:
    """Options for the two ports, as memifs in the service's folder."""
    network, rphy = (
        MEMIF.format(role=role, id=number, name=name)
        for number, name in enumerate(("network", "rphy"))
    )
    return f"--network net_memif0,{network} --rphy net_memif1,{rphy}"


@dataclass(frozen=True)
class Root:
    """A booted root filesystem, in a folder of this machine."""

    folder: Path

    def call(
        self, *command: str, stdin: str | None = None, user: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command as root or another user, and returns its output, status included."""
        prefix = ("runuser", "-u", user, "--") if user else ()
        return subprocess.run(
            (PROGRAM, "run", self.folder, *prefix, *command),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    def run(self, *command: str, stdin: str | None = None, user: str | None = None) -> str:
        """Returns the output of a command that must succeed."""
        done = self.call(*command, stdin=stdin, user=user)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def sh(self, script: str) -> str:
        """Returns the output of a shell script that must succeed in each of its commands."""
        return self.run("bash", "-euc", script)

    def write(self, path: str, text: str) -> None:
        self.run("sh", "-c", 'mkdir -p "$(dirname "$1")" && cat >"$1"', "sh", path, stdin=text)

    def reboot(self) -> None:
        """Shuts it down and boots it again, with all its changes."""
        control("stop", self.folder)
        control("start", self.folder, (self.folder / "base").read_text().strip())

    def get(self, name: str, unit: str = SERVICE) -> str:
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", "--property", name, unit)

    def pid(self) -> int:
        return int(self.get("MainPID"))

    def journal(self) -> str:
        return self.run("journalctl", "--unit", SERVICE, "--output", "cat", "--no-pager")

    def serves(self) -> bool:
        """Whether the data plane answers and its unit is active."""
        if self.get("ActiveState") != "active":
            return False
        return self.call("vcmts", "control", "server.info").returncode == 0

    def wait_until_served(self) -> None:
        """Waits until the unit is active, which vcmtsd reports (Type=notify)."""
        self.wait(lambda: self.get("ActiveState") == "active", "an active unit")
        assert self.serves()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Waits for a state, with fewer commands than `until`."""

        def met() -> bool:
            if condition():
                return True
            time.sleep(0.3)
            return False

        assert within(met), f"timed out: {what}\n{self.journal()}"

    def install(self, *packages: str) -> str:
        """Installs packages that the base has downloaded."""
        return self.run("apt-get", "install", "--yes", "--no-install-recommends", *packages)


def control(command: str, *arguments: str | Path) -> str:
    """Runs a command of devtools/booted-root that must succeed."""
    done = subprocess.run(
        (PROGRAM, command, *arguments),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{command} {arguments}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@contextmanager
def booted(base: Path) -> Iterator[Root]:
    """Boots a copy of `base`, and removes it."""
    folder = Path(tempfile.mkdtemp(dir=ROOTS))
    try:
        control("start", folder, base)
        yield Root(folder)
    finally:
        control("remove", folder)


# Neither waits for the disk, nor lists manual pages. An operator's dpkg does both, for minutes.
FAST = """
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/fast
rm -f /var/lib/man-db/auto-update
"""


def copy_packages(root: Root) -> None:
    """Copies the packages to /packages, and makes a next version of them in /packages/next."""
    folder = Path(f"/proc/{control('pid', root.folder)}/root/packages")
    (folder / "next").mkdir(parents=True)
    for name in ("vcmts", "vcmts-traffic"):
        (file,) = PACKAGES.glob(f"{name}_*.deb")
        shutil.copy(file, folder)
        subprocess.run((DEVTOOLS / "deb-next", file, folder / "next"), check=True)
    root.sh(FAST)


def configure(root: Root, options: str = "") -> None:
    """Writes a configuration as docs/install.md does, and the unit's options."""
    root.sh(f"vcmts profile {PROFILE} >/tmp/vcmts.yaml")
    root.run("install", "-m", "640", "-g", "vcmts", "/tmp/vcmts.yaml", CONFIG)
    root.write(
        "/etc/vcmts/vcmtsd.env", f'VCMTS_OPTIONS="{ports("server")} --idle sleep {options}"\n'
    )


def install(root: Root) -> None:
    """Installs the package of the service. Its dependencies are in the base."""
    root.sh("dpkg --install /packages/vcmts_*.deb")


def install_traffic(root: Root) -> None:
    root.sh("dpkg --install /packages/vcmts-traffic_*.deb")


def upgrade(root: Root) -> None:
    """Upgrades the package of the service to the next version."""
    root.sh("apt-get install --yes /packages/next/vcmts_*.deb")
