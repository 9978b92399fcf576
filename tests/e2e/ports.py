# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd on ports in real time: starts it, waits for packets, and stops it by a signal.

As a program (python -m e2e.ports) it sends a capture to vcmtsd over kernel interfaces and records
the packets of the R-PHY port. It must run in a network namespace of its own.
"""

import argparse
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e.running import Completed, check_completed, stop_process
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connect_plane
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

SERVING_MESSAGE = "vcmtsd: serving service group"
QUIET_S = 0.5
GAP_S = 0.0001
ETH_P_ALL = 3
PACKET_OUTGOING = 4


@dataclass
class Run:
    """A vcmtsd in service. `stop` sends a signal and waits for the end."""

    process: "subprocess.Popen[str]"
    stderr: list[str]
    reader: threading.Thread

    def wait(self) -> Completed:
        assert self.process.stdout is not None
        stdout = self.process.stdout.read()
        status = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        return check_completed(status, stdout, "".join(self.stderr))

    def wait_processed(self, packets: int, group: int | None = None) -> None:
        """Waits until so many packets are received downstream, and each is transmitted or dropped.
        `group`: the ID of the service group, required if there are several."""
        with connect_plane(self.process.pid) as plane_client:
            plane_client.group = group
            until(lambda: is_processed(plane_client, packets), f"{packets} packets")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Completed:
        self.process.send_signal(number)
        return self.wait()


def _read(process: "subprocess.Popen[str]", lines: list[str], event: threading.Event) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if line.startswith(SERVING_MESSAGE):
            event.set()
    event.set()


def is_processed(plane_client: Plane, packets: int) -> bool:
    down = plane_client.counts()["downstream"]
    counters = down["counters"]
    done = counters["transmitted"] + sum(down["drops"].values())
    return bool(counters["received"] >= packets and done == counters["received"])


@contextmanager
def serve(*arguments: str | Path, user: int | None = None) -> Iterator[Run]:
    """Runs vcmtsd until the end of the block, which begins when it is in service or has ended.
    `user`: its user and group ID, if this user is root."""
    command = [str(program("vcmtsd")), "run", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, user=user, group=user
    ) as process:
        lines: list[str] = []
        serving = threading.Event()
        reader = threading.Thread(target=_read, args=(process, lines, serving), daemon=True)
        reader.start()
        try:
            assert serving.wait(TIMEOUT)
            yield Run(process, lines, reader)
        finally:
            stop_process(process)


def memifs(folder: Path, role: str) -> tuple[str, ...]:
    """Options for both ports as memifs with sockets in the folder. `role`: `server` or `client`."""
    device = "net_memif{0},role={1},id={0},rsize=12,socket-abstract=no,socket={2}/{0}.sock"
    ends = (("--network", 0), ("--rphy", 1))
    return tuple(word for name, n in ends for word in (name, device.format(n, role, folder)))


def pcap_ports(capture: Path, sent: Path, options: str = "") -> tuple[str, ...]:
    """Options for ports without privileges: the network port reads a capture, the R-PHY port writes
    one."""
    network = f"net_pcap0,rx_pcap={capture}{options}"
    return ("--network", network, "--rphy", f"net_pcap1,tx_pcap={sent}")


def packet_socket(interface: str) -> socket.socket:
    result = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    result.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    result.bind((interface, 0))
    return result


def receive_all(incoming: socket.socket, wait_s: float) -> Iterator[Record]:
    """Packets received until none arrives for `wait_s` seconds. Own packets are skipped."""
    while select.select([incoming], [], [], wait_s)[0]:
        data, address = incoming.recvfrom(65536)
        if address[2] != PACKET_OUTGOING:
            yield Record(time.time_ns(), data, len(data))


def _exchange(run: Run, outgoing: str, incoming: str, frames: Sequence[bytes]) -> list[Record]:
    received: list[Record] = []
    with packet_socket(outgoing) as sender, packet_socket(incoming) as receiver:
        for frame in frames:
            sender.send(frame)
            received += receive_all(receiver, GAP_S)
        run.wait_processed(len(frames))
        received += receive_all(receiver, QUIET_S)
    return received


def create_veth_pair(inner: str, outer: str) -> None:
    links = [
        f"link add name {inner} mtu 9000 type veth peer name {outer} mtu 9000",
        f"link set {inner} up",
        f"link set {outer} up",
    ]
    for link in links:
        subprocess.run(["ip", *link.split()], check=True)


def disable_ipv6() -> None:
    """Keeps the kernel from sending IPv6 packets of its own on the links."""
    for name in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["af_packet", "tap"])
    for name in ("config", "captured", "out", "summary"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    kind: str = arguments.kind
    if os.path.exists("/proc/sys/net/ipv6"):
        disable_ipv6()
    ends = ("network0", "rphy0")
    if kind == "af_packet":
        ends = ("network1", "rphy1")
        create_veth_pair("network0", ends[0])
        create_veth_pair("rphy0", ends[1])
    devices = [
        f"net_{kind}{number},iface={name}0" for number, name in ((0, "network"), (1, "rphy"))
    ]
    frames = [record.data for record in read_pcap(arguments.captured).records]
    options = ("--config", arguments.config, "--json", arguments.summary)
    with serve(*options, "--network", devices[0], "--rphy", devices[1]) as run:
        if run.process.poll() is None:
            write_pcap(arguments.out, _exchange(run, *ends, frames))
            done = run.stop()
        else:
            done = run.wait()
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.status


if __name__ == "__main__":
    sys.exit(main())
