# SPDX-License-Identifier: BSD-3-Clause
"""Whose sockets the tool believes: other users are children with other user IDs, where root runs
the tests."""

import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from patience import TIMEOUT, until
from vcmts import cli
from vcmts.control import place, trust
from vcmts.control.client import Client
from vcmts.paths import MistakeError
from vcmts.telemetry import dpdk

OTHER, THIRD = 54321, 54322  # users that no system has
GROUP = 54329  # theirs, whose number is no user's
KEY = "5ec4e7b01dface9f8a7d3b6c2e1f4058"
root = pytest.mark.skipif(os.getuid() != 0, reason="other users are root's to make")


def become(user: int | None) -> None:
    if user is not None:
        os.setgroups([])
        os.setresgid(GROUP, GROUP, GROUP)
        os.setresuid(user, user, user)


def serve(path: Path, kind: socket.SocketKind, heard: IO[bytes]) -> None:
    """Tells what it gets, and answers it."""
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(str(path))
        listener.listen()
        heard.write(b"listens\n")
        while True:
            made = listener.accept()[0]
            heard.write(b"connected\n")
            got = made.recv(65536)
            heard.write(b"got %r\n" % got)
            if got:
                made.sendall(b'{"jsonrpc": "2.0", "result": {}, "id": 1}\n')
            made.close()


