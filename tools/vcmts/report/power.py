# SPDX-License-Identifier: BSD-3-Clause
"""The section of a report on pauses and lower clock frequencies (`vcmts bench power`)."""

from collections.abc import Sequence

from vcmts.bench.power import results as power_results
from vcmts.report.document import Section, Table, Text
from vcmts.report.runs import Run, select_kind

CAVEAT = (
    "Values are from pairs of consecutive trials, with polling and with pauses. On machines with "
    "fixed clocks the worker was slowed down instead."
)


def section(runs: Sequence[Run]) -> Section:
    out = Section("Power")
    for run in select_kind(runs, "power"):
        for table in power_results.tables(run.file):
            out.blocks.append(Table(f"{table.title}, {run.title}", table.head, table.rows))
    if out.blocks:
        out.blocks.insert(0, Text(CAVEAT))
    return out
