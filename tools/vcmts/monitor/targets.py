# SPDX-License-Identifier: BSD-3-Clause
"""Where the vcmtsd of this machine tell their metrics: found by what their processes listen to."""

import http.client
import re
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

PROGRAM = "vcmtsd"
LISTENING = "0A"  # of /proc/PID/net/tcp
TELLS = b"vcmts_build_info"
SECONDS = 5
MOST_BYTES = 1 << 26


def processes(root: Path) -> list[Path]:
    """Those of the program, as folders."""
    found = []
    for folder in root.glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == PROGRAM:
                found.append(folder)
        except OSError:  # it has ended meanwhile
            continue
    return sorted(found, key=lambda folder: int(folder.name))


def sockets(process: Path) -> set[str]:
    """Numbers of the sockets that it has open; none where that is not ours to see."""
    found = set()
    try:
        for link in (process / "fd").iterdir():
            match = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
            if match:
                found.add(match[1])
    except OSError:
        pass
    return found


def address_of(text: str) -> str:
    """As /proc has it: the address in words of the machine's own order, and the port, in hex."""
    words, port = text.split(":")
    data = b"".join(
        int(words[place : place + 8], 16).to_bytes(4, "little") for place in range(0, len(words), 8)
    )
    number = int(port, 16)
    if len(data) == 4:
        four = IPv4Address(data)
        return f"{IPv4Address('127.0.0.1') if four.is_unspecified else four}:{number}"
    six = IPv6Address(data)
    return f"[{IPv6Address('::1') if six.is_unspecified else six}]:{number}"


def listens(process: Path) -> list[str]:
    """Addresses and ports of TCP at which it takes connections."""
    own, found = sockets(process), []
    for name in ("tcp", "tcp6"):
        try:
            lines = (process / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        rows = [line.split() for line in lines]
        found += [address_of(row[1]) for row in rows if row[3] == LISTENING and row[9] in own]
    return found


def tells(target: str) -> bool:
    """Whether metrics of a data plane are told there."""
    connection = http.client.HTTPConnection(target, timeout=SECONDS)
    try:
        connection.request("GET", "/metrics")
        return TELLS in connection.getresponse().read(MOST_BYTES)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def targets(root: Path = Path("/proc")) -> list[str]:
    """Of all vcmtsd that run here."""
    asked = [address for process in processes(root) for address in listens(process)]
    return [address for address in asked if tells(address)]
