# SPDX-License-Identifier: BSD-3-Clause
"""Tests which sockets the tool connects to, depending on the owners of folders and servers. Other
users are child processes, so the tests need root."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from patience import TIMEOUT, until
from vcmts import cli
from vcmts.control import sockets, trust
from vcmts.control.client import Client
from vcmts.paths import MistakeError
from vcmts.system.processes import Process, process, processes
from vcmts.telemetry import dpdk

OTHER, THIRD = 54321, 54322  # unused user IDs
GROUP = 54329  # their group
KEY = "5ec4e7b01dface9f8a7d3b6c2e1f4058"
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become other users")


def become(user: int | None) -> None:
    if user is not None:
        os.setgroups([])
        os.setresgid(GROUP, GROUP, GROUP)
        os.setresuid(user, user, user)


def serve(path: Path, kind: socket.SocketKind, log: IO[bytes]) -> None:
    """Logs connections and requests, and answers each request."""
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(str(path))
        listener.listen()
        log.write(b"listens\n")
        while True:
            connection = listener.accept()[0]
            log.write(b"connected\n")
            request = connection.recv(65536)
            log.write(b"got %r\n" % request)
            if request:
                connection.sendall(b'{"jsonrpc": "2.0", "result": {}, "id": 1}\n')
            connection.close()


@contextmanager
def listening(
    path: Path, user: int | None = None, kind: socket.SocketKind = socket.SOCK_STREAM
) -> Iterator[Path]:
    """Runs a server as the user (default: this one) in a child. Yields its log file."""
    with tempfile.NamedTemporaryFile(buffering=0) as log:
        pid = os.fork()
        if pid == 0:
            try:
                become(user)
                serve(path, kind, log)
            finally:
                os._exit(1)
        try:
            until(lambda: b"listens" in Path(log.name).read_bytes(), "listening")
            yield Path(log.name)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            path.unlink(missing_ok=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder with the mode of /tmp. Its path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="trust-", dir="/tmp") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


def make_folder(user: int, path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    os.chown(path, user, user)
    return path


def set_folders(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setattr(sockets, "folders", lambda: list(folders))


def install_key(*arguments: str) -> int:
    return cli.main(["control", *arguments, "key.install", "said=1", f"key={KEY}", f"iv={KEY}"])


@needs_root
def test_key_is_not_sent_to_server_of_another_user(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other user made /tmp/vcmts-0 before root's vcmtsd did, and serves there."""
    folder = make_folder(OTHER, open_folder / "vcmts-0")
    set_folders(monkeypatch, folder)
    with listening(folder / "1-control.sock", OTHER) as log:
        assert install_key() == 2
        assert b"connected" not in log.read_bytes()
        error = capsys.readouterr().err
        assert f"{folder}: found a folder of user {OTHER}, allowed: of user root (0); rem" in error
        assert install_key("--socket", str(folder / "1-control.sock")) == 2
        until(lambda: b"got" in log.read_bytes(), "the connection")
        assert b"got b''" in log.read_bytes() and KEY.encode() not in log.read_bytes()
    error = capsys.readouterr().err
    assert f"1-control.sock: served by user {OTHER}, allowed: user root (0)" in error


