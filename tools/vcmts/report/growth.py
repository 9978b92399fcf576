# SPDX-License-Identifier: BSD-3-Clause
"""The sections of a report on dependencies on load and size: latency, cost, scheduler."""

from collections.abc import Sequence

from vcmts.directions import DIRECTIONS
from vcmts.report import figures_latency, figures_scaling
from vcmts.report.document import Details, Section, Table, Text, number
from vcmts.report.runs import Run, select_kind
from vcmts.report.sections import make_figure
from vcmts.units import MIB

WAYS = {"end_to_end_us": "end to end", "pipeline_us": "inside the pipeline"}


def latency(runs: Sequence[Run]) -> Section:
    out = Section("Latency")
    for run in select_kind(runs, "latency"):
        for direction in DIRECTIONS:
            for key, words in WAYS.items():
                found = [r for r in run.results if r["direction"] == direction and r.get(key)]
                if not found:
                    continue
                way = words.replace(" ", "-")
                out.blocks.append(
                    make_figure(
                        f"percentiles-{direction}-{way}{run.end}",
                        f"Latency {words}, {direction}{run.of}",
                        "Share of faster packets; the axis is logarithmic in 1 / (1 - p).",
                        figures_latency.percentiles(found, key),
                    )
                )
                out.blocks.append(
                    make_figure(
                        f"load-{direction}-{way}{run.end}",
                        f"Latency {words} over load, {direction}{run.of}",
                        "Hollow markers: a polling thread lost its core during the measurement.",
                        figures_latency.over_load(found, key),
                    )
                )
        out.blocks.append(Details(f"All percentiles, {run.title}", [latency_table(run)]))
        cost = run.file.get("cost_of_measuring")
        if cost:
            words = " and ".join(f"{number(cycles)} {way}" for way, cycles in cost.items())
            out.blocks.append(
                Text(f"Measuring latency costs {words} reference cycles per packet ({run.title}).")
            )
    return out


def latency_table(run: Run) -> Table:
    head: tuple[str, ...] = (
        "load",
        "direction",
        "where",
        "mean, us",
        "50 %",
        "90 %",
        "99 %",
    )
    head += ("99.9 %", "99.99 %", "99.999 %", "maximum", "share of 10 ms", "disturbed")
    keys = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")
    rows = []
    for r in run.results:
        for key, words in WAYS.items():
            if r.get(key):
                share = r.get("share_of_round_trip")
                rows.append(
                    (
                        f"{r['load']:.0%}",
                        r["direction"],
                        words,
                        *(number(r[key][name]) for name in keys),
                        "-" if share is None or key != "end_to_end_us" else f"{share:.2%}",
                        "yes" if r.get("disturbed") else "no",
                    )
                )
    return Table(f"Latency, us, {run.title}", head, rows)


def scaling(runs: Sequence[Run]) -> Section:
    out = Section("Cost over size")
    for run in select_kind(runs, "cost"):
        for what in dict.fromkeys(r["what"] for r in run.results):
            found = [r for r in run.results if r["what"] == what]
            name = figures_scaling.AXES.get(what, what)
            out.blocks.append(
                make_figure(
                    f"cost-{what.replace('_', '-')}{run.end}",
                    f"Cycles per packet over {name}{run.of}",
                    "All other sizes stay the same; vertical lines span the runs.",
                    figures_scaling.cycles(found, what),
                )
            )
            if what == "modems" and any(r.get("memory_bytes") for r in found):
                out.blocks.append(
                    make_figure(
                        f"memory{run.end}",
                        f"Memory over {name}{run.of}",
                        "Memory of the service group's process, including packet buffers.",
                        figures_scaling.memory(found, what),
                    )
                )
        out.blocks.append(Details(f"All values, {run.title}", [cost_table(run)]))
    return out


def cost_table(run: Run) -> Table:
    rows = [
        (
            r["what"].replace("_", " "),
            number(r["value"]),
            r["direction"],
            r["mix"],
            number(r["cycles_per_packet"]),
            number(r["min"]),
            number(r["max"]),
            number(r["memory_bytes"] / MIB if r.get("memory_bytes") else None),
            number(r["memory_bytes_per_modem"] / 1024 if r.get("memory_bytes_per_modem") else None),
            number(r.get("start_seconds")),
        )
        for r in run.results
    ]
    head: tuple[str, ...] = ("size", "number", "direction", "mix", "cycles", "min", "max")
    head += ("memory, MiB", "per modem, KiB", "start, s")
    return Table(f"Cost over size, {run.title}", head, rows)


def scheduler(runs: Sequence[Run]) -> Section:
    out = Section("Scheduler")
    for run in select_kind(runs, "scheduler"):
        out.blocks.append(
            make_figure(
                f"scheduler{run.end}",
                "Enqueue and dequeue compared with DPDK's rte_sched",
                "The same packets in the same run; thin lines span the runs, up to the edge of the "
                "figure. Round robin: buckets of two frames, so that pipes alternate as modems do.",
                figures_scaling.scheduler(run.results),
            )
        )
        rows = [
            (
                r["case"],
                f"{r['load']:g} %",
                number(r["enqueue"]),
                number(r["dequeue"]),
                number(r["cycles_per_packet"]),
                number(r["min"]),
                number(r["max"]),
                number(r.get("rte_sched", {}).get("cycles_per_packet")),
                number(r.get("rte_sched_turns", {}).get("cycles_per_packet")),
                number(r.get("ratio")),
                number(r.get("ratio_turns")),
            )
            for r in run.results
        ]
        head: tuple[str, ...] = ("case", "load", "enqueue", "dequeue", "both", "min", "max")
        head += ("rte_sched", "round robin", "ratio", "ratio, round robin")
        out.blocks.append(Table(f"Reference cycles per packet, {run.title}", head, rows))
    return out
