# SPDX-License-Identifier: BSD-3-Clause
"""The requirements of the service groups to plan for: ports, memory, MTU and cores.

Service groups are a number (--groups), or those of a configuration file (--config).
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planning.size import published as size_published
from planning.size.command import DEFAULT_MACHINE
from planning.size.request import Groups
from vcmts import published
from vcmts.jsons import Json
from vcmts.layout.command import check_placement, cores_text
from vcmts.layout.machine import Machine
from vcmts.layout.propose import MOST_GROUPS
from vcmts.paths import TOOL, MistakeError

NETWORK, RPHY = "network", "rphy"
ROLES = (NETWORK, RPHY)
ETHERNET_MTU = 1500
FRAME_MTU = 2000  # subscribers' IP packets are shorter: max_frame is at most 2000 bytes
MAX_VLAN = 4094


@dataclass(frozen=True)
class Port:
    """A port of one service group, or of several that share it."""

    role: str
    groups: tuple[int, ...]
    mac: str = ""  # "": generated
    vlan: int = 0  # the card adds and removes it; 0: none
    several: bool = False  # the groups use more MAC addresses than `mac`


@dataclass(frozen=True)
class Requirements:
    groups: tuple[int, ...]
    upstreams: tuple[bool, ...]
    ports: tuple[Port, ...]
    memory_mb: int  # in huge pages, of all groups
    memory_source: str
    mtu: int  # bytes of the longest IP packet on any port
    placement: Json | None = None  # of vcmtsd, if the configuration sets cores


def vlans(text: str, option: str, count: int) -> list[int]:
    """Parses the VLANs of `count` ports: one for all, or one per port."""
    if not text:
        return [0] * count
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers = [n for n in (first, last or first) if n.isdigit() and len(n) < 5]
        if len(numbers) < 2 or not 1 <= int(numbers[0]) <= int(numbers[1]) <= MAX_VLAN:
            raise MistakeError(f"{option}: found {part!r}, allowed: VLANs, such as 10 or 100-103")
        found += range(int(numbers[0]), int(numbers[1]) + 1)
    if len(found) not in (1, count):
        raise MistakeError(
            f"{option}: found {len(found)} VLANs for {count} ports, allowed: one for all, or one "
            "per port"
        )
    return found if len(found) == count else found * count


def ports_for_number(arguments: argparse.Namespace, groups: Sequence[int]) -> list[Port]:
    sets = [tuple(groups)] if arguments.ports == "shared" else [(group,) for group in groups]
    tags = {
        NETWORK: vlans(arguments.network_vlan, "--network-vlan", len(sets)),
        RPHY: vlans(arguments.rphy_vlan, "--rphy-vlan", len(sets)),
    }
    return [
        Port(role, users, vlan=tags[role][index])
        for index, users in enumerate(sets)
        for role in ROLES
    ]


@cache
def published_memory() -> tuple[float, str]:
    """MB of huge pages per service group from published results, and their source."""
    one = size_published.costs(published.load(), DEFAULT_MACHINE, Groups(ofdm=6))
    return (one.memory_gib or 1.0) * 1024, one.memory_source


def requirements_for_number(arguments: argparse.Namespace) -> Requirements:
    number = 1 if arguments.groups is None else arguments.groups
    if not 1 <= number <= MOST_GROUPS:
        raise MistakeError(f"--groups: found {number}, allowed: 1 to {MOST_GROUPS}")
    groups = tuple(range(1, number + 1))
    memory, source = published_memory()
    return Requirements(
        groups=groups,
        upstreams=(True,) * number,
        ports=tuple(ports_for_number(arguments, groups)),
        memory_mb=math.ceil(memory * number),
        memory_source=source,
        mtu=FRAME_MTU,
    )


def ports_for_config(arguments: argparse.Namespace, groups: Sequence[Json]) -> list[Port]:
    """Groups with the same device share a port. A card adds no VLAN to a port that vcmtsd tags."""
    users: dict[tuple[str, str], list[Json]] = {}
    for group in groups:
        for role in ROLES:
            users.setdefault((group[f"{role}_device"].split(",")[0], role), []).append(group)
    found: list[Port] = []
    for role, option in ((NETWORK, arguments.network_vlan), (RPHY, arguments.rphy_vlan)):
        sets = [listed for (_, of), listed in users.items() if of == role]
        tags = vlans(option, f"--{role}-vlan", len(sets))
        for listed, tag in zip(sets, tags, strict=True):
            own = [group["ports"][role] for group in listed]
            if tag and any(port["vlan"] for port in own):
                raise MistakeError(
                    f"--{role}-vlan: found {tag}, but the configuration sets ports.{role}.vlan of "
                    f"service group {listed[0]['service_group']}: allowed: only one of both"
                )
            macs = sorted({port["mac"] for port in own if port["mac"]})
            names = tuple(group["service_group"] for group in listed)
            found.append(Port(role, names, macs[0] if macs else "", tag, len(macs) > 1))
    return found


def requirements_for_config(arguments: argparse.Namespace, machine: Machine) -> Requirements:
    path = Path(arguments.config)
    if not path.is_file():
        raise MistakeError(f"{path}: no such file; `{TOOL} profile NAME > FILE` writes one")
    facts = check_placement(path, cores_text(machine))
    groups, placement = facts["groups"], facts["placement"]
    if arguments.groups not in (None, len(groups)):
        raise MistakeError(
            f"--groups: found {arguments.groups}, but {path} has {len(groups)}: omit --groups"
        )
    configured = any(group["given"] for group in placement["groups"])
    refused = placement["refused"]
    if configured and refused:
        raise MistakeError(
            f"{path}: threads.{refused[0]['key']}: found {refused[0]['found']}, allowed: "
            f"{refused[0]['allowed']}"
        )
    return Requirements(
        groups=tuple(group["service_group"] for group in groups),
        upstreams=tuple(group["upstream"] is not None for group in placement["groups"]),
        ports=tuple(ports_for_config(arguments, groups)),
        memory_mb=placement["memory_mb"],
        memory_source=f"computed by vcmtsd for {path.name}",
        mtu=max(facts["mtu"], FRAME_MTU),  # facts: the largest rphy.mtu
        placement=placement if configured else None,
    )


def requirements(arguments: argparse.Namespace, machine: Machine) -> Requirements:
    if arguments.config:
        return requirements_for_config(arguments, machine)
    return requirements_for_number(arguments)
