# SPDX-License-Identifier: BSD-3-Clause
"""Finds the metrics endpoints of the vcmtsd on this machine, by their TCP sockets."""

import http.client
import re
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

PROGRAM = "vcmtsd"
LISTENING = "0A"  # state TCP_LISTEN in /proc/PID/net/tcp
MARKER = b"vcmts_build_info"
SECONDS = 5
MOST_BYTES = 1 << 26


def processes(root: Path) -> list[Path]:
    """The folders in /proc of all processes named PROGRAM, by process ID."""
    found = []
    for folder in root.glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == PROGRAM:
                found.append(folder)
        except OSError:  # the process has ended
            continue
    return sorted(found, key=lambda folder: int(folder.name))


def socket_inodes(process: Path) -> set[str]:
    """The inodes of the sockets that a process has open; empty without permission to see them."""
    found = set()
    try:
        for link in (process / "fd").iterdir():
            match = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
            if match:
                found.add(match[1])
    except OSError:
        pass
    return found


def parse_address(text: str) -> str:
    """Converts a hexadecimal address of /proc/PID/net/tcp; unspecified becomes loopback."""
    words, port = text.split(":")
    data = b"".join(
        int(words[start : start + 8], 16).to_bytes(4, "little") for start in range(0, len(words), 8)
    )
    number = int(port, 16)
    if len(data) == 4:
        four = IPv4Address(data)
        return f"{IPv4Address('127.0.0.1') if four.is_unspecified else four}:{number}"
    six = IPv6Address(data)
    return f"[{IPv6Address('::1') if six.is_unspecified else six}]:{number}"


def listening_addresses(process: Path) -> list[str]:
    """The TCP addresses, as ADDRESS:PORT, on which a process listens."""
    own, found = socket_inodes(process), []
    for name in ("tcp", "tcp6"):
        try:
            lines = (process / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        entries = [line.split() for line in lines]
        found += [
            parse_address(entry[1])
            for entry in entries
            if entry[3] == LISTENING and entry[9] in own
        ]
    return found


def serves_metrics(target: str) -> bool:
    """Whether vcmtsd's metrics are served at an address."""
    connection = http.client.HTTPConnection(target, timeout=SECONDS)
    try:
        connection.request("GET", "/metrics")
        return MARKER in connection.getresponse().read(MOST_BYTES)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def targets(root: Path = Path("/proc"), pid: int | None = None) -> list[str]:
    """The metrics endpoints of the vcmtsd with this process ID, or of all on this machine, each
    once: processes in several network namespaces may have the same address."""
    chosen = [one for one in processes(root) if pid is None or one.name == str(pid)]
    addresses = [address for process in chosen for address in listening_addresses(process)]
    return [address for address in dict.fromkeys(addresses) if serves_metrics(address)]
