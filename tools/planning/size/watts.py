# SPDX-License-Identifier: BSD-3-Clause
"""Adds the modelled watts of a full server to the answer of `vcmts size`, if its machine has a
description of its power."""

from collections.abc import Callable, Sequence
from pathlib import Path

from planning.power.simulate import use
from planning.size.load import Question, Usage
from planning.size.plan import Plan
from planning.size.published import PREFIX
from vcmts import published
from vcmts.jsons import Json
from vcmts.power import machine as power_machine
from vcmts.power.model import Machine, Use, cpu_watts, platform_watts

HELP = (
    "description of the server's power, for modelled watts (default: config/power.yaml for "
    "machine published:2023-energy)"
)
MODES = {"polling": "none", "saving": "both"}


def described_machine(file: str | None, machines: Sequence[str] | None) -> Machine | None:
    """The description from a file, else of the published profile; None if there is none."""
    if file is not None:
        return power_machine.read(Path(file))
    for name in machines or ():
        profile = published.load().profiles.get(name.removeprefix(PREFIX))
        if name.startswith(PREFIX) and profile and profile.power:
            return power_machine.read(published.FILE.parent / profile.power)
    return None


def mismatch(question: Question, machine: Machine) -> str:
    """Returns why the description does not fit this server; "" if it does."""
    server = question.server
    cores, ghz = server.sockets * server.cores, machine.states[-1].ghz
    if machine.cores == cores and abs(ghz - server.clock) < 1e-6:
        return ""
    return (
        f"no watts: the description is for {machine.cores} cores at {ghz:g} GHz, but this server "
        f"has {cores} at {server.clock:g} GHz"
    )


def uses(question: Question, machine: Machine, used: Usage, index: int, mode: str) -> list[Use]:
    """Use of the cores per direction: the rates relative to the capacity of a core."""
    rules, rate = question.rules, used.rates[index]
    total = 1 - rules.headroom
    parts = [(rules.downstream_cores, rate.downstream / rate.downstream_capacity)]
    if not rules.one_thread and rules.upstream_cores > 0:
        # an upstream of unknown cost counts as fully busy
        most = rate.upstream_capacity
        parts.append((rules.upstream_cores, rate.upstream / most if most else 1.0))
    return [use(machine, min(1.0, share * total), mode, cores) for cores, share in parts]


def figures(question: Question, machine: Machine, used: Usage, index: int) -> Json:
    cpu = {
        name: cpu_watts(machine, uses(question, machine, used, index, mode), used.data_cores)
        for name, mode in MODES.items()
    }
    platform = {name: platform_watts(machine, watts) for name, watts in cpu.items()}
    return {
        "machine": machine.name,
        "modelled_cpu_watts": {name: round(watts, 2) for name, watts in cpu.items()},
        "modelled_platform_watts": {
            name: None if watts is None else round(watts, 2) for name, watts in platform.items()
        },
        "modelled_gbps_per_watt": {
            name: round(used.carried / (platform[name] or watts), 4) for name, watts in cpu.items()
        },
        "level": "processors" if machine.platform_watts is None else "server",
    }


def add(answer: Json, plan: Plan, machine: Machine | None) -> None:
    """Adds the key `power` and its assumptions to each kind of service group."""
    if machine is None:
        return
    why = mismatch(plan.question, machine)
    for index, kind in enumerate(answer["kinds"]):
        if why:
            kind["outside_what_was_measured"].append(why)
            continue
        kind["power"] = figures(plan.question, machine, plan.alone[index], index)
        kind["assumed"].append(
            f"watts are modelled of {machine.name}: all service groups at the rates above; saving "
            "is by pauses and the lowest frequency that carries them (docs/power.md)"
        )


def watts(kind: Json, mode: str) -> float:
    """Watts of the server, or of its processors if the server's are unknown."""
    found: Json = kind["power"]
    value: float = found["modelled_platform_watts"][mode] or found["modelled_cpu_watts"][mode]
    return value


def rows(kinds: Sequence[Json]) -> list[tuple[str, Callable[[Json], str]]]:
    """Lines of the table; none if watts are unknown."""
    if not all("power" in kind for kind in kinds):
        return []
    of = kinds[0]["power"]["level"]
    return [
        (f"W of the {of}, modelled: polling", lambda k: f"{watts(k, 'polling'):.0f}"),
        ("  with pauses and slower cores", lambda k: f"{watts(k, 'saving'):.0f}"),
        (
            "Gbps a watt, modelled: polling",
            lambda k: f"{k['power']['modelled_gbps_per_watt']['polling']:.2f}",
        ),
        (
            "  with pauses and slower cores",
            lambda k: f"{k['power']['modelled_gbps_per_watt']['saving']:.2f}",
        ),
    ]
