# SPDX-License-Identifier: BSD-3-Clause
"""The section of a report with modelled watts, at full load, of the machine of --power."""

from collections.abc import Iterator, Sequence

from vcmts.power.model import Machine, Use, cpu_watts, platform_watts
from vcmts.report.document import Section, Table, Text, number
from vcmts.report.runs import Run, confirmed, select_kind

HEAD = (
    "point",
    "total, Gbps",
    "CPU, modelled W",
    "server, modelled W",
)


def full_load_watts(machine: Machine) -> float:
    """Modelled CPU watts with all workers busy at the highest frequency."""
    return cpu_watts(machine, [Use(1.0, 0.0, machine.states[-1].ghz * 1e9)])


def rows(run: Run, machine: Machine) -> Iterator[tuple[str, ...]]:
    """A row per confirmed point. Watts are those of full load, so equal in all rows."""
    cpu = full_load_watts(machine)
    platform = platform_watts(machine, cpu)
    for result in run.results:
        if not confirmed(result):
            continue
        yield (
            result["point"],
            number(result["gbps"]["total"]),
            number(cpu),
            number(platform),
        )


def section(runs: Sequence[Run], machine: Machine) -> Section:
    """The section; without blocks if trials confirmed no throughput: the report omits it then."""
    out = Section("Watts, modelled")
    for run in select_kind(runs, "throughput"):
        found = list(rows(run, machine))
        if found:
            out.blocks.append(Table(f"At the rate without loss, {run.title}", HEAD, found))
    if out.blocks:
        words = (
            f"Modelled, not measured: {machine.name}, with {machine.worker_cores:g} cores of "
            "workers, all busy at the highest frequency. Rates are those of the measurement, "
            "usually of one service group; watts are those of the described machine with all its "
            "groups. So their ratio is not an efficiency."
        )
        out.blocks.insert(0, Text(words))
    return out
