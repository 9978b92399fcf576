# SPDX-License-Identifier: BSD-3-Clause
"""Whose socket it is: keys go to a server of root's, of ours, or of whom root gave the folder."""

import os
import pwd
import socket
import stat
import struct
from pathlib import Path

CREDENTIALS = struct.Struct("3i")  # process, user, group
LINKS_MOST = 16
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UntrustedError(PermissionError):
    """Another user listens there."""

    def __init__(self, text: str) -> None:
        super().__init__(0, text)


def name_of(user: int) -> str:
    try:
        return f"user {pwd.getpwuid(user).pw_name} ({user})"
    except KeyError:
        return f"user {user}"


def closed(folder: Path, users: set[int]) -> bool:
    """Whether only these users can have put there what is in it."""
    state = folder.stat()
    return state.st_uid in users and not state.st_mode & OTHERS_WRITE


def users_of(path: Path) -> set[int]:
    """Who may serve at this path: root, this user, and owners of its folders that these have made.

    A folder in /tmp, where everybody may make one, says nothing of its owner."""
    users, links = {0, os.geteuid()}, 0
    here, ahead = Path("/"), [*path.absolute().parent.parts[1:]]
    while ahead:
        part = ahead.pop(0)
        if part == "..":
            here = here.parent
            continue
        try:
            state = (here / part).lstat()
            own = closed(here, users)
        except OSError:
            return users
        if not own and state.st_uid not in users:
            return users
        users.add(state.st_uid)
        if not stat.S_ISLNK(state.st_mode):
            here /= part
            continue
        links += 1
        target = (here / part).readlink()
        if links > LINKS_MOST:
            return users
        if target.is_absolute():
            here = Path("/")
        ahead = [*(name for name in target.parts if name != "/"), *ahead]
    return users


def folder_fault(folder: Path) -> str:
    """Why nothing in this folder is believed, which has a name that others know; "" where it is, or
    cannot be looked at."""
    try:
        state = folder.lstat()
        users = users_of(folder)
        own = closed(folder.parent, users)
    except OSError:
        return ""
    if own:
        return ""
    if stat.S_ISLNK(state.st_mode):
        return f"{folder}: found a symbolic link of {name_of(state.st_uid)}; remove it"
    if state.st_uid not in users:
        return (
            f"{folder}: found a folder of {name_of(state.st_uid)}, allowed: of "
            f"{name_of(os.geteuid())}; remove it"
        )
    if state.st_mode & OTHERS_WRITE:
        mode = stat.S_IMODE(state.st_mode)
        return f"{folder}: found a folder that others may write to (mode {mode:04o}); chmod go-w"
    return ""


def check_peer(connection: socket.socket, path: Path) -> None:
    """Raises UntrustedError where another user listens at `path`."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    _, user, _ = CREDENTIALS.unpack(told)
    users = users_of(path)
    if user not in users:
        allowed = ", ".join(name_of(one) for one in sorted(users))
        raise UntrustedError(f"served by {name_of(user)}, allowed: {allowed}")


def connect_fault(path: Path, error: OSError) -> str:
    """Why a socket that the user named does not answer, with what helps."""
    if isinstance(error, UntrustedError) or not isinstance(error, PermissionError):
        return error.strerror or str(error)
    for place, what in ((path, "socket"), (path.parent, "folder")):
        try:
            state = place.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(state.st_mode)
        return (
            f"no permission: its {what} is of {name_of(state.st_uid)} (mode {mode:04o}); "
            "ask as that user or as root"
        )
    return "no permission: its folder cannot be looked into; ask as root"