@needs_root
def test_symlink_of_another_user_is_refused(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = make_folder(0, open_folder / "aim", 0o700)
    link = open_folder / "vcmts-0"
    link.symlink_to(target)
    os.lchown(link, OTHER, OTHER)
    set_folders(monkeypatch, link)
    with listening(target / "1-control.sock") as log:
        assert install_key() == 2
        assert b"connected" not in log.read_bytes()
    assert f"{link}: found a symbolic link of user {OTHER}; remove it" in capsys.readouterr().err


@needs_root
def test_folder_writable_by_others_is_refused(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(0, open_folder / "vcmts-0", 0o777)
    set_folders(monkeypatch, folder)
    with listening(folder / "1-control.sock", OTHER) as log:
        assert install_key() == 2
        assert b"connected" not in log.read_bytes()
        assert "others may write to (mode 0777); chmod go-w" in capsys.readouterr().err
        assert install_key("--socket", str(folder / "1-control.sock")) == 2
        assert "served by user" in capsys.readouterr().err


@needs_root
def test_service_users_folder_is_trusted(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd makes /run/vcmts for the service's user, and root and its group connect there. A
    third user may not serve there, nor own folders above the socket."""
    run = make_folder(0, open_folder / "run")
    service = make_folder(OTHER, run / "vcmts", 0o770)
    set_folders(monkeypatch, service)
    with listening(service / "control.sock", OTHER) as log:
        assert install_key() == 0
        assert KEY.encode() in log.read_bytes()
    (service / "control.sock").unlink(missing_ok=True)
    service.chmod(0o777)
    with listening(service / "control.sock", THIRD), pytest.raises(trust.UntrustedError):
        Client(service / "control.sock")
    below = make_folder(THIRD, service / "below")
    assert trust.trusted_users(below / "x") == {0, OTHER}
    service.chmod(0o755)
    assert trust.trusted_users(below / "x") == {0, OTHER, THIRD}


@needs_root
def test_symlinks_in_the_path(open_folder: Path) -> None:
    """Root's symlinks are followed, others in a world-writable folder are not."""
    closed = make_folder(0, open_folder / "closed")
    make_folder(OTHER, closed / "of-other")
    (open_folder / "by-root").symlink_to(closed)
    assert trust.trusted_users(open_folder / "by-root" / "of-other" / "x") == {0, OTHER}
    (closed / "up").symlink_to("../closed/of-other")
    assert trust.trusted_users(closed / "up" / "x") == {0, OTHER}
    (open_folder / "by-other").symlink_to(closed)
    os.lchown(open_folder / "by-other", OTHER, OTHER)
    assert trust.trusted_users(open_folder / "by-other" / "of-other" / "x") == {0}
    (closed / "loop").symlink_to("loop")
    assert trust.trusted_users(closed / "loop" / "x") == {0}
    assert trust.trusted_users(closed / "none" / "x") == {0}


@needs_root
def test_folder_writable_by_group_is_not_trusted(open_folder: Path) -> None:
    """Any member of the group may have made its contents."""
    shared = make_folder(0, open_folder / "shared", 0o775)
    make_folder(OTHER, shared / "vcmts")
    assert trust.trusted_users(shared / "vcmts" / "x") == {0}
    assert "found a folder of user" in trust.folder_fault(shared / "vcmts")
    shared.chmod(0o755)
    assert trust.trusted_users(shared / "vcmts" / "x") == {0, OTHER}
    assert trust.folder_fault(shared / "vcmts") == ""


@needs_root
def test_folder_inside_folder_of_another_user_is_refused(open_folder: Path) -> None:
    """Even if only that user may write to the outer folder."""
    outer = make_folder(OTHER, open_folder / "outer")
    assert "found a folder of user" in trust.folder_fault(make_folder(OTHER, outer / "vcmts-0"))


@needs_root
def test_dpdk_telemetry_of_another_user_is_refused(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No socket of another user in /tmp/dpdk is trusted."""
    foreign = make_folder(OTHER, open_folder / "dpdk")
    own = make_folder(OTHER, foreign / "vcmtsd-1")
    monkeypatch.setattr(dpdk, "folders", lambda: [foreign])
    monkeypatch.setattr(sockets, "processes", lambda: iter([]))  # this machine may run others
    with listening(own / dpdk.SOCKET, OTHER, socket.SOCK_SEQPACKET) as log:
        with pytest.raises(MistakeError, match="no vcmtsd in service"), dpdk.vcmtsd():
            pass
        assert b"connected" not in log.read_bytes()
    assert f"found a folder of user {OTHER}" in capsys.readouterr().err


def run_as_other(folder: Path, *arguments: str, running: Sequence[Process] = ()) -> tuple[int, str]:
    """Runs the tool as an ordinary user, who sees the processes `running`. Returns its exit status
    and stderr."""
    with tempfile.TemporaryFile("w+") as stderr:
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                become(OTHER)
                sockets.folders = lambda: [folder]
                setattr(sockets, "processes", lambda: iter(running))  # noqa: B010
                with contextlib.redirect_stderr(stderr):
                    status = cli.main(arguments)
                stderr.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        stderr.seek(0)
        return status, stderr.read()


@needs_root
def test_folder_without_permission_is_reported(open_folder: Path) -> None:
    """A search skips it. If the socket is named, the error has owner and mode."""
    closed = make_folder(0, open_folder / "vcmts", 0o700)
    path = closed / "1-control.sock"
    for command in ("top", "capture"):
        cli.load_command(command)  # now, as another user may not be able to read this checkout
    with listening(path):
        status, error = run_as_other(closed, "control", "group.list")
        assert (status, "found no vcmtsd in service" in error) == (2, True), error
        status, error = run_as_other(closed, "top", "--once", "--pid", "1")
        assert (status, "--pid: process 1 is " in error) == (2, True), error
        folder = (
            "1-control.sock: no permission: its folder belongs to user root (0) (mode 0700); run"
        )
        for arguments in (["control"], ["top", "--once"], ["capture", "-o", "/dev/null"]):
            status, error = run_as_other(closed, *arguments, "--socket", str(path))
            assert (status, folder in error) == (2, True), error
        closed.chmod(0o755)
        path.chmod(0o600)
        status, error = run_as_other(closed, "control", "--socket", str(path))
        assert "no permission: its socket belongs to user root (0) (mode 0600); run" in error


@needs_root
def test_server_of_another_user_is_named(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search finds no socket that this user may use, but it finds the process."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    shutil.copy("/bin/sleep", open_folder / "vcmtsd")
    cli.load_command("capture")
    with subprocess.Popen([open_folder / "vcmtsd", "1000"], user=OTHER) as server:
        try:
            until(lambda: named(server.pid) == "vcmtsd", "the program")
            (found,) = (one for one in processes() if one.pid == server.pid)
            assert found == Process(server.pid, "vcmtsd", OTHER)
            monkeypatch.setattr(sockets, "processes", lambda: iter([found]))
            set_folders(monkeypatch, open_folder / "none")
            text = f"no permission: vcmtsd (process {server.pid}) belongs to user {OTHER}; run this"
            for pid in (None, server.pid):
                with pytest.raises(MistakeError, match=re.escape(text) + " as that user$"):
                    sockets.select_socket(pid, None)
            monkeypatch.setenv("RUNTIME_DIRECTORY", str(open_folder))
            with pytest.raises(MistakeError, match="found no vcmtsd"):
                sockets.select_socket(None, None)
            monkeypatch.delenv("RUNTIME_DIRECTORY")
            status, error = run_as_other(open_folder, "capture", running=[found])
            assert (status, "found no vcmtsd" in error) == (2, True), error  # its own
            theirs = replace(found, user=0)
            status, error = run_as_other(open_folder, "capture", running=[theirs])
            assert "belongs to user root (0); run this as that user or as root" in error
        finally:
            server.kill()
    with pytest.raises(MistakeError, match=f"--pid: no process {server.pid} runs"):
        sockets.select_socket(server.pid, None)


def named(pid: int) -> str:
    one = process(pid)
    return "" if one is None else one.name


def test_servers_of_this_user_are_trusted(tmp_path: Path) -> None:
    """The folder of the socket does not matter."""
    with tempfile.TemporaryDirectory(prefix="trust-") as name:
        path = Path(name) / "a.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            listener.listen()
            with Client(path, TIMEOUT):
                pass
        assert trust.folder_fault(Path(name)) == ""
        assert trust.folder_fault(tmp_path / "none") == ""
        Path(name).chmod(0o777)
        assert "chmod go-w" in trust.folder_fault(Path(name))
