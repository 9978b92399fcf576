# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd as a systemd service: its log, its notifications, and the unit file."""

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

from e2e.control.server import NULL_PORTS, config_folder, responds
from e2e.running import run, stop_process, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError
from vcmts.paths import CHECKOUT, build_directory, program

UNIT = build_directory() / "deploy" / "vcmtsd.service"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        yield path


@contextmanager
def run_service(
    folder: Path, *arguments: str, stderr: int | IO[Any], **environment: str
) -> Iterator["subprocess.Popen[str]"]:
    """Runs vcmtsd until the end of the block, which begins when vcmtsd is ready or has ended."""
    ready = folder / "ready"
    options = ("--config", folder / "sg.yaml", *NULL_PORTS, "--ready", ready)
    sockets = ("--control-socket", folder / "control.sock", "--json", folder / "summary.json")
    with subprocess.Popen(
        [program("vcmtsd"), "run", *options, *sockets, *arguments],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
    ) as process:
        try:
            until(lambda: ready.exists() or process.poll() is not None, "ready")
            yield process
        finally:
            stop_process(process)


class SystemdSocket:
    """Receives notifications as systemd does: immediately, as the sender waits for it."""

    def __init__(self, path: Path) -> None:
        self.received: list[dict[str, str]] = []
        self.queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.reader = threading.Thread(target=self._receive_all)
        self.reader.start()

    def _receive_all(self) -> None:
        while received := self.socket.recv(4096):
            self.queue.put(received.decode())

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RD)
        self.reader.join()
        self.socket.close()

    def next(self) -> dict[str, str]:
        text = self.queue.get(timeout=TIMEOUT)
        self.received.append(dict(line.split("=", 1) for line in text.splitlines()))
        return self.received[-1]

    def wait_for(self, key: str) -> dict[str, str]:
        """Skips notifications to systemd without this key. Returns the first one that has it."""
        while key not in (received := self.next()):
            pass
        return received


def send_changes(client: Client) -> None:
    """Makes changes that the log must contain once each."""
    said, key = 1, "00" * 16
    client.call("key.install", said=said, key=key, iv=key)
    client.call("group.drain")
    client.call("group.drain")
    client.call("group.resume")
    assert client.call("measure.get")["cycles"] is True
    answer = client.call("measure.set", cycles=False, latency=True)
    assert (answer["cycles"], answer["latency"]) == (False, True)
    assert client.call("measure.set")["latency"] is True  # unchanged
    with pytest.raises(RefusedError, match=r"measure\.set: cycles: found"):
        client.call("measure.set", cycles="perhaps")


def test_service_logs_and_notifies_each_event(folder: Path) -> None:
    """Each log line is JSON, each event is logged once, and systemd receives all states."""
    if b"sd_notify" not in program("vcmtsd").read_bytes():
        pytest.skip("vcmtsd was built without libsystemd")
    log = folder / "log"
    environment = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "2000000"}
    options = ("--log-format", "json", "--log-level", "debug")
    with (
        closing(SystemdSocket(folder / "notify")) as systemd,
        log.open("wb") as stderr,
        run_service(folder, *options, stderr=stderr, **environment) as process,
        Client(folder / "control.sock", TIMEOUT) as client,
    ):
        assert systemd.next() == {
            "READY": "1",
            "STATUS": "serving 1 service group with 4 modems",
        }
        for _ in range(2):
            assert systemd.wait_for("WATCHDOG") == {"WATCHDOG": "1"}
        send_changes(client)
        measure = client.call("measure.get")
        assert (measure["cycles"], measure["latency"]) == (False, True)
        client.call("config.save")  # a reload does not undo the installed key
        saved = (folder / "sg.yaml").read_text()
        (folder / "sg.yaml").write_text(saved.replace("900 Mbps", "800 Mbps"))
        process.send_signal(signal.SIGHUP)
        assert int(systemd.wait_for("RELOADING")["MONOTONIC_USEC"]) > 0
        systemd.wait_for("READY")
        (folder / "sg.yaml").write_text("channels: nonsense\n")
        with pytest.raises(RefusedError):
            client.call("config.reload")
        systemd.wait_for("RELOADING")
        refused = "; reload refused: " + str(folder / "sg.yaml") + ": "
        assert refused in systemd.wait_for("READY")["STATUS"]
        process.terminate()
        systemd.wait_for("STOPPING")
        assert process.wait(TIMEOUT) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        assert TIME.fullmatch(line["time"]) and line["message"], line
        assert line["level"] in ("error", "warning", "notice", "info", "debug") and line["area"]
    messages = [line["message"] for line in lines]
    for message in (
        "serving service group 1: 4 modems, 2 channels",
        "service group 1 drained: reception stopped",
        "service group 1 resumed",
        "service group 1: key of association 1 installed",
        "measured: cycles off, latency on",
    ):
        assert messages.count(message) >= 1, message
    assert messages.count("service group 1 resumed") == 1
    assert messages.count("service group 1 drained: reception stopped") == 1
    [drained] = [line for line in lines if "drained" in line["message"]]
    assert (drained["area"], drained["level"], drained["service_group"]) == ("group", "info", 1)
    assert sum("reloaded: " in message for message in messages) == 1
    [error] = [line for line in lines if "nothing was changed" in line["message"]]
    assert (error["area"], error["level"]) == ("config", "error")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["measured"]["cycles"]["on"] is False
    assert summary["measured"]["latency"]["on"] is True


