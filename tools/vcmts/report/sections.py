# SPDX-License-Identifier: BSD-3-Clause
"""The sections of a report on throughput and on cycles by stage."""

from collections.abc import Iterator, Sequence
from typing import Any

from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.report import figures, figures_cycles, figures_throughput
from vcmts.report import published as report_published
from vcmts.report.document import Details, Figure, Section, Table, number
from vcmts.report.runs import Run, confirmed, in_direction, select_kind

SIDE_BY_SIDE = 3  # maximum runs in one figure


def make_figure(name: str, title: str, words: str, figure: Any) -> Figure:
    return Figure(name, title, words, figures.svg(figure, name))


def label(run: Run) -> str:
    return run.letter or run.name


def letters(runs: Sequence[Run]) -> str:
    """The files of the runs' letters."""
    named = [f"{run.letter}: {run.name}" for run in runs if run.letter]
    return " " + "; ".join(named) + "." if named else ""


def throughput(runs: Sequence[Run]) -> Section:
    out = Section("Throughput by packet size")
    measured = select_kind(runs, "throughput")[:SIDE_BY_SIDE]
    found = [(label(run), [r for r in run.results if confirmed(r)]) for run in measured]
    found = [(name, results) for name, results in found if results]
    if found:
        out.blocks.append(
            make_figure(
                "zero-loss",
                "Without loss, both directions at once",
                "The highest rate with no more than the accepted loss. The thin line spans the "
                "confirmed searches; dashed: downstream capacity of OFDM channels of 1.89 Gbps "
                f"each.{letters(measured)}",
                figures_throughput.zero_loss(found),
            )
        )
    out.blocks += per_core(select_kind(runs, "pipeline")[:SIDE_BY_SIDE])
    for run in measured:
        out.blocks.append(throughput_table(run))
    return out


def per_core(cores: Sequence[Run]) -> Iterator[Figure]:
    """Yields a figure per direction: the rate that one core carries by the cycles of each mix."""
    for direction in DIRECTIONS:
        lines = [(label(run), in_direction(run, direction)) for run in cores]
        lines = [(name, results) for name, results in lines if results]
        if not lines:
            continue
        if len(lines) == 1:
            lines = [(direction, lines[0][1])]
        points = report_published.points() if direction == "downstream" else []
        beside = " Diamonds: published for the IMIX on other machines." if points else ""
        yield make_figure(
            f"per-core-{direction}",
            f"Rate per core, {direction}",
            "The rate at which packets use all cycles of a core with one thread, computed from the "
            f"cycles of `bench pipeline`.{beside}{letters(cores)}",
            figures_throughput.per_core(lines, points, downstream=direction == "downstream"),
        )


def throughput_table(run: Run) -> Table:
    rows = [
        (
            r["point"],
            number(r["mean_bytes"].get("downstream")),
            *(
                number(value) if confirmed(r) else "not found"
                for value in (
                    r["gbps"].get("downstream"),
                    r["gbps"].get("upstream"),
                    r["gbps"]["total"],
                    r["min"],
                    r["max"],
                )
            ),
            str(len(r["repeats"])),
            number(r.get("mpps", {}).get("total")),
            r.get("bound_by") or "not found",
            str(len(r["trials"])),
        )
        for r in run.results
    ]
    units = "Gbps"
    head = (
        "point",
        "mean bytes, down",
        f"down, {units}",
        f"up, {units}",
        f"total, {units}",
        "min",
        "max",
        "searches",
        "Mpps",
        "bound by",
        "trials",
    )
    loss = run.file.get("accepted_loss")
    how = [
        f"over {run.file['transport']}" if run.file.get("transport") else "",
        f"trials of {number(run.file['trial_seconds'])} s" if run.file.get("trial_seconds") else "",
        f"accepted loss {loss:g}" if isinstance(loss, int | float) else "",
    ]
    return Table(", ".join(["Without loss, " + run.title, *(h for h in how if h)]), head, rows)


def cycles(runs: Sequence[Run]) -> Section:
    out = Section("Cycles by stage")
    measured = select_kind(runs, "pipeline")
    for direction in DIRECTIONS:
        shown = [run for run in measured if in_direction(run, direction)][:SIDE_BY_SIDE]
        if not shown:
            continue
        out.blocks.append(
            make_figure(
                f"stages-{direction}",
                f"Reference cycles per packet by stage, {direction}",
                "Each bar is the median run; the thin line spans all runs, the thick tick is "
                f"crypto alone on the same packets.{letters(shown)}",
                figures_cycles.stacked(
                    [(label(run), in_direction(run, direction)) for run in shown]
                ),
            )
        )
        for run in shown[:2]:
            fits = [f for f in run.file.get("fits", []) if f["direction"] == direction]
            fits = [
                f for f in fits if f.get("threads", 1) == min(g.get("threads", 1) for g in fits)
            ]
            if fits:
                out.blocks.append(fit(run, direction, fits))
    for run in measured:
        out.blocks += stage_tables(run)
        if run.file.get("fits"):
            out.blocks.append(Details(f"All fits, {run.title}", [fit_table(run)]))
    return out


def fit(run: Run, direction: str, fits: list[Json]) -> Figure:
    return make_figure(
        f"fit-{direction}{run.end}",
        f"Fixed part and part per byte, {direction}{run.of}",
        "Points are measured, lines are fits: of all stages, and of the four that grow most with "
        "the size.",
        figures_cycles.fit(in_direction(run, direction), fits),
    )


def fit_table(run: Run) -> Table:
    rows = [
        (
            f["direction"],
            number(f.get("threads", 1)),
            "all stages" if f["stage"] == "all" else f["stage"],
            number(f["fixed"]),
            number(f["per_byte"]),
            "-" if f["r2"] is None else f"{f['r2']:.3f}",
        )
        for f in run.file["fits"]
    ]
    head = (
        "direction",
        "threads",
        "stage",
        "fixed, cycles",
        "cycles per byte",
        "share explained (r2)",
    )
    return Table(f"Fixed part and part per byte, {run.title}", head, rows)


def whole(cycles: float | None) -> str:
    return "-" if cycles is None else f"{cycles:,.0f}"


def stage_tables(run: Run) -> Iterator[Table]:
    """A table per direction and number of threads, with one column per mix."""
    kinds = {(r["direction"], r.get("threads", 1)): None for r in run.results}
    for direction, threads in kinds:
        chosen = [
            r for r in run.results if (r["direction"], r.get("threads", 1)) == (direction, threads)
        ]
        stages = list(dict.fromkeys(stage for r in chosen for stage in r["stages"]))
        rows = [[f"`{s}`", *(whole(r["stages"].get(s)) for r in chosen)] for s in stages]
        for name, key in (
            ("all stages", "cycles_per_packet"),
            ("smallest run", "min"),
            ("largest run", "max"),
            ("core cycles", "core_cycles_per_packet"),
            ("Gbps per core", "gbps_per_core"),
            ("crypto alone", "crypto_bound_cycles"),
            ("share of the crypto bound", "share_of_crypto_bound"),
        ):
            rows.append([name, *(number(r.get(key)) for r in chosen)])
        word = "one thread" if threads == 1 else "two threads"
        title = f"Reference cycles per packet, {direction}, {word}, {run.title}"
        head = ("stage", *(figures_cycles.mix_label(r["mix"]) for r in chosen))
        yield Table(title, head, rows)
