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
    "Gbps/W of the CPU, modelled",
    "Gbps/W of the server, modelled",
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
        gbps = result["gbps"]["total"]
        yield (
            result["point"],
            number(gbps),
            number(cpu),
            number(platform),
            number(gbps / cpu),
            "-" if platform is None else number(gbps / platform),
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
            "workers that are always busy at the highest frequency. That the rates were carried "
            "by such a machine is what the description says, not what was checked."
        )
        out.blocks.insert(0, Text(words))
    return out
