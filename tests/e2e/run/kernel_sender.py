# SPDX-License-Identifier: BSD-3-Clause
"""Program (python -m e2e.run.kernel_sender CONFIG OUT): runs vcmtsd on veth links, and sends to it
from sockets of the kernel, which leaves TCP and UDP checksums to the NIC. Writes the packets of the
R-PHY port to OUT, a pcap file. The exit status is that of vcmtsd.

It needs a network namespace of its own: it creates links, and turns IPv6 off.
"""

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from e2e.ports import QUIET_S, create_veth_pair, disable_ipv6, packet_socket, receive_all, serve
from vcmts.witness.pcapfile import write_pcap

SUBSCRIBER, UDP_PORT = "10.0.0.1", 5000  # plus the size, for different checksums
# Bytes of UDP data: odd and even, frames below the minimum of Ethernet, and up to 1500 bytes of IP.
SIZES = (*range(1, 20), 500, 501, 1400, 1472)
UDP_SEGMENT = 103  # of linux/udp.h; the module socket has no name for it
# network1 is the kernel's end of the link, network0 that of vcmtsd.
IP_COMMANDS = [
    "addr add 198.51.100.1/24 dev network1",
    "route add 10.0.0.0/24 dev network1",
    f"neigh add {SUBSCRIBER} lladdr 02:01:00:00:00:01 nud permanent dev network1",
]


def send() -> None:
    """Sends a datagram of each of SIZES, 8000 bytes in one packet for UDP segmentation offload,
    which vcmtsd must drop (ipv4_length), and a TCP SYN."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        for size in SIZES:
            client.sendto(bytes(n * 7 & 0xFF for n in range(size)), (SUBSCRIBER, UDP_PORT + size))
        client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        client.sendto(bytes(8000), (SUBSCRIBER, UDP_PORT))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        with suppress(BlockingIOError):
            client.connect((SUBSCRIBER, 80))


def main() -> int:
    config, out = map(Path, sys.argv[1:])
    if Path("/proc/sys/net/ipv6").exists():
        disable_ipv6()
    create_veth_pair("network0", "network1")
    create_veth_pair("rphy0", "rphy1")
    for words in IP_COMMANDS:
        subprocess.run(["ip", *words.split()], check=True)
    ports = ("--network", "net_af_packet0,iface=network0", "--rphy", "net_af_packet1,iface=rphy0")
    with serve("--config", config, *ports) as run:
        if run.process.poll() is None:
            with packet_socket("rphy1") as receiver:
                send()
                run.wait_processed(len(SIZES) + 2)
                write_pcap(out, list(receive_all(receiver, QUIET_S)))
            done = run.stop()
        else:
            done = run.wait()
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.status


if __name__ == "__main__":
    sys.exit(main())
