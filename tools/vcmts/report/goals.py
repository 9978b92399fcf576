# SPDX-License-Identifier: BSD-3-Clause
"""The section of a report with the goals (config/goals.yaml), measured values and verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple

from vcmts.bench import goals_list as goals
from vcmts.report.document import Card, Items, Section, Table, Text
from vcmts.report.runs import Run, select_kind

CAVEAT = (
    "Published figures are of other machines, in core cycles at a fixed clock: they are shown for "
    "orientation. Ratios are of alternating or concurrent runs of one measurement."
)


TITLE = "Reference cycles per packet unless another unit is given"
HEAD = ("what", "published", "goal", "measured", "range", "measured / goal", "verdict")


def cards(run: Run) -> Iterator[Card]:
    """A card with the number of goals reached, of those that were measured and have a limit."""
    verdicts = [row.verdict for row in goals.rows(run.file)]
    rated = [verdict for verdict in verdicts if verdict not in ("-", goals.NOT_MEASURED)]
    missing = verdicts.count(goals.NOT_MEASURED)
    note = f"{missing} not measured" if missing else "all measured"
    if rated:
        reached = f"{rated.count(goals.REACHED)} of {len(rated)}"
        yield Card(
            "Goals reached", reached, "", f"run {run.letter}: {note}" if run.letter else note
        )


def section(runs: Sequence[Run]) -> Section:
    out = Section("Goals")
    for run in select_kind(runs, "goals"):
        rows = []
        for row in goals.rows(run.file):
            what, *cells, note = astuple(row)
            rows.append((f"{what} ({note})" if note else what, *cells))
        out.blocks.append(Table(f"{TITLE}, {run.title}", HEAD, rows))
        lines = [*goals.bounds(run.file), *goals.conditions(run.file)]
        if lines:
            out.blocks.append(Items(lines))
    if out.blocks:
        out.blocks.insert(0, Text(CAVEAT))
    return out
