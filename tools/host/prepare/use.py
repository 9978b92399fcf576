# SPDX-License-Identifier: BSD-3-Clause
"""Whether somebody uses a function of a card."""

import os
import re
from contextlib import suppress

from host.prepare.cards import DEVICES, VFIO, card
from host.prepare.login import is_up
from host.prepare.system import StepError
from vcmts.system.files import Files

USERSPACE = re.compile(r"vfio|uio|igb_uio")  # drivers whose devices have no interface


def opened_by(files: Files, process: str) -> set[str]:
    """What a process has open; it may open and close files, or end, meanwhile."""
    found = set()
    for name in files.names(f"proc/{process}/fd", r"[0-9]+"):
        with suppress(OSError):
            found.add(os.readlink(files.path(f"proc/{process}/fd/{name}")))
    return found


def device_files(files: Files, address: str) -> set[str]:
    """By which a process has the device: of VFIO, UIO, or the verbs beside a kernel's driver."""
    base = f"{DEVICES}/{address}"
    found = {f"/dev/{name}" for name in files.names(f"{base}/uio", r"uio[0-9]+")}
    found |= {
        f"/dev/infiniband/{name}"
        for name in files.names(f"{base}/infiniband_verbs", r"uverbs[0-9]+")
    }
    group = files.link(f"{base}/iommu_group")
    if group and files.link(f"{base}/driver") == VFIO:
        found |= {f"/dev/vfio/{group}", f"/dev/vfio/noiommu-{group}"}
        names = files.names(f"{base}/vfio-dev", r"(?:noiommu-)?vfio[0-9]+")
        found |= {f"/dev/vfio/devices/{name}" for name in names}
    return found


def users(files: Files, address: str) -> list[str]:
    """Processes that have a device open: the kernel would wait for them without end."""
    wanted = device_files(files, address)
    found = []
    for process in files.names("proc", r"[0-9]+") if wanted else ():
        if wanted & opened_by(files, process):
            found.append(f"{files.text(f'proc/{process}/comm') or 'process'} {process}")
    return found


def not_in_use(files: Files, address: str) -> None:
    """Raises StepError."""
    found = users(files, address)
    if found:
        raise StepError(f"{address} is in use by {', '.join(found)}; stop it first")


def busy(files: Files, address: str) -> str:
    """Why a function that somebody made is not free; "" where it is."""
    found = users(files, address)
    if found:
        return f"in use by {', '.join(found)}"
    one = card(files, address)
    if one.driver and not one.interfaces and not USERSPACE.match(one.driver):
        return f"{one.driver} has it, but no interface is seen: it may be a container's"
    up = [name for name in one.interfaces if is_up(files, name)]
    return f"its interface {up[0]} is up" if up else ""
