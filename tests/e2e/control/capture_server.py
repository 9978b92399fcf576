# SPDX-License-Identifier: BSD-3-Clause
"""Starts a vcmtsd with endless traffic, and runs captures of it by tool and by raw requests."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from random import Random
from typing import Any

from e2e.control.pcapng_reader import Capture, read_pcapng
from e2e.frames import UDP, ip_frame, udp
from e2e.ports import Run, serve
from e2e.running import environment
from patience import TIMEOUT
from vcmts.witness.config import load_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import records_of, write_pcap
from witness.sample import UPSTREAM
from witness.subscriber import numbered_frame
from witness.upstream_sender import UpstreamSender

CPUS = sorted(os.sched_getaffinity(0))
DENIED = 4444  # UDP port
RULE = f"{{family: ipv4, action: deny, protocol: udp, destination_ports: {DENIED}}}"
FIRST_MODEM = "02:01:00:00:00:01"


@dataclass(frozen=True)
class CaptureServer:
    run: Run
    config: Config
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.run.process.pid}-capture.sock"

    @property
    def control(self) -> Path:
        return self.folder / "c.sock"

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "vcmts", "capture", "--socket", str(self.socket), *options]


def config_text() -> str:
    """A group whose first modem may not receive UDP to port DENIED."""
    text = UPSTREAM.replace("ports: {control: {device: net_null0}}\n", "")
    modem = f'  - mac: "{FIRST_MODEM}"\n'
    assert modem in text
    text = text.replace(modem, modem + "    filter_groups: [1]\n")
    return (
        f"threads: {{upper_mac_core: {CPUS[-1]}, main_core: {CPUS[0]}}}\n"
        "ports: {network: {device: 'net_null0,no-rx=1'}, rphy: {device: 'net_null1,no-rx=1'}}\n"
        f"filter_groups: [{{id: 1, rules: [{RULE}]}}]\n" + text
    )


def downstream_frames() -> list[bytes]:
    """Frames to two modems. One in four is denied, one in eight has an unknown destination."""
    source = IPv4Address("198.51.100.1")
    hosts = {0: 1, 1: 1, 2: 2, 3: 1, 4: 1, 5: 2, 6: 99, 7: 1}
    ports = {0: 80, 1: DENIED, 2: 80, 3: 80, 4: DENIED, 5: 80, 6: 80, 7: 80}
    return [
        ip_frame(source, IPv4Address(f"10.0.0.{hosts[n % 8]}"), UDP,
                 udp(40000 + n, ports[n % 8], bytes([n]) * (20 + n)))
        for n in range(64)
    ]  # fmt: skip


def upstream_packets(config: Config) -> list[bytes]:
    """UEPI packets of 900 frames. When the capture repeats, only the first 64 packets are late."""
    sender = UpstreamSender(config, Random(1), udp=False)
    streams = [s for s in sender.streams() if sender.by_stream[s][1].id in (201, 301)]
    for number in range(900):
        stream = streams[number % len(streams)]
        modem, _, _ = sender.by_stream[stream]
        sender.send(stream, numbered_frame(modem.addresses[0], number, 252))
        sender.flush()
    return sender.packets


@contextlib.contextmanager
def serve_endless_traffic() -> Iterator[CaptureServer]:
    """Runs vcmtsd until the end of the block. Then checks balance and removed sockets."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        folder = Path(name)
        path = folder / "sg.yaml"
        path.write_text(config_text())
        config = load_config(path)
        write_pcap(folder / "ip.pcap", records_of(downstream_frames()))
        write_pcap(folder / "uepi.pcap", records_of(upstream_packets(config)))
        ports = [
            f"net_pcap0,rx_pcap={folder}/ip.pcap,infinite_rx=1",
            f"net_pcap1,rx_pcap={folder}/uepi.pcap,infinite_rx=1",
        ]
        options = ("--network", ports[0], "--rphy", ports[1], "--json", folder / "s.json")
        with serve("--config", path, "--control-socket", folder / "c.sock", *options) as run:
            yield CaptureServer(run, config, folder)
            done = run.stop()
            assert done.status == 0, done.stderr
        summary = json.loads((folder / "s.json").read_text())
        assert summary["downstream"]["balanced"]
        assert summary["upstream"]["balanced"]
        assert [path for path in folder.iterdir() if path.suffix in (".sock", ".lock")] == []


def run_capture(server: CaptureServer, *options: str, status: int = 0) -> Capture:
    out = server.folder / "out.pcapng"
    done = subprocess.run(
        [*server.command(*options), "-o", str(out)], env=environment(), capture_output=True,
        text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    capture = read_pcapng(out.read_bytes())
    assert done.stderr.splitlines()[-1].startswith(f"vcmts: {len(capture.packets):,} packets, ")
    return capture


@contextlib.contextmanager
def connect(server: CaptureServer) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(server.socket))
        client.settimeout(TIMEOUT)
        yield client


def read_line(client: socket.socket) -> Any:
    line = b""
    while not line.endswith(b"\n") and (part := client.recv(1)):
        line += part
    return json.loads(line) if line else None


def read_all(client: socket.socket) -> bytes:
    data = b""
    while part := client.recv(65536):
        data += part
    return data


def second_group_config(text: str) -> str:
    """The same group with ID 9, another name and ports of its own."""
    ports = "{network: {device: 'net_null2,no-rx=1'}, rphy: {device: 'net_null3,no-rx=1'}}"
    lines = [line for line in text.splitlines() if not line.startswith("ports:")]
    return "\n".join(["service_group: 9", "name: nine", f"ports: {ports}", *lines]) + "\n"
