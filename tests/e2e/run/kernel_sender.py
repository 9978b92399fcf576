# SPDX-License-Identifier: BSD-3-Clause
"""As a program (python -m e2e.run.kernel_sender): the kernel's own UDP and TCP go over a veth to
vcmtsd, and what leaves to the R-PHY device is recorded. To be called in a network namespace of its
own."""

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from e2e.ports import QUIET_S, _silence, _socket, _take, _veth_pair, serve
from vcmts.witness.pcapfile import write_pcap

SUBSCRIBER, PORT = "10.0.0.1", 5000
SIZES = (*range(1, 20), 500, 501, 1400, 1472)
UDP_SEGMENT = 103
SETTINGS = [
    "addr add 198.51.100.1/24 dev network1",
    "route add 10.0.0.0/24 dev network1",
    f"neigh add {SUBSCRIBER} lladdr 02:01:00:00:00:01 nud permanent dev network1",
]


def send() -> None:
    """Datagrams of many sizes, a connection's first segment, and one that is to be cut later."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        for size in SIZES:
            made.sendto(bytes(n * 7 & 0xFF for n in range(size)), (SUBSCRIBER, PORT + size))
        made.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        made.sendto(bytes(8000), (SUBSCRIBER, PORT))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.setblocking(False)
        with suppress(BlockingIOError):
            made.connect((SUBSCRIBER, 80))


def main() -> int:
    config, out = map(Path, sys.argv[1:])
    if Path("/proc/sys/net/ipv6").exists():
        _silence()
    _veth_pair("network0", "network1")
    _veth_pair("rphy0", "rphy1")
    for words in SETTINGS:
        subprocess.run(["ip", *words.split()], check=True)
    ports = ("--network", "net_af_packet0,iface=network0", "--rphy", "net_af_packet1,iface=rphy0")
    with serve("--config", config, *ports) as run:
        if run.process.poll() is None:
            with _socket("rphy1") as receiver:
                send()
                run.taken(len(SIZES) + 2)
                write_pcap(out, list(_take(receiver, QUIET_S)))
            done = run.stop()
        else:
            done = run.wait()
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.status


if __name__ == "__main__":
    sys.exit(main())
