# SPDX-License-Identifier: BSD-3-Clause
"""What is never touched: the interfaces over which the operator is logged in, or the system speaks.

Where `ip` does not tell which interfaces have addresses, each that is up counts as one that has.
"""

import ipaddress
import json
import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from host.prepare.cards import DEVICES, INTERFACE, NETS, VFIO, Card, card
from host.prepare.system import StepError
from vcmts.jsons import Json
from vcmts.system.files import Files

UP = 1  # IFF_UP
LOOPBACK = "lo"
MOST_ANCESTORS = 256
Reasons = dict[str, str]


def told(files: Files) -> list[Json] | None:
    """Interfaces with their addresses; None: not known."""
    try:
        found = json.loads(files.run(("ip", "-j", "address")))
    except ValueError:
        return None
    if not isinstance(found, list):
        return None
    return [
        link for link in found if isinstance(link, dict) and isinstance(link.get("ifname"), str)
    ]


def addresses_of(link: Json) -> list[Json]:
    listed = link.get("addr_info")
    return [a for a in listed if isinstance(a, dict)] if isinstance(listed, list) else []


def is_up(files: Files, name: str) -> bool:
    return bool(files.count(f"{NETS}/{name}/flags") & UP)


def default_routes(files: Files) -> set[str]:
    found = set()
    for line in files.text("proc/net/route").splitlines()[1:]:
        words = line.split()
        if len(words) > 7 and words[1] == words[7] == "00000000":
            found.add(words[0])
    for line in files.text("proc/net/ipv6_route").splitlines():
        words = line.split()
        if len(words) > 9 and words[0] == "0" * 32 and words[1] == "00":
            found.add(words[9])
    return found - {LOOPBACK}


def same_address(one: str, other: str) -> bool:
    """Also where IPv4 is written as IPv6, as a server that listens to both has it."""
    try:
        first, second = (ipaddress.ip_address(text.partition("%")[0]) for text in (one, other))
    except ValueError:
        return False
    mapped = [getattr(address, "ipv4_mapped", None) or address for address in (first, second)]
    return bool(mapped[0] == mapped[1])


def sessions(files: Files, environment: Mapping[str, str]) -> set[str]:
    """SSH_CONNECTION here and of the processes that we descend from: sudo does not pass it on."""
    found = {environment.get("SSH_CONNECTION", "")}
    process, seen = "self", {"0", ""}
    for _ in range(MOST_ANCESTORS):
        process = files.fields(f"proc/{process}/status").get("PPid", "")
        if process in seen or not re.fullmatch("[0-9]+", process):
            break
        seen.add(process)
        for setting in files.text(f"proc/{process}/environ").split("\0"):
            name, _, value = setting.partition("=")
            if name == "SSH_CONNECTION":
                found.add(value)
    return found


def logged_in(links: Sequence[Json], found: Collection[str]) -> set[str]:
    """Each is the client's address and port, and ours."""
    ours = {words[2] for words in (session.split() for session in found) if len(words) == 4}
    return {
        link["ifname"]
        for link in links
        for own in ours
        if own.partition("%")[2] == link["ifname"]
        or any(same_address(str(a.get("local")), own) for a in addresses_of(link))
    }


def connected(files: Files) -> set[str]:
    """Addresses of links that have an established connection, which may be a login that no
    environment tells of. Addresses are words as the processor has them."""
    found = set()
    for line in files.text("proc/net/tcp6").splitlines()[1:]:
        match = re.match(r"\s*[0-9]+: ([0-9A-F]{32}):[0-9A-F]{4} [0-9A-F:]+ 01 ", line)
        if match:
            words = [match[1][at : at + 8] for at in range(0, 32, 8)]
            data = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
            address = ipaddress.IPv6Address(data)
            found |= {str(address)} if address.is_link_local else set()
    return found


def of_a_choice(address: Mapping[str, Any]) -> bool:
    """Each interface that is up has an IPv6 address of the link: those alone are nobody's."""
    try:
        version = ipaddress.ip_address(str(address.get("local"))).version
    except ValueError:
        return True
    return version == 4 or address.get("scope") not in ("link", "host")


def in_use(files: Files, links: Sequence[Json] | None) -> Reasons:
    """Interfaces that are up, and that somebody has given an address."""
    if links is None:
        names = [name for name in files.names(NETS, INTERFACE) if is_up(files, name)]
        why = "it is up, and `ip` does not tell its addresses"
        return {name: why for name in names if name != LOOPBACK}
    found: Reasons = {}
    for link in links:
        chosen = [a for a in addresses_of(link) if of_a_choice(a)]
        if chosen and link["ifname"] != LOOPBACK and is_up(files, link["ifname"]):
            found[link["ifname"]] = f"it is up and has address {chosen[0].get('local')}"
    return found


