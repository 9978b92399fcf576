# SPDX-License-Identifier: BSD-3-Clause
"""Starts vcmtsd with a control socket in a test folder, and sends raw bytes to it."""

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from e2e.ports import Run, serve
from patience import TIMEOUT
from vcmts.control.client import Client

CPUS = sorted(os.sched_getaffinity(0))
# Code that runs the tool without the CPU quota of the tests, as a pod has whole cores.
TOOL_WITHOUT_QUOTA = "import sys; from vcmts import cli; from vcmts.layout import machine; "
TOOL_WITHOUT_QUOTA += "machine.quota_of = lambda files: None; sys.exit(cli.main())"
IDLE_SLEEP = ("--idle", "sleep")
NULL_PORTS = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
MODEM = """  - mac: "02:01:00:00:00:{n:02x}"
    addresses: [10.0.0.{n}]
    bonding_group: 1
    security: {{said: {n}, key: 0001020304050607080910111213141{n}, iv: {iv}}}
    service_flows: [{{id: {n}, dsid: {n}, max_sustained_rate: 100 Mbps}}]
"""


def config_text(rate: str = "900 Mbps", core: str = "192.0.2.1") -> str:
    modems = (MODEM.format(n=n, iv="00" * 16) for n in range(1, 5))
    return (
        f"threads: {{upper_mac_core: {CPUS[-1]}, main_core: {CPUS[0]}}}\n"
        "ports: {network: {device: net_null0}, rphy: {device: net_null1}}\n"
        f"rphy: {{core_ip: {core}, rpd_ip: 192.0.2.2}}\n"
        "channels:\n"
        f"  - {{id: 11, type: ofdm, rate: {rate}, session: 17}}\n"
        "  - {id: 12, type: ofdm, rate: 500 Mbps, session: 18}\n"
        "bonding_groups: [{id: 1, channels: [11, 12]}]\n"
        "modems:\n" + "".join(modems)
    )


@contextmanager
def config_folder() -> Iterator[Path]:
    """Folder with a short path, for UNIX sockets, and a configuration sg.yaml."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        (Path(name) / "sg.yaml").write_text(config_text())
        yield Path(name)


@contextmanager
def start_server(
    folder: Path, *more: str, idle: Sequence[str] = IDLE_SLEEP
) -> Iterator[tuple[Run, Path]]:
    """Runs vcmtsd with null ports and sleeping workers. Yields the run and the control socket."""
    path = folder / "control.sock"
    files = ("--config", folder / "sg.yaml", "--control-socket", path)
    with serve(*files, *NULL_PORTS, *idle, *more) as run:
        yield run, path


@contextmanager
def connect_raw(path: Path) -> Iterator[socket.socket]:
    """A connection to the control socket for raw bytes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(path))
        client.settimeout(TIMEOUT)
        yield client


def request(method: str = "group.list", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode()


def receive_line(client: socket.socket) -> bytes:
    """Received bytes up to the end of the line or of the connection."""
    line = b""
    while not line.endswith(b"\n") and (part := receive(client)):
        line += part
    return line


def receive(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionResetError:
        return b""


def responds(path: Path) -> bool:
    with Client(path, TIMEOUT) as client:
        return bool(client.call("group.list")["groups"])
