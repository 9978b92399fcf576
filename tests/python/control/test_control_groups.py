# SPDX-License-Identifier: BSD-3-Clause
"""A socket that exists and cannot be used: the tool says what the user needs."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from vcmts.control import sockets

USER, GROUP, OWN_GROUP = 54321, 54323, 54324  # unused IDs

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become other users")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as of the service, of root and GROUP, with a socket of root alone."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as server:
        Path(name).chmod(0o755)
        folder = Path(name) / "vcmts"
        folder.mkdir()
        server.bind(str(folder / "control.sock"))
        server.listen()
        (folder / "control.sock").chmod(0o600)
        os.chown(folder, 0, GROUP)
        os.chown(folder / "control.sock", 0, GROUP)
        folder.chmod(0o750)
        monkeypatch.setattr(sockets, "folders", lambda: [folder])
        monkeypatch.setattr(sockets, "processes", lambda: iter([]))
        yield folder


def fault(*groups: int) -> str:
    """What is reported to an ordinary user with these groups."""
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        os.setgroups(groups)
        os.setresgid(OWN_GROUP, OWN_GROUP, OWN_GROUP)
        os.setresuid(USER, USER, USER)
        text = sockets.no_server_fault()
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    return text


def test_user_outside_of_the_group_is_asked_to_join(service: Path) -> None:
    assert fault() == (
        f"{service}/control.sock: no permission: its folder belongs to user root (0) (mode 0750); "
        f"join the group {GROUP}, or run this as that user or as root"
    )


def test_member_learns_the_mode(service: Path) -> None:
    text = fault(GROUP)
    assert "its socket belongs to user root (0) (mode 0600)" in text
    assert "; start vcmtsd with --control-mode 0660, or run this as that user or as root" in text


def test_socket_of_the_group_is_reported_if_its_folder_is_open(service: Path) -> None:
    service.chmod(0o755)
    (service / "control.sock").chmod(0o660)
    assert f"(mode 0660); join the group {GROUP}, or run" in fault()


def test_folder_of_one_user_is_skipped(service: Path) -> None:
    service.chmod(0o700)
    assert fault() == fault(GROUP)
    assert fault().startswith("found no vcmtsd in service")


def test_usable_socket_is_no_fault(service: Path) -> None:
    (service / "control.sock").chmod(0o660)
    assert fault(GROUP).startswith("found no vcmtsd in service")
