# SPDX-License-Identifier: BSD-3-Clause
"""Finds and kills processes of a pod at a moment of a reload. The node's processes are visible."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from k8s.lab import POD, uid
from patience import TIMEOUT


def pod_processes(name: str = POD) -> dict[int, str]:
    """Command lines of the processes of a pod's containers, by ID."""
    wanted = f"pod{uid(name)}"
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            groups = (folder / "cgroup").read_text(encoding="utf-8").replace("_", "-")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended
        if wanted in groups and words:
            found[int(folder.name)] = words
    return found


@dataclass(frozen=True)
class Processes:
    """The first process of a pod's container, and vcmtsd."""

    first: int
    vcmtsd: int

    def root(self) -> Path:
        return Path(f"/proc/{self.first}/root")

    def run_folder(self) -> Path:
        return self.root() / "run" / "vcmts"

    def mounted(self) -> str:
        """The folder of the mounted ConfigMap's version."""
        return os.readlink(self.root() / "etc/vcmts/config/..data")

    def configuration(self) -> int:
        """The inode of vcmtsd's configuration, which each change replaces."""
        return (self.run_folder() / "vcmts.yaml").stat().st_ino


def find(name: str = POD) -> Processes:
    found = pod_processes(name)
    (vcmtsd,) = (number for number, words in found.items() if "/vcmtsd run " in words)
    (first,) = (number for number, words in found.items() if "vcmts pod " in words)
    return Processes(first, vcmtsd)


def kill_when(condition: Callable[[], bool], victim: int) -> None:
    """Kills a process as soon as the condition is true. Polls without a pause: some moments of a
    reload last for milliseconds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "the moment did not come"
    os.kill(victim, signal.SIGKILL)
