# SPDX-License-Identifier: BSD-3-Clause
"""Kills programs and restarts them. Files and sockets of a killed process must not prevent a start,
and a new process must not take those of a running one."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.control.server import IDLE_SLEEP, config_folder
from e2e.ports import serve
from e2e.running import run, stop_process, vcmtsd
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.dpdk import connect

IN_USE = "another process serves this socket; each process needs its own"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder with a configuration. RUNTIME_DIRECTORY is this folder, too."""
    with config_folder() as path:
        monkeypatch.setenv("RUNTIME_DIRECTORY", str(path))
        yield path


def memif(folder: Path, number: int, name: str, role: str = "server") -> str:
    socket_ = f"socket-abstract=no,socket={folder}/{name}.sock"
    return f"net_memif{number},role={role},id={number},{socket_}"


def ports(folder: Path, names: Sequence[str] = ("network", "rphy")) -> tuple[str, ...]:
    """Options of vcmtsd for two memif ports."""
    network, rphy = (memif(folder, n, name) for n, name in enumerate(names))
    return ("--network", network, "--rphy", rphy, *IDLE_SLEEP)


def options(folder: Path) -> tuple[str | Path, ...]:
    return ("--config", folder / "sg.yaml", "--control-socket", folder / "control.sock")


def leftover(folder: Path) -> set[str]:
    """Files and sockets in the folder, without the configuration."""
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    return files - {"sg.yaml"}


@pytest.mark.parametrize("names", [("network", "rphy"), ("both", "both")])
def test_vcmtsd_restarts_after_kill(names: Sequence[str], folder: Path) -> None:
    """Kills vcmtsd twice, with sockets of memif, control, capture and telemetry."""
    pids: list[int] = []
    for _ in range(2):
        with serve(*options(folder), *ports(folder, names)) as server:
            assert server.process.poll() is None, server.stderr
            pids.append(server.process.pid)
            server.process.kill()
            server.process.wait(TIMEOUT)
        assert {f"{name}.sock" for name in names} < leftover(folder)
        assert [one.name for one in (folder / "dpdk").iterdir()] == [f"vcmtsd-{pids[-1]}"]
    with serve(*options(folder), *ports(folder, names)) as server:
        assert server.process.poll() is None, server.stderr
        assert [one.name for one in (folder / "dpdk").iterdir()] == [f"vcmtsd-{server.process.pid}"]
        assert connect(folder / "dpdk" / f"vcmtsd-{server.process.pid}" / "dpdk_telemetry.v2")
        assert server.stop().status == 0
    # names of capture sockets contain the PID
    assert leftover(folder) == {f"{pid}-capture.sock{end}" for pid in pids for end in ("", ".lock")}


def test_second_server_of_memif_is_rejected(folder: Path) -> None:
    with serve(*options(folder), *ports(folder)) as server:
        second = ("run", "--config", folder / "sg.yaml", "--control-socket", "none")
        for names in (("network", "other"), ("other", "rphy")):
            done = vcmtsd(*second, *ports(folder, names))
            path = folder / f"{'network' if names[0] == 'network' else 'rphy'}.sock"
            assert done.status != 0
            assert any(f"socket {path}: {IN_USE}" in line for line in done.messages)
            assert not any("other" in name for name in leftover(folder))
        assert server.process.poll() is None
        assert {"network.sock", "rphy.sock"} < leftover(folder)
        assert server.stop().status == 0
    assert leftover(folder) == set()


def test_socket_of_other_program_is_kept(folder: Path) -> None:
    """A listener without lock files, like VPP. It keeps its socket."""
    path = folder / "network.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.bind(str(path))
        other.listen(1)
        done = vcmtsd("run", "--config", folder / "sg.yaml", *ports(folder))
        assert done.status != 0 and any(IN_USE in line for line in done.messages)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(path))
        path.unlink()
    path.write_text("kept")
    done = vcmtsd("run", "--config", folder / "sg.yaml", *ports(folder))
    assert done.status != 0 and any("found a file that is no socket" in s for s in done.messages)
    assert path.read_text() == "kept"


@contextmanager
def traffic(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Runs vcmts-traffic as server of both memifs."""
    command = [str(program("vcmts-traffic")), "--config", str(folder / "sg.yaml")]
    command += ["--network", memif(folder, 0, "network"), "--rphy", memif(folder, 1, "rphy")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            stop_process(process)


def test_traffic_program_restarts_after_kill(folder: Path) -> None:
    for _ in range(2):
        with traffic(folder) as process:
            until(lambda: is_listening(folder / "rphy.sock"), "vcmts-traffic listens")
            process.kill()
            process.wait(TIMEOUT)
        assert {"network.sock", "rphy.sock"} < leftover(folder)


def is_listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        try:
            client.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


@pytest.mark.parametrize("length", [60, 89, 107, 200])
def test_long_paths_are_omitted(length: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Socket paths have up to 107 bytes. vcmtsd runs without sockets whose paths are longer."""
    base = folder / ("x" * (length - len(str(folder)) - 1))
    base.mkdir()
    assert len(str(base)) == length
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(base))
    null_ports = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", *IDLE_SLEEP)
    done = run(
        [program("vcmtsd"), "run", "--config", folder / "sg.yaml", *null_ports, "--duration", "1ms"]
    )
    assert done.status == 0, done.stderr
    assert not any("memory" in line for line in done.messages)
    telemetry = [line for line in done.messages if "no telemetry socket: " in line]
    control = [line for line in done.messages if "control socket" in line and "long" in line]
    assert len(telemetry) == len(control) == (length > 60)
    assert all("longer than 107 bytes" in line for line in telemetry)