def roots(files: Files, environment: Mapping[str, str]) -> Reasons:
    """Interfaces that count by themselves."""
    found: Reasons = {}
    links = told(files)
    for name in logged_in(links or [], sessions(files, environment)):
        found[name] = "you are logged in over it"
    for name in logged_in(links or [], [f"- - {address} -" for address in connected(files)]):
        found.setdefault(name, "a connection is established over it")
    for name in default_routes(files):
        found.setdefault(name, "the default route goes over it")
    return {**in_use(files, links), **found}


def below(files: Files, name: str) -> list[str]:
    """What an interface stands on: the ports of a bond or bridge, the parent of a VLAN."""
    base = f"{NETS}/{name}"
    lower = [entry.removeprefix("lower_") for entry in files.names(base, r"lower_[!-.0-~]{1,15}")]
    ports = files.names(f"{base}/brif", INTERFACE)
    return [*lower, *ports, *files.text(f"{base}/bonding/slaves").split()]


def guarded(files: Files, environment: Mapping[str, str] | None = None) -> Reasons:
    """Every interface that is not touched, and why."""
    found = roots(files, os.environ if environment is None else environment)
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        for part in below(files, name):
            if part not in found:
                found[part] = f"{name} stands on it ({found[name]})"
                waiting.append(part)
    for name in files.names(NETS, INTERFACE):
        master = files.link(f"{NETS}/{name}/master")
        upper = files.names(f"{NETS}/{name}", "upper_.*")
        if (master or upper) and name not in found:
            part = master or upper[0].removeprefix("upper_")
            found[name] = f"it is a part of {part}"
    return found


def guarded_cards(files: Files, listed: Sequence[Card], names: Reasons) -> Reasons:
    """Cards by address: those of such interfaces, and the cards of which these are functions."""
    found: Reasons = {}
    for one in listed:
        for name in one.interfaces:
            if name in names:
                found[one.address] = f"{name}: {names[name]}"
        if one.driver and not one.interfaces and not re.match(r"vfio|uio|igb_uio", one.driver):
            found[one.address] = (
                f"{one.driver} has it, but no interface is seen: it may be a container's"
            )
    for one in listed:
        if one.parent and one.address in found:
            found.setdefault(one.parent, f"its function {one.address} is {found[one.address]}")
    return found


USERSPACE = re.compile(r"vfio|uio|igb_uio")  # drivers whose devices have no interface


def opened_by(files: Files, process: str) -> set[str]:
    """What a process has open; it may open and close files, or end, meanwhile."""
    found = set()
    for name in files.names(f"proc/{process}/fd", r"[0-9]+"):
        with suppress(OSError):
            found.add(os.readlink(files.path(f"proc/{process}/fd/{name}")))
    return found


def device_files(files: Files, address: str) -> set[str]:
    """By which a process has the device: of VFIO, UIO, or the verbs beside a kernel's driver."""
    base = f"{DEVICES}/{address}"
    found = {f"/dev/{name}" for name in files.names(f"{base}/uio", r"uio[0-9]+")}
    found |= {
        f"/dev/infiniband/{name}"
        for name in files.names(f"{base}/infiniband_verbs", r"uverbs[0-9]+")
    }
    group = files.link(f"{base}/iommu_group")
    if group and files.link(f"{base}/driver") == VFIO:
        found |= {f"/dev/vfio/{group}", f"/dev/vfio/noiommu-{group}"}
        names = files.names(f"{base}/vfio-dev", r"(?:noiommu-)?vfio[0-9]+")
        found |= {f"/dev/vfio/devices/{name}" for name in names}
    return found


def users(files: Files, address: str) -> list[str]:
    """Processes that have a device open: the kernel would wait for them without end."""
    wanted = device_files(files, address)
    found = []
    for process in files.names("proc", r"[0-9]+") if wanted else ():
        if wanted & opened_by(files, process):
            found.append(f"{files.text(f'proc/{process}/comm') or 'process'} {process}")
    return found


def not_in_use(files: Files, address: str) -> None:
    """Raises StepError."""
    found = users(files, address)
    if found:
        raise StepError(f"{address} is in use by {', '.join(found)}; stop it first")


def busy(files: Files, address: str) -> str:
    """Why a function that somebody made is not free; "" where it is."""
    found = users(files, address)
    if found:
        return f"in use by {', '.join(found)}"
    one = card(files, address)
    if one.driver and not one.interfaces and not USERSPACE.match(one.driver):
        return f"{one.driver} has it, but no interface is seen: it may be a container's"
    up = [name for name in one.interfaces if is_up(files, name)]
    return f"its interface {up[0]} is up" if up else ""
