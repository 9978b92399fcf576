# SPDX-License-Identifier: BSD-3-Clause
"""Finds devices that must not be changed: interfaces of logins, routes or addresses, and devices
that a process uses.

If `ip` does not list addresses, every interface that is up counts as one with an address.
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
MAX_ANCESTORS = 256
Reasons = dict[str, str]


def links_with_addresses(files: Files) -> list[Json] | None:
    """Interfaces with their addresses, from `ip -j address`; None if not known."""
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
    """Compares IP addresses. An IPv4-mapped IPv6 address equals its IPv4 address."""
    try:
        first, second = (ipaddress.ip_address(text.partition("%")[0]) for text in (one, other))
    except ValueError:
        return False
    mapped = [getattr(address, "ipv4_mapped", None) or address for address in (first, second)]
    return bool(mapped[0] == mapped[1])


def ssh_connections(files: Files, environment: Mapping[str, str]) -> set[str]:
    """SSH_CONNECTION of this process and its ancestors, as sudo does not pass it on."""
    found = {environment.get("SSH_CONNECTION", "")}
    process, seen = "self", {"0", ""}
    for _ in range(MAX_ANCESTORS):
        process = files.fields(f"proc/{process}/status").get("PPid", "")
        if process in seen or not re.fullmatch("[0-9]+", process):
            break
        seen.add(process)
        for setting in files.text(f"proc/{process}/environ").split("\0"):
            name, _, value = setting.partition("=")
            if name == "SSH_CONNECTION":
                found.add(value)
    return found


def session_interfaces(links: Sequence[Json], found: Collection[str]) -> set[str]:
    """Interfaces with the server address of a connection, which is text as in SSH_CONNECTION:
    client address, client port, server address, server port."""
    servers = {words[2] for words in (session.split() for session in found) if len(words) == 4}
    return {
        link["ifname"]
        for link in links
        for own in servers
        if own.partition("%")[2] == link["ifname"]
        or any(same_address(str(a.get("local")), own) for a in addresses_of(link))
    }


def connected_link_locals(files: Files) -> set[str]:
    """Link-local IPv6 addresses of established TCP connections, which may be logins without
    SSH_CONNECTION. The file has addresses as 32-bit words in the host's byte order."""
    found = set()
    for line in files.text("proc/net/tcp6").splitlines()[1:]:
        match = re.match(r"\s*[0-9]+: ([0-9A-F]{32}):[0-9A-F]{4} [0-9A-F:]+ 01 ", line)
        if match:
            words = [match[1][at : at + 8] for at in range(0, 32, 8)]
            data = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
            address = ipaddress.IPv6Address(data)
            found |= {str(address)} if address.is_link_local else set()
    return found


def is_assigned(address: Mapping[str, Any]) -> bool:
    """Whether an operator assigned the address. Link-local IPv6 addresses are automatic."""
    try:
        version = ipaddress.ip_address(str(address.get("local"))).version
    except ValueError:
        return True
    return version == 4 or address.get("scope") not in ("link", "host")


def interfaces_in_use(files: Files, links: Sequence[Json] | None) -> Reasons:
    """Interfaces that are up and have an assigned address, with the reason."""
    if links is None:
        names = [name for name in files.names(NETS, INTERFACE) if is_up(files, name)]
        why = "it is up, and `ip` does not list its addresses"
        return {name: why for name in names if name != LOOPBACK}
    found: Reasons = {}
    for link in links:
        chosen = [a for a in addresses_of(link) if is_assigned(a)]
        if chosen and link["ifname"] != LOOPBACK and is_up(files, link["ifname"]):
            found[link["ifname"]] = f"it is up and has address {chosen[0].get('local')}"
    return found