def full_pipe() -> tuple[int, int]:
    """File descriptors (reader, writer) of a full pipe."""
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while os.write(writer, b"x" * size):
                pass
        except BlockingIOError:
            continue
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    return reader, writer


@pytest.mark.parametrize("kind", ["full pipe", "no reader", "full disk", "closed"])
def test_unusable_stderr_does_not_stop_service(folder: Path, kind: str) -> None:
    """vcmtsd with an unusable stderr is in service, applies changes, and exits with 0."""
    reader, stderr = full_pipe() if kind == "full pipe" else os.pipe()
    if kind == "no reader":
        os.close(reader)
    elif kind == "full disk":
        stderr = os.dup2(os.open("/dev/full", os.O_WRONLY), stderr)
    log_options = ("--log-format", "text") if kind == "full pipe" else ()
    if kind == "closed":
        shell = 'exec "$0" "$@" 2>&-'
        command: list[str | Path] = ["sh", "-c", shell, program("vcmtsd"), "run"]
        sockets = ("--control-socket", folder / "control.sock", "--json", folder / "summary.json")
        options = ("--config", folder / "sg.yaml", "--duration", "200ms")
        done = run([*command, *options, *NULL_PORTS, *sockets])
        assert (done.status, done.stderr) == (0, "")
    else:
        with run_service(folder, *log_options, stderr=stderr) as process:
            assert responds(folder / "control.sock")
            with Client(folder / "control.sock", TIMEOUT) as client:
                for _ in range(30):
                    client.call("group.drain")
                    client.call("group.resume")
            process.terminate()
            assert process.wait(TIMEOUT) == 0
    assert json.loads((folder / "summary.json").read_text())["downstream"]["balanced"]
    os.close(stderr)


def test_invalid_options_are_rejected(folder: Path) -> None:
    config = ("--config", folder / "sg.yaml", *NULL_PORTS)
    for option, value, allowed in (
        ("--log-format", "yaml", "allowed: plain, text or json"),
        ("--log-format", "", "allowed: plain, text or json"),
        ("--log-level", "loud", "allowed: error, warning, notice, info or debug"),
    ):
        done = vcmtsd("run", *config, option, value)
        assert done.status == 2 and done.stdout == ""
        assert done.messages[0].endswith(f'{option}: found "{value}", {allowed}')
    (folder / "sg.yaml").write_text("channels: nonsense\n")
    done = vcmtsd("run", *config, "--log-format", "json")
    assert done.status == 2 and "sg.yaml:1: " in done.messages[0]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_unit(folder: Path) -> None:
    """systemd-analyze accepts the unit file, with the exposure level of docs/install.md."""
    unit = folder / "vcmtsd.service"
    executable = str(program("vcmtsd").resolve())
    commands = re.compile(r"^(Exec(?:Start|Reload)=)/\S+", re.M)
    unit.write_text(commands.sub(rf"\1{executable}", UNIT.read_text()))
    verified = run(["systemd-analyze", "verify", "--man=no", unit])
    assert (verified.status, verified.stderr) == (0, "")
    security = run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager", unit]
    )
    assert security.status == 0, security.stdout
    assert "RestartPreventExitStatus=2" in unit.read_text()


def test_unit_restarts_without_limit() -> None:
    """However often the process is killed, systemd starts it again, after a pause."""
    unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.M))
    assert (unit["Restart"], unit["RestartSec"]) == ("on-failure", "2s")
    assert unit["StartLimitIntervalSec"] == "0" and "StartLimitBurst" not in unit


def test_unit_and_drop_ins_have_minimal_capabilities() -> None:
    """Drop-ins have equal bounding and ambient sets of capabilities."""
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
        capabilities = dict(
            re.findall(
                r"^(CapabilityBoundingSet|AmbientCapabilities)=(.*)$", path.read_text(), re.M
            )
        )
        assert path.name == "power.conf.in" or len(capabilities) == 2
        assert len({*capabilities.values()}) <= 1, path
