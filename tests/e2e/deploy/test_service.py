# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd as a service: what it logs, what systemd is told, and the unit file."""

import fcntl
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from e2e.control.controlled import NOWHERE, config_text, is_served, place
from e2e.running import run, stop, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError
from vcmts.paths import CHECKOUT, build_directory, program

UNIT = build_directory() / "deploy" / "vcmtsd.service"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        yield made


@contextmanager
def served(
    folder: Path, *more: str, stderr: int | IO[Any], **environment: str
) -> Iterator["subprocess.Popen[str]"]:
    """Until the block ends; it is ready before it begins."""
    ready = folder / "ready"
    options = ("--config", folder / "sg.yaml", *NOWHERE, "--ready", ready)
    sockets = ("--control-socket", folder / "control.sock", "--json", folder / "summary.json")
    with subprocess.Popen(
        [program("vcmtsd"), "run", *options, *sockets, *more],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
    ) as process:
        try:
            until(lambda: ready.exists() or process.poll() is not None, "ready")
            yield process
        finally:
            stop(process)


class Manager:
    """systemd's part of the protocol: it reads at once, as who tells it waits for that."""

    def __init__(self, path: Path) -> None:
        self.told: list[dict[str, str]] = []
        self.read: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.reader = threading.Thread(target=self.reads)
        self.reader.start()

    def reads(self) -> None:
        while told := self.socket.recv(4096):
            self.read.put(told.decode())

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RD)
        self.reader.join()
        self.socket.close()

    def next(self) -> dict[str, str]:
        text = self.read.get(timeout=TIMEOUT)
        self.told.append(dict(line.split("=", 1) for line in text.splitlines()))
        return self.told[-1]

    def until(self, word: str) -> dict[str, str]:
        while word not in (told := self.next()):
            pass
        return told


def change(client: Client) -> None:
    """What is told in the log, once each."""
    said, key = 1, "00" * 16
    client.call("key.install", said=said, key=key, iv=key)
    client.call("group.drain")
    client.call("group.drain")
    client.call("group.resume")
    assert client.call("measure.get")["cycles"] is True
    answer = client.call("measure.set", cycles=False, latency=True)
    assert (answer["cycles"], answer["latency"]) == (False, True)
    assert client.call("measure.set")["latency"] is True  # as it is
    with pytest.raises(RefusedError, match=r"measure\.set: cycles: found"):
        client.call("measure.set", cycles="perhaps")


def test_a_service_and_its_log(folder: Path) -> None:
    """One run: each line is JSON, each event is there once, and systemd is told of all states."""
    if b"sd_notify" not in program("vcmtsd").read_bytes():
        pytest.skip("vcmtsd was built without libsystemd")
    log = folder / "log"
    told = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "2000000"}
    options = ("--log-format", "json", "--log-level", "debug")
    with (
        closing(Manager(folder / "notify")) as manager,
        log.open("wb") as stderr,
        served(folder, *options, stderr=stderr, **told) as process,
        Client(folder / "control.sock", TIMEOUT) as client,
    ):
        assert manager.next() == {
            "READY": "1",
            "STATUS": "serving 1 service group with 4 modems",
        }
        for _ in range(2):
            assert manager.until("WATCHDOG") == {"WATCHDOG": "1"}
        change(client)
        measure = client.call("measure.get")
        assert (measure["cycles"], measure["latency"]) == (False, True)
        (folder / "sg.yaml").write_text(config_text("800 Mbps"))
        process.send_signal(signal.SIGHUP)
        assert int(manager.until("RELOADING")["MONOTONIC_USEC"]) > 0
        manager.until("READY")
        (folder / "sg.yaml").write_text("channels: nonsense\n")
        with pytest.raises(RefusedError):
            client.call("config.reload")
        manager.until("RELOADING")
        manager.until("READY")
        process.terminate()
        manager.until("STOPPING")
        assert process.wait(TIMEOUT) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        assert TIME.fullmatch(line["time"]) and line["message"], line
        assert line["level"] in ("error", "warning", "notice", "info", "debug") and line["area"]
    messages = [line["message"] for line in lines]
    for said in (
        "serving service group 1: 4 modems, 2 channels",
        "service group 1 drained: it receives nothing more",
        "service group 1 resumed",
        "service group 1: key of association 1 installed",
        "measured: cycles off, latency on",
    ):
        assert messages.count(said) >= 1, said
    assert messages.count("service group 1 resumed") == 1
    assert messages.count("service group 1 drained: it receives nothing more") == 1
    [drained] = [line for line in lines if "drained" in line["message"]]
    assert (drained["area"], drained["level"], drained["service_group"]) == ("group", "info", 1)
    assert sum("read again: " in message for message in messages) == 1
    [refused] = [line for line in lines if "nothing was changed" in line["message"]]
    assert (refused["area"], refused["level"]) == ("config", "error")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["measured"]["cycles"]["on"] is False
    assert summary["measured"]["latency"]["on"] is True


