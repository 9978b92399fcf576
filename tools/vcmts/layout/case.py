# SPDX-License-Identifier: BSD-3-Clause
"""The data of `vcmts layout`: a placement, the machine, and the notes of the rules."""

from collections.abc import Iterable
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.layout.machine import Machine, cpu_list

REFUSED, BETTER, KNOWN = "refused", "better", "known"


@dataclass(frozen=True)
class Note:
    kind: str
    level: str  # REFUSED: vcmtsd would not start; BETTER: can be improved; KNOWN: information
    text: str
    todo: str


@dataclass(frozen=True)
class Port:
    group: int
    name: str  # "network" or "rphy"
    device: str
    node: int | None


@dataclass(frozen=True)
class Case:
    machine: Machine
    placement: Json  # printed by `vcmtsd check --cores`
    ports: tuple[Port, ...] = ()
    configured: bool = True  # the configuration sets the placement

    def runs(self) -> dict[int, str]:
        return {worker["core"]: worker["runs"] for worker in self.placement["workers"]}

    def groups(self) -> list[Json]:
        groups: list[Json] = self.placement["groups"]
        return groups

    def main(self) -> int:
        return int(self.placement["main_core"])

    def free(self) -> list[int]:
        return sorted(self.machine.usable - set(self.runs()) - {self.main()})


def cores_of(group: Json) -> dict[str, int]:
    """The cores of a group by pipeline part; no key `upstream` without an upstream."""
    return {
        part: group[part]
        for part in ("upper_mac", "lower_mac", "upstream")
        if group[part] is not None
    }


def numbered(what: str, numbers: Iterable[int]) -> str:
    """Formats a noun with its numbers, such as "cores 1-3,5"."""
    listed = sorted(set(numbers))
    return f"{what}{'' if len(listed) == 1 else 's'} {cpu_list(listed)}"


def is_are(numbers: Iterable[int]) -> str:
    return "is" if len(set(numbers)) == 1 else "are"


def parts_on(case: Case, core: int) -> set[tuple[int, str]]:
    return {
        (group["service_group"], part)
        for group in case.groups()
        for part, at in cores_of(group).items()
        if at == core
    }
