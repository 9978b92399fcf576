# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on ports, in real time: started, awaited, stopped by a signal.

As a program (python -m e2e.ports) it plays a capture to vcmtsd over interfaces of the kernel and
records what comes back; to be called in a network namespace of its own.
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

from e2e.running import Ended, ended, stop
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connected
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

SERVING = "vcmtsd: serving service group"
QUIET_S = 0.5
GAP_S = 0.0001
ETH_P_ALL = 3
PACKET_OUTGOING = 4


@dataclass
class Run:
    """A vcmtsd in service. `stop` sends the signal and tells how it ended."""

    process: "subprocess.Popen[str]"
    stderr: list[str]
    reader: threading.Thread

    def wait(self) -> Ended:
        assert self.process.stdout is not None
        stdout = self.process.stdout.read()
        status = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        return ended(status, stdout, "".join(self.stderr))

    def taken(self, packets: int, group: int | None = None) -> None:
        """Waits until so many have come in downstream, and each has gone out or was dropped.
        `group` is the service group's ID, needed where there are several."""
        with connected(self.process.pid) as asked:
            asked.group = group
            until(lambda: settled(asked, packets), f"{packets} packets")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Ended:
        self.process.send_signal(number)
        return self.wait()


def _read(process: "subprocess.Popen[str]", lines: list[str], serving: threading.Event) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if line.startswith(SERVING):
            serving.set()
    serving.set()


def settled(asked: Plane, packets: int) -> bool:
    down = asked.counts()["downstream"]
    counters = down["counters"]
    gone = counters["transmitted"] + sum(down["drops"].values())
    return bool(counters["received"] >= packets and gone == counters["received"])


@contextmanager
def serve(*arguments: str | Path) -> Iterator[Run]:
    """vcmtsd run, from the moment that it serves; ended at the latest when the block ends."""
    command = [str(program("vcmtsd")), "run", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        lines: list[str] = []
        serving = threading.Event()
        reader = threading.Thread(target=_read, args=(process, lines, serving), daemon=True)
        reader.start()
        try:
            assert serving.wait(TIMEOUT)
            yield Run(process, lines, reader)
        finally:
            stop(process)


def memif(folder: Path, role: str) -> tuple[str, ...]:
    """Both ports over sockets in the folder, as `server` or as `client`; all of a ring at once."""
    device = "net_memif{0},role={1},id={0},rsize=12,socket-abstract=no,socket={2}/{0}.sock"
    ends = (("--network", 0), ("--rphy", 1))
    return tuple(word for name, n in ends for word in (name, device.format(n, role, folder)))


def pcap_ports(captured: Path, sent: Path, more: str = "") -> tuple[str, ...]:
    """Ports that need no privileges: one reads a capture, the other writes one. What each does not
    use is a ring that nobody fills."""
    network = f"net_pcap0,rx_pcap={captured}{more}"
    return ("--network", network, "--rphy", f"net_pcap1,tx_pcap={sent}")


def _socket(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    made.bind((interface, 0))
    return made


def _take(incoming: socket.socket, wait_s: float) -> Iterator[Record]:
    """What comes in until nothing has come for `wait_s`; not what this machine sends itself."""
    while select.select([incoming], [], [], wait_s)[0]:
        data, address = incoming.recvfrom(65536)
        if address[2] != PACKET_OUTGOING:
            yield Record(time.time_ns(), data, len(data))


def _exchange(run: Run, outgoing: str, incoming: str, frames: Sequence[bytes]) -> list[Record]:
    received: list[Record] = []
    with _socket(outgoing) as sender, _socket(incoming) as receiver:
        for frame in frames:
            sender.send(frame)
            received += _take(receiver, GAP_S)
        run.taken(len(frames))
        received += _take(receiver, QUIET_S)
    return received


def _veth_pair(inner: str, outer: str) -> None:
    links = [
        f"link add name {inner} mtu 9000 type veth peer name {outer} mtu 9000",
        f"link set {inner} up",
        f"link set {outer} up",
    ]
    for link in links:
        subprocess.run(["ip", *link.split()], check=True)


def _silence() -> None:
    """No IPv6 of the kernel's own on the links."""
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
        _silence()
    ends = ("network0", "rphy0")
    if kind == "af_packet":
        ends = ("network1", "rphy1")
        _veth_pair("network0", ends[0])
        _veth_pair("rphy0", ends[1])
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
