# SPDX-License-Identifier: BSD-3-Clause
"""A vcmtsd whose control socket is the test's, and clients of it that are no good."""

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
# The tool; a pod has whole cores, whatever part of one the tests are given.
UNLIMITED = "import sys; from vcmts import cli; from vcmts.layout import machine; "
UNLIMITED += "machine.quota_of = lambda files: None; sys.exit(cli.main())"
SLEEP = ("--idle", "sleep")
NOWHERE = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
MODEM = """  - mac: "02:01:00:00:00:{n:02x}"
    addresses: [10.0.0.{n}]
    bonding_group: 1
    security: {{said: {n}, key: 0001020304050607080910111213141{n}, iv: {iv}}}
    service_flows: [{{id: {n}, dsid: {n}, max_sustained_rate: 100 Mbps}}]
"""


def config_text(rate: str = "900 Mbps", core: str = "192.0.2.1") -> str:
    made = (MODEM.format(n=n, iv="00" * 16) for n in range(1, 5))
    return (
        f"threads: {{upper_mac_core: {CPUS[-1]}, main_core: {CPUS[0]}}}\n"
        "ports: {network: {device: net_null0}, rphy: {device: net_null1}}\n"
        f"rphy: {{core_ip: {core}, rpd_ip: 192.0.2.2}}\n"
        "channels:\n"
        f"  - {{id: 11, type: ofdm, rate: {rate}, session: 17}}\n"
        "  - {id: 12, type: ofdm, rate: 500 Mbps, session: 18}\n"
        "bonding_groups: [{id: 1, channels: [11, 12]}]\n"
        "modems:\n" + "".join(made)
    )


@contextmanager
def place() -> Iterator[Path]:
    """Short, as sockets live there; with a configuration."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        (Path(name) / "sg.yaml").write_text(config_text())
        yield Path(name)


@contextmanager
def controlled(folder: Path, *more: str, idle: Sequence[str] = SLEEP) -> Iterator[tuple[Run, Path]]:
    """On ports to nowhere, by workers that leave the cores to other tests."""
    path = folder / "control.sock"
    words = ("--config", folder / "sg.yaml", "--control-socket", path)
    with serve(*words, *NOWHERE, *idle, *more) as run:
        yield run, path


@contextmanager
def connection(path: Path) -> Iterator[socket.socket]:
    """Bytes, as a client of another's making sends them."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.connect(str(path))
        made.settimeout(TIMEOUT)
        yield made


def request(method: str = "group.list", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode()


def heard(made: socket.socket) -> bytes:
    """All up to the end of a line, or of the connection."""
    whole = b""
    while not whole.endswith(b"\n") and (piece := received(made)):
        whole += piece
    return whole


def received(made: socket.socket) -> bytes:
    try:
        return made.recv(65536)
    except ConnectionResetError:
        return b""


def is_served(path: Path) -> bool:
    with Client(path, TIMEOUT) as client:
        return bool(client.call("group.list")["groups"])
