# SPDX-License-Identifier: BSD-3-Clause
"""Finds processes and their threads in /proc, which shows those of all users."""

import grp
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


def user_name(user: int) -> str:
    try:
        return f"user {pwd.getpwuid(user).pw_name} ({user})"
    except KeyError:
        return f"user {user}"


def group_name(group: int) -> str:
    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)


@dataclass(frozen=True)
class Process:
    """`name`: of the program, at most 15 characters. `user`: effective user ID."""

    pid: int
    name: str
    user: int


def process(pid: int) -> Process | None:
    """The process with this ID; None if there is none."""
    folder = PROC / str(pid)
    try:
        name = (folder / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
        return Process(pid, name, folder.stat().st_uid)
    except OSError:
        return None


def processes() -> Iterator[Process]:
    """All processes, but those that /proc hides from this user (hidepid=)."""
    for name in os.listdir(PROC):
        if name.isdecimal() and (found := process(int(name))) is not None:
            yield found
