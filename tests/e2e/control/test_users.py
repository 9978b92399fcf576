# SPDX-License-Identifier: BSD-3-Clause
"""Several users run vcmtsd on one machine. The tests need root, to become another user."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.control.server import IDLE_SLEEP, NULL_PORTS, config_text
from e2e.ports import Run, serve
from vcmts.control import sockets
from vcmts.control.client import Client
from vcmts.paths import MistakeError, program
from vcmts.telemetry import dpdk

USER = 300_000 + os.getpid()  # an unused user ID; its folder in /tmp is this test's alone
PRIVATE = Path(f"/tmp/vcmts-{USER}")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")


def may_run_programs() -> bool:
    """Whether other users can run vcmtsd from this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        command = [str(program("vcmtsd")), "--help"]
        quiet = subprocess.DEVNULL
        try:
            done = subprocess.run(command, user=USER, group=USER, stdout=quiet, check=False)
        except PermissionError:
            return False
        return done.returncode == 0


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A configuration that all users can read. Removes the folders that tests create."""
    if not may_run_programs():
        pytest.skip("other users cannot run programs of this checkout")
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "sg.yaml").write_text(config_text())
        (folder / "sg.yaml").chmod(0o644)
        try:
            yield folder / "sg.yaml"
        finally:
            shutil.rmtree(PRIVATE, ignore_errors=True)


def options(config: Path) -> tuple[str | Path, ...]:
    return ("--config", config, *NULL_PORTS, *IDLE_SLEEP)


def control_socket(run: Run) -> Path:
    (line,) = [line for line in run.stderr if "control socket" in line]
    return Path(line.split()[-1])


def listens(path: Path, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_UNIX, kind) as client:
        return client.connect_ex(str(path)) == 0


@needs_root
def test_user_serves_beside_root(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a folder of its own for control and telemetry, also if XDG_RUNTIME_DIR is that of
    another user, as after `su`. Root has another one than the service, which owns /run/vcmts."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(config.parent))
    existed = sockets.SYSTEM[1].exists()
    with serve(*options(config)) as first, serve(*options(config), user=USER) as second:
        try:
            assert control_socket(first).parent == Path("/run/vcmts-0")
            assert control_socket(second).parent == PRIVATE / "vcmts"
            assert not any("no telemetry" in line for run in (first, second) for line in run.stderr)
            runtime = PRIVATE / "dpdk" / f"vcmtsd-{second.process.pid}"
            assert listens(runtime / dpdk.SOCKET, socket.SOCK_SEQPACKET)
            path = sockets.select_socket(first.process.pid, None)
            with Client(path) as client:
                assert client.call("group.list")["groups"]
            with pytest.raises(MistakeError, match=f"no permission: .* belongs to user {USER}"):
                sockets.select_socket(second.process.pid, None)
        finally:
            assert second.stop().status == first.stop().status == 0
            if not existed:
                with contextlib.suppress(OSError):  # another process may use it by now
                    sockets.SYSTEM[1].rmdir()
    assert set(PRIVATE.rglob("*")) == {PRIVATE / "dpdk", PRIVATE / "vcmts"}


@needs_root
def test_user_serves_with_own_runtime_folder(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = config.parent / "user"
    own.mkdir(0o700)
    os.chown(own, USER, USER)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own))
    with serve(*options(config), user=USER) as run:
        assert control_socket(run).parent == own / "vcmts"
        assert listens(
            own / "dpdk" / f"vcmtsd-{run.process.pid}" / dpdk.SOCKET, socket.SOCK_SEQPACKET
        )
        assert run.stop().status == 0
    assert not PRIVATE.exists()