@contextmanager
def listening(
    path: Path, user: int | None = None, kind: socket.SocketKind = socket.SOCK_STREAM
) -> Iterator[Path]:
    """A server of this user's, a child without a program of its own. What it gets is in the file
    that is told."""
    with tempfile.NamedTemporaryFile(buffering=0) as heard:
        pid = os.fork()
        if pid == 0:
            try:
                become(user)
                serve(path, kind, heard)
            finally:
                os._exit(1)
        try:
            until(lambda: b"listens" in Path(heard.name).read_bytes(), "listening")
            yield Path(heard.name)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            path.unlink(missing_ok=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """As /tmp is: everybody may make something there. Short, as sockets live there."""
    with tempfile.TemporaryDirectory(prefix="trust-", dir="/tmp") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


def folder_of(user: int, path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    os.chown(path, user, user)
    return path


def sees_only(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setattr(place, "folders", lambda: list(folders))


def install(*words: str) -> int:
    return cli.main(["control", *words, "key.install", "said=1", f"key={KEY}", f"iv={KEY}"])


@root
def test_no_key_goes_to_another_user(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who makes /tmp/vcmts-0 before root's vcmtsd does, and listens there."""
    mine = folder_of(OTHER, open_folder / "vcmts-0")
    sees_only(monkeypatch, mine)
    with listening(mine / "1-control.sock", OTHER) as heard:
        assert install() == 2
        assert b"connected" not in heard.read_bytes()
        told = capsys.readouterr().err
        assert f"{mine}: found a folder of user {OTHER}, allowed: of user root (0); remove" in told
        assert install("--socket", str(mine / "1-control.sock")) == 2
        until(lambda: b"got" in heard.read_bytes(), "the connection")
        assert b"got b''" in heard.read_bytes() and KEY.encode() not in heard.read_bytes()
    told = capsys.readouterr().err
    assert f"1-control.sock: served by user {OTHER}, allowed: user root (0)" in told


@root
def test_a_link_of_another_user(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aim = folder_of(0, open_folder / "aim", 0o700)
    link = open_folder / "vcmts-0"
    link.symlink_to(aim)
    os.lchown(link, OTHER, OTHER)
    sees_only(monkeypatch, link)
    with listening(aim / "1-control.sock") as heard:
        assert install() == 2
        assert b"connected" not in heard.read_bytes()
    assert f"{link}: found a symbolic link of user {OTHER}; remove it" in capsys.readouterr().err


@root
def test_a_folder_that_others_may_write_to(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = folder_of(0, open_folder / "vcmts-0", 0o777)
    sees_only(monkeypatch, mine)
    with listening(mine / "1-control.sock", OTHER) as heard:
        assert install() == 2
        assert b"connected" not in heard.read_bytes()
        assert "others may write to (mode 0777); chmod go-w" in capsys.readouterr().err
        assert install("--socket", str(mine / "1-control.sock")) == 2
        assert "served by user" in capsys.readouterr().err


@root
def test_a_folder_that_root_gave_a_service(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /run/vcmts, which systemd makes for the service's user: root and its group ask there; but
    no third user may serve there, nor in folders below it of a third one's."""
    run = folder_of(0, open_folder / "run")
    service = folder_of(OTHER, run / "vcmts", 0o770)
    sees_only(monkeypatch, service)
    with listening(service / "control.sock", OTHER) as heard:
        assert install() == 0
        assert KEY.encode() in heard.read_bytes()
    (service / "control.sock").unlink(missing_ok=True)
    service.chmod(0o777)
    with listening(service / "control.sock", THIRD), pytest.raises(trust.UntrustedError):
        Client(service / "control.sock")
    below = folder_of(THIRD, service / "below")
    assert trust.users_of(below / "x") == {0, OTHER}
    service.chmod(0o755)
    assert trust.users_of(below / "x") == {0, OTHER, THIRD}


@root
def test_links_on_the_way(open_folder: Path) -> None:
    """Root's own are followed; where everybody may write, others' end the trust."""
    closed = folder_of(0, open_folder / "closed")
    folder_of(OTHER, closed / "of-other")
    (open_folder / "by-root").symlink_to(closed)
    assert trust.users_of(open_folder / "by-root" / "of-other" / "x") == {0, OTHER}
    (closed / "up").symlink_to("../closed/of-other")
    assert trust.users_of(closed / "up" / "x") == {0, OTHER}
    (open_folder / "by-other").symlink_to(closed)
    os.lchown(open_folder / "by-other", OTHER, OTHER)
    assert trust.users_of(open_folder / "by-other" / "of-other" / "x") == {0}
    (closed / "loop").symlink_to("loop")
    assert trust.users_of(closed / "loop" / "x") == {0}
    assert trust.users_of(closed / "none" / "x") == {0}


@root
def test_folders_that_a_group_may_write_to(open_folder: Path) -> None:
    """Its members may have made what is in it."""
    shared = folder_of(0, open_folder / "shared", 0o775)
    folder_of(OTHER, shared / "vcmts")
    assert trust.users_of(shared / "vcmts" / "x") == {0}
    assert "found a folder of user" in trust.folder_fault(shared / "vcmts")
    shared.chmod(0o755)
    assert trust.users_of(shared / "vcmts" / "x") == {0, OTHER}
    assert trust.folder_fault(shared / "vcmts") == ""


@root
def test_a_folder_in_one_of_another_user(open_folder: Path) -> None:
    """That nobody else may write to the outer one is of no use."""
    outer = folder_of(OTHER, open_folder / "outer")
    assert "found a folder of user" in trust.folder_fault(folder_of(OTHER, outer / "vcmts-0"))


@root
def test_telemetry_of_another_user(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of /tmp/dpdk: nothing there is believed that another user made."""
    foreign = folder_of(OTHER, open_folder / "dpdk")
    own = folder_of(OTHER, foreign / "vcmtsd-1")
    monkeypatch.setattr(dpdk, "folders", lambda: [foreign])
    with listening(own / dpdk.SOCKET, OTHER, socket.SOCK_SEQPACKET) as heard:
        with pytest.raises(MistakeError, match="no vcmtsd in service"), dpdk.vcmtsd():
            pass
        assert b"connected" not in heard.read_bytes()
    assert f"found a folder of user {OTHER}" in capsys.readouterr().err


def as_other(folder: Path, *words: str) -> tuple[int, str]:
    """The tool, run by an ordinary user: its status and what it says."""
    with tempfile.TemporaryFile("w+") as said:
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                become(OTHER)
                place.folders = lambda: [folder]
                with contextlib.redirect_stderr(said):
                    status = cli.main(words)
                said.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said.seek(0)
        return status, said.read()


@root
def test_a_folder_that_may_not_be_looked_into(open_folder: Path) -> None:
    """It is passed over, as though it were not there; named, it is told who may."""
    shut = folder_of(0, open_folder / "vcmts", 0o700)
    path = shut / "1-control.sock"
    for command in ("top", "capture"):
        cli.load(command)  # before another user, who may not read this checkout, asks for it
    with listening(path):
        status, told = as_other(shut, "control", "group.list")
        assert (status, "found no vcmtsd in service" in told) == (2, True), told
        status, told = as_other(shut, "top", "--once", "--pid", "1")
        assert (status, "found 1, which has no control socket" in told) == (2, True), told
        folder = "1-control.sock: no permission: its folder is of user root (0) (mode 0700); ask"
        for words in (["control"], ["top", "--once"], ["capture", "-o", "/dev/null"]):
            status, told = as_other(shut, *words, "--socket", str(path))
            assert (status, folder in told) == (2, True), told
        shut.chmod(0o755)
        path.chmod(0o600)
        status, told = as_other(shut, "control", "--socket", str(path))
        assert "no permission: its socket is of user root (0) (mode 0600); ask" in told


def test_our_own(tmp_path: Path) -> None:
    """Servers of this user's are believed wherever they are."""
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
