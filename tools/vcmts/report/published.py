# SPDX-License-Identifier: BSD-3-Clause
"""The section of a report with published figures (config/published.yaml)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vcmts import published
from vcmts.directions import DIRECTIONS
from vcmts.report.document import Section, Table, Text, number
from vcmts.report.runs import Run, first_mix, in_direction, select_kind
from vcmts.units import MIB

# The published configuration of the figures.
CONFIGURATION = "6ofdm-0sc-qam_300cms"
PER_CORE = ("2017.imix", "2021.imix.3rd-gen", "2023.imix.4th-gen")
CYCLES = {
    "downstream": ("2017.cycles", "2021.cycles.3rd-gen", "2023.cycles.4th-gen"),
    "upstream": ("2023.cycles.upstream",),
}
SCHEDULER = {"2ofdm-32sc-qam": "2017.scheduler", "6ofdm": "2017.scheduler.6ofdm"}
SATURATED = 100  # minimum load in % of the channels' capacity
MEMORY, LATENCY = "memory.service-group", "energy.latency"
MODEMS = 300
CAVEAT = (
    "For orientation only: the published figures are of other machines, at fixed clocks, with "
    "network cards, mostly on both hyper-threads of a core and with other service groups on other "
    "cores. The measured ones are of one thread, without receive and transmit of a network card. "
    "Only ratios within one run on one machine are comparable."
)


@dataclass(frozen=True)
class Pair:
    what: str
    measured: float
    unit: str
    figure: str  # id of the published figure
    remark: str = ""


def per_core(run: Run) -> Iterator[Pair]:
    own = run.file["configuration"].startswith(CONFIGURATION)
    remark = "" if own else f"measured with {run.file['configuration']}"
    for direction in DIRECTIONS:
        found = first_mix(in_direction(run, direction))
        if found is None or found["mix"].isdigit():
            continue
        what = f"{direction}, {found['mix']}, {found.get('threads', 1)} thread"
        if direction == "downstream":
            for name in PER_CORE:
                yield Pair(what, found["gbps_per_core"], "Gbps per core", name, remark)
        if found.get("core_cycles_per_packet"):
            for name in CYCLES[direction]:
                cycles = found["core_cycles_per_packet"]
                yield Pair(what, cycles, "core cycles per packet", name, remark)


def memory_of_group(run: Run) -> Iterator[Pair]:
    memory = run.file.get("memory")
    name = run.file["configuration"]
    if isinstance(memory, dict) and name.startswith(CONFIGURATION) and memory.get("total"):
        yield Pair(
            f"memory of a service group, {MODEMS} modems", memory["total"] / MIB, "MiB", MEMORY
        )


def pipeline_pairs(run: Run) -> Iterator[Pair]:
    yield from per_core(run)
    yield from memory_of_group(run)


def scheduler_pairs(run: Run) -> Iterator[Pair]:
    for case, name in SCHEDULER.items():
        full = [r for r in run.results if r["case"] == case and r["load"] >= SATURATED]
        for result in full[:1]:
            if result.get("core_cycles_per_packet"):
                cycles = result["core_cycles_per_packet"]
                what = f"scheduler, {case}, {result['load']:g} % load"
                yield Pair(what, cycles, "core cycles per packet", name)


def cost_pairs(run: Run) -> Iterator[Pair]:
    for result in run.results:
        if (result["what"], result["value"]) == ("modems", MODEMS) and result.get("memory_bytes"):
            size = result["memory_bytes"] / MIB
            yield Pair(f"memory of a service group, {MODEMS} modems", size, "MiB", MEMORY)
            return


def latency_pairs(run: Run) -> Iterator[Pair]:
    found = [r for r in run.results if r["direction"] == "downstream" and r.get("pipeline_us")]
    if found:
        near = min(found, key=lambda r: abs(r["load"] - 0.9))
        what = f"downstream, in the pipeline, mean at {100 * near['load']:.0f} % of zero-loss"
        remark = "disturbed" if near.get("disturbed") else ""
        yield Pair(what, near["pipeline_us"]["mean"], "us", LATENCY, remark)


def pairs(runs: Sequence[Run]) -> Iterator[tuple[Pair, Run]]:
    makers = {
        "pipeline": pipeline_pairs,
        "scheduler": scheduler_pairs,
        "cost": cost_pairs,
        "latency": latency_pairs,
    }
    for kind, maker in makers.items():
        for run in select_kind(runs, kind):
            for pair in maker(run):
                yield pair, run


def row(pair: Pair, run: Run) -> tuple[str, ...] | None:
    """The cells of a row; None if config/published.yaml no longer has the figure."""
    known = published.load()
    figure = known.figures.get(pair.figure)
    if figure is None:
        return None
    machine = known.machines[figure.machine].cpu if figure.machine else ""
    paper = known.papers[figure.paper]
    source = f"{paper.publisher} {paper.year}, {figure.where}"
    conditions = "; ".join(
        text
        for text in (machine, figure.conditions, figure.note, f"{figure.how}: {source}")
        if text
    )
    what = f"{pair.what} (run {run.letter})" if run.letter else pair.what
    return (
        f"{what}; {pair.remark}" if pair.remark else what,
        number(pair.measured),
        published.BOUNDS[figure.bound] + number(figure.value),
        pair.unit,
        number(pair.measured / figure.value),
        conditions,
    )


def section(runs: Sequence[Run]) -> Section:
    out = Section("Published figures")
    found = [line for pair, run in pairs(runs) if (line := row(pair, run)) is not None]
    rows = list(dict.fromkeys(found))  # several files may have the same memory
    if not rows:
        out.blocks.append(Text("No measured figure has a published one."))
        return out
    head = ("what", "measured", "published", "unit", "measured / published", "conditions")
    out.blocks += [Text(CAVEAT), Table("", head, rows)]
    return out


def points() -> list[tuple[str, float]]:
    """The published (year, Gbps per core) of the IMIX."""
    known = published.load()
    found = [known.figures[name] for name in PER_CORE if name in known.figures]
    return [(str(known.papers[figure.paper].year), figure.value) for figure in found]
