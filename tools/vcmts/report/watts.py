# SPDX-License-Identifier: BSD-3-Clause
"""Modelled watts in a report: what was carried without loss, by what a described machine takes."""

from collections.abc import Iterator, Sequence

from vcmts.power.model import Machine, Use, cpu_watts, platform_watts
from vcmts.report.document import Section, Table, Text, number
from vcmts.report.runs import Run, confirmed, of_kind

HEAD = (
    "point",
    "total, Gbps",
    "CPU, modelled W",
    "server, modelled W",
)


def full(machine: Machine) -> float:
    """All workers busy at the highest frequency, as at the highest rate without loss."""
    return cpu_watts(machine, [Use(1.0, 0.0, machine.states[-1].ghz * 1e9)])


def rows(run: Run, machine: Machine) -> Iterator[tuple[str, ...]]:
    cpu = full(machine)
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
    """Empty where no throughput was measured."""
    out = Section("Watts, modelled")
    for run in of_kind(runs, "throughput"):
        found = list(rows(run, machine))
        if found:
            out.blocks.append(Table(f"At the rate without loss, {run.title}", HEAD, found))
    if out.blocks:
        words = (
            f"Modelled, not measured: {machine.name}, with {machine.worker_cores:g} cores of "
            "workers that are always busy at the highest frequency. Rates are those of what was "
            "measured, most often one service group; the watts are those of all that the described "
            "machine carries, so that one divided by the other would be no efficiency."
        )
        out.blocks.insert(0, Text(words))
    return out