def directly_guarded(files: Files, environment: Mapping[str, str]) -> Reasons:
    """Interfaces that must not be changed because of their own state, with the reason."""
    found: Reasons = {}
    links = links_with_addresses(files)
    for name in session_interfaces(links or [], ssh_connections(files, environment)):
        found[name] = "your SSH session uses it"
    connections = [f"- - {address} -" for address in connected_link_locals(files)]
    for name in session_interfaces(links or [], connections):
        found.setdefault(name, "a TCP connection uses it")
    for name in default_routes(files):
        found.setdefault(name, "the default route uses it")
    return {**interfaces_in_use(files, links), **found}


def lower_interfaces(files: Files, name: str) -> list[str]:
    """The ports of a bond or bridge, or the parent of a VLAN interface."""
    base = f"{NETS}/{name}"
    lower = [entry.removeprefix("lower_") for entry in files.names(base, r"lower_[!-.0-~]{1,15}")]
    ports = files.names(f"{base}/brif", INTERFACE)
    return [*lower, *ports, *files.text(f"{base}/bonding/slaves").split()]


def guarded(files: Files, environment: Mapping[str, str] | None = None) -> Reasons:
    """Returns all interfaces that must not be changed, with the reason."""
    found = directly_guarded(files, os.environ if environment is None else environment)
    unvisited = list(found)
    while unvisited:
        name = unvisited.pop()
        for part in lower_interfaces(files, name):
            if part not in found:
                found[part] = f"{name} uses it ({found[name]})"
                unvisited.append(part)
    for name in files.names(NETS, INTERFACE):
        master = files.link(f"{NETS}/{name}/master")
        upper = files.names(f"{NETS}/{name}", "upper_.*")
        if (master or upper) and name not in found:
            part = master or upper[0].removeprefix("upper_")
            found[name] = f"it is a port of {part}"
    return found


def guarded_cards(files: Files, listed: Sequence[Card], names: Reasons) -> Reasons:
    """Returns the cards that have such interfaces, and the parents of such virtual functions, by
    address."""
    found: Reasons = {}
    for one in listed:
        for name in one.interfaces:
            if name in names:
                found[one.address] = f"{name}: {names[name]}"
        if one.driver and not one.interfaces and not re.match(r"vfio|uio|igb_uio", one.driver):
            found[one.address] = (
                f"{one.driver} drives it, but its interface is not visible: a container may use it"
            )
    for one in listed:
        if one.parent and one.address in found:
            reason = f"its function {one.address} must not change: {found[one.address]}"
            found.setdefault(one.parent, reason)
    return found


USERSPACE = re.compile(r"vfio|uio|igb_uio")  # drivers whose devices have no interface


def open_files(files: Files, process: str) -> set[str]:
    """Files that a process has open. The process may end meanwhile."""
    found = set()
    for name in files.names(f"proc/{process}/fd", r"[0-9]+"):
        with suppress(OSError):
            found.add(os.readlink(files.path(f"proc/{process}/fd/{name}")))
    return found


def device_files(files: Files, address: str) -> set[str]:
    """Device files through which a process can use the device: VFIO, UIO or verbs."""
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


def processes_using(files: Files, address: str) -> list[str]:
    """Processes that have a device open. An unbind would block until they close it."""
    wanted = device_files(files, address)
    found = []
    for process in files.names("proc", r"[0-9]+") if wanted else ():
        if wanted & open_files(files, process):
            found.append(f"{files.text(f'proc/{process}/comm') or 'process'} {process}")
    return found


def check_not_in_use(files: Files, address: str) -> None:
    """Raises StepError if a process has the device open."""
    found = processes_using(files, address)
    if found:
        raise StepError(f"{address} is in use by {', '.join(found)}; stop it first")


def busy_reason(files: Files, address: str) -> str:
    """Returns why an existing function is not free; "" if it is free."""
    found = processes_using(files, address)
    if found:
        return f"in use by {', '.join(found)}"
    one = card(files, address)
    if one.driver and not one.interfaces and not USERSPACE.match(one.driver):
        return f"{one.driver} drives it, but its interface is not visible: a container may use it"
    up = [name for name in one.interfaces if is_up(files, name)]
    return f"its interface {up[0]} is up" if up else ""
