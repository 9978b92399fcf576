# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a plan: each sets the state of one target, such as a file or a kernel setting.

Each kind of step reads, sets and restores a state. Kinds for cards and drivers are in
host.prepare.card_steps.
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

MAX_TEXT = 1 << 20
PAGES = "nr_hugepages"


class GoneError(Exception):
    """The target of a step does not exist: a card, an interface, a function."""


class LeftError(Exception):
    """A step cannot be undone, as another program needs the present state."""


@dataclass(frozen=True)
class Step:
    kind: str
    target: str  # a file below the root, the address of a card, or CARD/INDEX of a function
    wanted: Any
    what: str  # for people
    refresh: str = ""  # program that must read the changed target: one of REFRESHED_BY
    made: bool = False  # an earlier step created the target, and undo of that step removes it

    def stored(self) -> Json:
        return asdict(self)


def step_of(stored: Json) -> Step:
    """Converts a journal entry. Raises StepError if it is invalid."""
    try:
        return Step(**stored)
    except TypeError as error:
        raise StepError(f"the journal has an invalid step: {stored.get('target')}") from error


@dataclass(frozen=True)
class Kind:
    """The functions of a kind of step. `now` and `before` are states as `state` returns them."""

    state: Callable[[System, Step], Any]  # raises GoneError
    change: Callable[[System, Step, Any], None]  # (system, step, now)
    restore: Callable[[System, Step, Any], None]  # (system, step, before)
    reached: Callable[[Step, Any], bool]  # whether `now` is the planned state
    # (step, now, before): whether no other program changed the target since
    ours: Callable[[Step, Any, Any], bool]


def equal(step: Step, now: Any) -> bool:
    return bool(now == step.wanted)


def unchanged(step: Step, now: Any, before: Any) -> bool:
    return now in (before, step.wanted)


def parts_unchanged(step: Step, now: Any, before: Any) -> bool:
    """For states that are set in several writes: each part has its old or its planned value."""
    return all(now[key] in (before[key], step.wanted[key]) for key in step.wanted)


# ---- files and links of the file system


def file_state(system: System, step: Step) -> Any:
    """The link, or the text with mode and owner; None: no file."""
    path = system.path(step.target)
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return {"link": os.readlink(path)}
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_TEXT:
        raise StepError(f"/{step.target}: it exists and is not a text file")
    return {
        "text": path.read_bytes().decode("latin-1"),
        "mode": stat.S_IMODE(found.st_mode),
        "owner": [found.st_uid, found.st_gid],
    }


def without_owner(state: Any) -> Any:
    return {k: v for k, v in state.items() if k != "owner"} if isinstance(state, dict) else state


def file_reached(step: Step, now: Any) -> bool:
    return bool(without_owner(now) == step.wanted)


def file_unchanged(step: Step, now: Any, before: Any) -> bool:
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


# ---- kernel settings in /sys and /proc


def value_state(system: System, step: Step) -> str:
    path = system.path(step.target)
    if not path.is_file():
        raise GoneError(f"/{step.target} does not exist")
    return system.files.text(step.target)


def is_pages(step: Step) -> bool:
    return step.target.endswith(PAGES)


def value_reached(step: Step, now: Any) -> bool:
    """More huge pages than planned are fine: another program needs them."""
    if is_pages(step):
        return str(now).isdigit() and int(now) >= int(step.wanted)
    return equal(step, now)


def value_unchanged(step: Step, now: Any, before: Any) -> bool:
    """The kernel may have allocated fewer huge pages than planned."""
    if is_pages(step) and str(now).isdigit() and str(before).isdigit():
        return int(before) <= int(now) <= int(step.wanted)
    return unchanged(step, now, before)


def value_change(system: System, step: Step, now: Any) -> None:
    system.set(step.target, step.wanted)
    got = value_state(system, step)
    if not value_reached(step, got):
        why = ": memory is fragmented, reboot to get them" if is_pages(step) else ""
        raise StepError(f"{step.what}: the kernel set {got or 'nothing'}{why}")


def value_restore(system: System, step: Step, before: Any) -> None:
    system.set(step.target, before)


# ---- options of kernelstub, which stores the kernel arguments in its own file


def options_state(system: System, step: Step) -> Any:
    """Whether each wanted argument is configured."""
    try:
        found = json.loads(system.files.text(KERNELSTUB) or "{}")
        listed = found.get("user", {}).get("kernel_options", [])
    except (ValueError, AttributeError) as error:
        raise StepError(f"/{KERNELSTUB}: not a file of kernelstub") from error
    return {word: word in listed for word in step.wanted}


def options_change(system: System, step: Step, now: Any) -> None:
    system.call("kernelstub", "--add-options", " ".join(word for word in now if not now[word]))


def options_restore(system: System, step: Step, before: Any) -> None:
    now = options_state(system, step)
    added = [word for word in before if now.get(word) and not before[word]]
    if added:
        system.call("kernelstub", "--delete-options", " ".join(added))


KINDS = {
    "file": Kind(file_state, file_change, file_restore, file_reached, file_unchanged),
    "value": Kind(value_state, value_change, value_restore, value_reached, value_unchanged),
    "options": Kind(options_state, options_change, options_restore, equal, parts_unchanged),
}


REFRESHED_BY = ("grub", "kernel-install", "systemd", "udev")


def refresh(system: System, program: str) -> None:
    """Makes a program read changed files: one of REFRESHED_BY, or "" for none."""
    if program == "grub":
        system.call("update-grub")
    elif program == "kernel-install":
        release = system.files.text("proc/sys/kernel/osrelease")
        system.call("kernel-install", "add", release, f"/boot/vmlinuz-{release}")
    elif program == "systemd" and system.path("run/systemd/system").is_dir():
        system.call("systemctl", "daemon-reload")
    elif program == "udev" and system.path("run/udev/control").exists():
        system.call("udevadm", "control", "--reload")
