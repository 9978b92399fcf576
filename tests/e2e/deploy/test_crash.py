# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are killed and started again: what they left is no obstacle, and a program that
still runs keeps what it has."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.control.controlled import SLEEP, place
from e2e.ports import serve
from e2e.running import run, stop, vcmtsd
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.dpdk import connect

IN_USE = "another process serves here; each needs a socket of its own"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Also of all that a program makes while it runs."""
    with place() as made:
        monkeypatch.setenv("RUNTIME_DIRECTORY", str(made))
        yield made


def memif(folder: Path, number: int, name: str, role: str = "server") -> str:
    socket_ = f"socket-abstract=no,socket={folder}/{name}.sock"
    return f"net_memif{number},role={role},id={number},{socket_}"


def ports(folder: Path, names: Sequence[str] = ("network", "rphy")) -> tuple[str, ...]:
    network, rphy = (memif(folder, n, name) for n, name in enumerate(names))
    return ("--network", network, "--rphy", rphy, *SLEEP)


def options(folder: Path) -> tuple[str | Path, ...]:
    return ("--config", folder / "sg.yaml", "--control-socket", folder / "control.sock")


def left(folder: Path) -> set[str]:
    """Files and sockets, but for the configuration."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    return found - {"sg.yaml"}


@pytest.mark.parametrize("names", [("network", "rphy"), ("both", "both")])
def test_a_server_that_is_killed(names: Sequence[str], folder: Path) -> None:
    """Twice: with memifs on paths, control and capture sockets, telemetry and EAL's folder."""
    killed: list[int] = []
    for _ in range(2):
        with serve(*options(folder), *ports(folder, names)) as server:
            assert server.process.poll() is None, server.stderr
            killed.append(server.process.pid)
            server.process.kill()
            server.process.wait(TIMEOUT)
        assert {f"{name}.sock" for name in names} < left(folder)
        assert [one.name for one in (folder / "dpdk").iterdir()] == [f"vcmtsd-{killed[-1]}"]
    with serve(*options(folder), *ports(folder, names)) as server:
        assert server.process.poll() is None, server.stderr
        assert [one.name for one in (folder / "dpdk").iterdir()] == [f"vcmtsd-{server.process.pid}"]
        assert connect(folder / "dpdk" / f"vcmtsd-{server.process.pid}" / "dpdk_telemetry.v2")
        assert server.stop().status == 0
    # captures' sockets are named by their process
    assert left(folder) == {f"{pid}-capture.sock{end}" for pid in killed for end in ("", ".lock")}


def test_two_servers_with_one_memif(folder: Path) -> None:
    with serve(*options(folder), *ports(folder)) as server:
        second = ("run", "--config", folder / "sg.yaml", "--control-socket", "none")
        for names in (("network", "other"), ("other", "rphy")):
            refused = vcmtsd(*second, *ports(folder, names))
            taken = folder / f"{'network' if names[0] == 'network' else 'rphy'}.sock"
            assert refused.status != 0
            assert any(f"socket {taken}: {IN_USE}" in line for line in refused.messages)
            assert not any("other" in name for name in left(folder))
        assert server.process.poll() is None
        assert {"network.sock", "rphy.sock"} < left(folder)
        assert server.stop().status == 0
    assert left(folder) == set()


def test_the_listener_of_another_program(folder: Path) -> None:
    """That knows no locks, as a VPP does; it goes on."""
    path = folder / "network.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.bind(str(path))
        other.listen(1)
        refused = vcmtsd("run", "--config", folder / "sg.yaml", *ports(folder))
        assert refused.status != 0 and any(IN_USE in line for line in refused.messages)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(path))
        path.unlink()
    path.write_text("kept")
    refused = vcmtsd("run", "--config", folder / "sg.yaml", *ports(folder))
    assert refused.status != 0 and any(
        "found a file that is no socket" in s for s in refused.messages
    )
    assert path.read_text() == "kept"


@contextmanager
def traffic(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The servers of both memifs, which wait for the data plane."""
    words = [str(program("vcmts-traffic")), "--config", str(folder / "sg.yaml")]
    words += ["--network", memif(folder, 0, "network"), "--rphy", memif(folder, 1, "rphy")]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            stop(process)


def test_a_traffic_program_that_is_killed(folder: Path) -> None:
    for _ in range(2):
        with traffic(folder) as process:
            until(lambda: listens(folder / "rphy.sock"), "it listens")
            process.kill()
            process.wait(TIMEOUT)
        assert {"network.sock", "rphy.sock"} < left(folder)


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        try:
            client.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


@pytest.mark.parametrize("length", [60, 89, 107, 200])
def test_long_names_of_folders(length: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets have names of up to 107 bytes: it serves without those that do not fit."""
    base = folder / ("x" * (length - len(str(folder)) - 1))
    base.mkdir()
    assert len(str(base)) == length
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(base))
    null = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", *SLEEP)
    done = run(
        [program("vcmtsd"), "run", "--config", folder / "sg.yaml", *null, "--duration", "1ms"]
    )
    assert done.status == 0, done.stderr
    assert not any("memory" in line for line in done.messages)
    telemetry = [line for line in done.messages if "no telemetry: " in line]
    control = [line for line in done.messages if "control socket" in line and "long" in line]
    assert len(telemetry) == len(control) == (length > 60)
    assert all("longer than 107 bytes" in line for line in telemetry)
