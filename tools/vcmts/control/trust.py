# SPDX-License-Identifier: BSD-3-Clause
"""Checks the owner of a socket's server, as clients send keys. Trusted are root, the own user, and
users to whom root gave the socket's folder."""

import os
import socket
import stat
import struct
from pathlib import Path

from vcmts.system.processes import group_name, user_name

CREDENTIALS = struct.Struct("3i")  # process, user, group
MAX_LINKS = 16
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UntrustedError(PermissionError):
    """An untrusted user runs the server."""

    def __init__(self, text: str) -> None:
        super().__init__(0, text)


def only_writable_by(folder: Path, users: set[int]) -> bool:
    """Whether only these users can create files in the folder."""
    state = folder.stat()
    return state.st_uid in users and not state.st_mode & OTHERS_WRITE


def trusted_users(path: Path) -> set[int]:
    """Users that may run a server at this path: root, this user, and owners of folders that these
    created. The owner of a folder in /tmp is not trusted, as anyone can create one."""
    users, links = {0, os.geteuid()}, 0
    here, remaining = Path("/"), [*path.absolute().parent.parts[1:]]
    while remaining:
        part = remaining.pop(0)
        if part == "..":
            here = here.parent
            continue
        try:
            state = (here / part).lstat()
            own = only_writable_by(here, users)
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
        if links > MAX_LINKS:
            return users
        if target.is_absolute():
            here = Path("/")
        remaining = [*(name for name in target.parts if name != "/"), *remaining]
    return users


def folder_fault(folder: Path) -> str:
    """Returns why sockets in this folder are not trusted; "" if they are, or if the folder cannot
    be read."""
    try:
        state = folder.lstat()
        users = trusted_users(folder)
        own = only_writable_by(folder.parent, users)
    except OSError:
        return ""
    if own:
        return ""
    if stat.S_ISLNK(state.st_mode):
        return f"{folder}: found a symbolic link of {user_name(state.st_uid)}; remove it"
    if state.st_uid not in users:
        return (
            f"{folder}: found a folder of {user_name(state.st_uid)}, allowed: of "
            f"{user_name(os.geteuid())}; remove it"
        )
    if state.st_mode & OTHERS_WRITE:
        mode = stat.S_IMODE(state.st_mode)
        return f"{folder}: found a folder that others may write to (mode {mode:04o}); chmod go-w"
    return ""


def check_peer(connection: socket.socket, path: Path) -> None:
    """Raises UntrustedError if an untrusted user runs the server at `path`."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    _, user, _ = CREDENTIALS.unpack(data)
    users = trusted_users(path)
    if user not in users:
        allowed = ", ".join(user_name(one) for one in sorted(users))
        raise UntrustedError(f"served by {user_name(user)}, allowed: {allowed}")


def connect(path: Path, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    """Connects to a socket of vcmtsd. Raises OSError if there is no server, or an untrusted one."""
    connection = socket.socket(socket.AF_UNIX, kind)
    try:
        connection.connect(str(path))  # may block if the backlog is full
        check_peer(connection, path)
    except OSError:
        connection.close()
        raise
    return connection


def peer_process(connection: socket.socket) -> int:
    """The process ID of the server at the other end; 0 in another PID namespace."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process: int = CREDENTIALS.unpack(data)[0]
    return process


def group_advice(state: os.stat_result, needed: int) -> str:
    """How a user gets to a socket, or its folder, through its group; "" if the group cannot help.
    `needed`: the permission bits of the group that the access needs."""
    member = state.st_gid in (os.getegid(), *os.getgroups())
    allowed = state.st_mode & needed == needed
    if member and not allowed and stat.S_ISSOCK(state.st_mode):
        return "start vcmtsd with --control-mode 0660, or "
    if allowed and not member and state.st_gid != 0:
        return f"join the group {group_name(state.st_gid)}, or "
    return ""


def connect_fault(path: Path, error: OSError) -> str:
    """Describes why the connection failed, and what to do."""
    if isinstance(error, UntrustedError) or not isinstance(error, PermissionError):
        return error.strerror or str(error)
    for file, what, needed in ((path, "socket", 0o060), (path.parent, "folder", 0o010)):
        try:
            state = file.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(state.st_mode)
        return (
            f"no permission: its {what} belongs to {user_name(state.st_uid)} (mode {mode:04o}); "
            f"{group_advice(state, needed)}run this as that user or as root"
        )
    return "no permission: its folder is not readable; run this as root"