def full_pipe() -> tuple[int, int]:
    """It has no room left, and nobody reads."""
    reads, writes = os.pipe()
    flags = fcntl.fcntl(writes, fcntl.F_GETFL)
    fcntl.fcntl(writes, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while os.write(writes, b"x" * size):
                pass
        except BlockingIOError:
            continue
    fcntl.fcntl(writes, fcntl.F_SETFL, flags)
    return reads, writes


@pytest.mark.parametrize("kind", ["full pipe", "no reader", "full disk", "closed"])
def test_nobody_reads_what_it_says(folder: Path, kind: str) -> None:
    """It serves, does what it is asked, and ends well."""
    reads, stderr = full_pipe() if kind == "full pipe" else os.pipe()
    if kind == "no reader":
        os.close(reads)
    elif kind == "full disk":
        stderr = os.dup2(os.open("/dev/full", os.O_WRONLY), stderr)
    more = ("--log-format", "text") if kind == "full pipe" else ()
    if kind == "closed":
        shell = 'exec "$0" "$@" 2>&-'
        command: list[str | Path] = ["sh", "-c", shell, program("vcmtsd"), "run"]
        sockets = ("--control-socket", folder / "control.sock", "--json", folder / "summary.json")
        options = ("--config", folder / "sg.yaml", "--duration", "200ms")
        done = run([*command, *options, *NOWHERE, *sockets])
        assert (done.status, done.stderr) == (0, "")
    else:
        with served(folder, *more, stderr=stderr) as process:
            assert is_served(folder / "control.sock")
            with Client(folder / "control.sock", TIMEOUT) as client:
                for _ in range(30):
                    client.call("group.drain")
                    client.call("group.resume")
            process.terminate()
            assert process.wait(TIMEOUT) == 0
    assert json.loads((folder / "summary.json").read_text())["downstream"]["balanced"]
    os.close(stderr)


def test_mistakes_have_one_line(folder: Path) -> None:
    config = ("--config", folder / "sg.yaml", *NOWHERE)
    for option, found, allowed in (
        ("--log-format", "yaml", "allowed: plain, text or json"),
        ("--log-format", "", "allowed: plain, text or json"),
        ("--log-level", "loud", "allowed: error, warning, notice, info or debug"),
    ):
        done = vcmtsd("run", *config, option, found)
        assert done.status == 2 and done.stdout == ""
        assert done.messages[0].endswith(f'{option}: found "{found}", {allowed}')
    (folder / "sg.yaml").write_text("channels: nonsense\n")
    done = vcmtsd("run", *config, "--log-format", "json")
    assert done.status == 2 and "sg.yaml:1: " in done.messages[0]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_what_systemd_reads(folder: Path) -> None:
    """Without a word from it, and no more exposed than docs/install.md says."""
    unit = folder / "vcmtsd.service"
    started = str(program("vcmtsd").resolve())
    unit.write_text(re.sub(r"(?<=^ExecStart=)\S+", started, UNIT.read_text(), flags=re.M))
    checked = run(["systemd-analyze", "verify", "--man=no", unit])
    assert (checked.status, checked.stderr) == (0, "")
    exposed = run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager", unit]
    )
    assert exposed.status == 0, exposed.stdout
    assert "RestartPreventExitStatus=2" in unit.read_text()


def test_the_unit_has_no_privileges() -> None:
    """Those that kinds of ports need are in drop-ins, to hold and to pass on alike."""
    lines = UNIT.read_text().splitlines()
    assert {"User=vcmts", "Group=vcmts", "NoNewPrivileges=yes"} <= {*lines}
    assert {"CapabilityBoundingSet=", "AmbientCapabilities="} <= {*lines}
    drop_ins = sorted((CHECKOUT / "deploy" / "systemd" / "vcmtsd.service.d").iterdir())
    assert [path.name for path in drop_ins] == [
        "kernel-interfaces.conf",
        "physical-addresses.conf",
        "power.conf.in",
    ]
    for path in drop_ins:
        told = dict(
            re.findall(
                r"^(CapabilityBoundingSet|AmbientCapabilities)=(.*)$", path.read_text(), re.M
            )
        )
        assert path.name == "power.conf.in" or len(told) == 2
        assert len({*told.values()}) <= 1, path
