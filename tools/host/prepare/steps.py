# SPDX-License-Identifier: BSD-3-Clause
"""A step of a preparation: what is to be so at one place of a machine.

Each kind says what is there now, makes it as wanted, and makes it again what it was. The kinds of
cards and drivers are in host.prepare.card_steps.
"""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from host.prepare.plan import KERNELSTUB
from host.prepare.system import StepError, System
from vcmts.jsons import Json

MOST_TEXT = 1 << 20
PAGES = "nr_hugepages"


class GoneError(Exception):
    """What a step is about is not there (any more): a card, an interface, a function."""


class LeftError(Exception):
    """Why something is not made what it was: somebody else needs it as it is now."""


@dataclass(frozen=True)
class Step:
    kind: str
    target: str  # a file below the root, a card by its address, a function as CARD/INDEX
    wanted: Any
    what: str  # for people
    refresh: str = ""  # who has to be told when it changed: one of REFRESHED_BY
    made: bool = False  # its target is there by a step before it, and goes with that one

    def stored(self) -> Json:
        return asdict(self)


def step_of(stored: Json) -> Step:
    """Of the journal. Raises StepError."""
    try:
        return Step(**stored)
    except TypeError as error:
        raise StepError(f"the journal has a step that is none: {stored.get('target')}") from error


@dataclass(frozen=True)
class Kind:
    state: Callable[[System, Step], Any]  # raises GoneError
    change: Callable[[System, Step, Any], None]  # of what is there now
    restore: Callable[[System, Step, Any], None]  # of what was there before
    reached: Callable[[Step, Any], bool]
    ours: Callable[[Step, Any, Any], bool]  # now and before: whether nobody else changed it


def equal(step: Step, now: Any) -> bool:
    return bool(now == step.wanted)


def unchanged(step: Step, now: Any, before: Any) -> bool:
    return now in (before, step.wanted)


def by_parts(step: Step, now: Any, before: Any) -> bool:
    """Of what is changed in several writes: each part is the old or the new one."""
    return all(now[key] in (before[key], step.wanted[key]) for key in step.wanted)


# ---- files and links of the file system


def file_state(system: System, step: Step) -> Any:
    path = system.path(step.target)
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return {"link": os.readlink(path)}
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_TEXT:
        raise StepError(f"/{step.target}: something is there that is no text file")
    return {
        "text": path.read_bytes().decode("latin-1"),
        "mode": stat.S_IMODE(found.st_mode),
        "owner": [found.st_uid, found.st_gid],
    }


def without_owner(state: Any) -> Any:
    return {k: v for k, v in state.items() if k != "owner"} if isinstance(state, dict) else state


def file_reached(step: Step, now: Any) -> bool:
    return bool(without_owner(now) == step.wanted)


def file_ours(step: Step, now: Any, before: Any) -> bool:
    return now == before or file_reached(step, now)


def put_state(system: System, step: Step, state: Any) -> None:
    if "link" in state:
        system.link(step.target, state["link"])
    else:
        owner = tuple(state["owner"]) if "owner" in state else None
        system.put(step.target, state["text"].encode("latin-1"), state["mode"], owner)


def file_change(system: System, step: Step, now: Any) -> None:
    owner = now.get("owner") if isinstance(now, dict) else None
    put_state(system, step, {**step.wanted, **({"owner": owner} if owner else {})})


def file_restore(system: System, step: Step, before: Any) -> None:
    if before is None:
        system.remove(step.target)
    else:
        put_state(system, step, before)


# ---- values of the kernel


def value_state(system: System, step: Step) -> str:
    path = system.path(step.target)
    if not path.is_file():
        raise GoneError(f"/{step.target} is not there")
    return system.files.text(step.target)


def is_pages(step: Step) -> bool:
    return step.target.endswith(PAGES)


def value_reached(step: Step, now: Any) -> bool:
    """More huge pages than are wanted are somebody else's."""
    if is_pages(step):
        return str(now).isdigit() and int(now) >= int(step.wanted)
    return equal(step, now)


def value_ours(step: Step, now: Any, before: Any) -> bool:
    """The kernel may have given fewer huge pages than it was asked for."""
    if is_pages(step) and str(now).isdigit() and str(before).isdigit():
        return int(before) <= int(now) <= int(step.wanted)
    return unchanged(step, now, before)


def value_change(system: System, step: Step, now: Any) -> None:
    system.set(step.target, step.wanted)
    got = value_state(system, step)
    if not value_reached(step, got):
        why = ": memory is in pieces, restart the machine to have them" if is_pages(step) else ""
        raise StepError(f"{step.what}: the kernel took {got or 'nothing'}{why}")


def value_restore(system: System, step: Step, before: Any) -> None:
    system.set(step.target, before)


# ---- options of kernelstub, which keeps those of the kernel's command line itself


def options_state(system: System, step: Step) -> Any:
    try:
        found = json.loads(system.files.text(KERNELSTUB) or "{}")
        listed = found.get("user", {}).get("kernel_options", [])
    except (ValueError, AttributeError) as error:
        raise StepError(f"/{KERNELSTUB}: it is not what kernelstub writes") from error
    return {word: word in listed for word in step.wanted}


def options_change(system: System, step: Step, now: Any) -> None:
    system.call("kernelstub", "--add-options", " ".join(word for word in now if not now[word]))


def options_restore(system: System, step: Step, before: Any) -> None:
    now = options_state(system, step)
    added = [word for word in before if now.get(word) and not before[word]]
    if added:
        system.call("kernelstub", "--delete-options", " ".join(added))


KINDS = {
    "file": Kind(file_state, file_change, file_restore, file_reached, file_ours),
    "value": Kind(value_state, value_change, value_restore, value_reached, value_ours),
    "options": Kind(options_state, options_change, options_restore, equal, by_parts),
}


REFRESHED_BY = ("grub", "kernel-install", "systemd", "udev")


def refresh(system: System, who: str) -> None:
    """Has those read again what changed who keep something of it."""
    if who == "grub":
        system.call("update-grub")
    elif who == "kernel-install":
        release = system.files.text("proc/sys/kernel/osrelease")
        system.call("kernel-install", "add", release, f"/boot/vmlinuz-{release}")
    elif who == "systemd" and system.path("run/systemd/system").is_dir():
        system.call("systemctl", "daemon-reload")
    elif who == "udev" and system.path("run/udev/control").exists():
        system.call("udevadm", "control", "--reload")
