# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a report: cards with the most important figures, and notes on their validity."""

from collections.abc import Iterator, Sequence

from vcmts import results
from vcmts.directions import DIRECTIONS
from vcmts.paths import TOOL
from vcmts.report import goals as report_goals
from vcmts.report.document import Card, Cards, Items, Section, Text, number
from vcmts.report.runs import Run, confirmed, first_mix, in_direction, select_kind, spread
from vcmts.units import MIB

NOT_MEASURED = {
    "pipeline": f"cycles by stage (`{TOOL} bench pipeline`)",
    "cost": f"cost over modems, rules, classifiers, flows and channels (`{TOOL} bench cost`)",
    "scheduler": f"the scheduler alone (`{TOOL} bench scheduler`)",
    "throughput": f"throughput without loss (`{TOOL} bench throughput`)",
    "latency": f"latency (`{TOOL} bench latency`)",
    "power": f"pauses and lower clocks (`{TOOL} bench power`)",
    "goals": f"goals (`{TOOL} bench goals`)",
}
NOISY = 0.05  # relative spread above which a note warns


def run_prefix(run: Run) -> str:
    return f"run {run.letter}: " if run.letter else ""


def pipeline_cards(run: Run) -> Iterator[Card]:
    for direction in DIRECTIONS:
        found = first_mix(in_direction(run, direction))
        if found is None:
            continue
        cycles, core = found["cycles_per_packet"], found.get("core_cycles_per_packet")
        note = f"{run_prefix(run)}{found['mix']}, {number(cycles)} reference cycles per packet"
        note += f", {number(core)} core cycles" if core else ""
        note += f"; {number(found['min'])} to {number(found['max'])} in {found['runs']} runs"
        yield Card(f"One core, {direction}", number(found["gbps_per_core"]), "Gbps", note)
        if found["crypto_bound_cycles"]:
            share = 100 * found["share_of_crypto_bound"]
            bound = number(found["crypto_bound_cycles"])
            note = f"{run_prefix(run)}{found['mix']}: crypto alone takes {bound} cycles"
            yield Card(f"Share of the crypto bound, {direction}", number(share, 2), "%", note)


def memory_cards(run: Run) -> Iterator[Card]:
    """Memory and start time of the service group of a pipeline measurement, if known."""
    memory, start = run.file.get("memory"), run.file.get("start")
    if isinstance(memory, dict) and isinstance(memory.get("total"), int | float):
        note = f"{run_prefix(run)}{run.file['configuration']}"
        if isinstance(start, dict) and isinstance(start.get("total"), int | float):
            note += f"; {number(start['total'])} s to start"
        yield Card("Memory of the service group", number(memory["total"] / MIB), "MiB", note)


def throughput_cards(run: Run) -> Iterator[Card]:
    mixed = [r for r in run.results if not r["point"].isdigit()]
    for result in (mixed or run.results)[:1]:
        label, gbps = "Without loss, both directions", result["gbps"]
        if not confirmed(result):
            why = f"{run_prefix(run)}{result['point']}: no rate was confirmed by trials that passed"
            yield Card(label, "not found", "", why)
            continue
        parts = " + ".join(f"{number(gbps[d])} {d}" for d in DIRECTIONS if gbps.get(d))
        repeats = len(result["repeats"])
        note = f"{run_prefix(run)}{result['point']}: {parts}; {number(result['min'])} to "
        note += f"{number(result['max'])} in {repeats} search{'es' if repeats != 1 else ''}"
        note += f", over {run.file['transport']}" if run.file.get("transport") else ""
        bound = result.get("bound_by")
        note += f"; bound by the {bound}" if bound else ""
        yield Card(label, number(gbps["total"]), "Gbps", note)


def latency_cards(run: Run) -> Iterator[Card]:
    for direction in DIRECTIONS:
        found = [r for r in run.results if r["direction"] == direction and r["end_to_end_us"]]
        if not found:
            continue
        near = min(found, key=lambda r: abs(r["load"] - 0.9))
        inside = near.get("pipeline_us") or near["end_to_end_us"]
        what = "inside the pipeline" if near.get("pipeline_us") else "end to end"
        note = f"{run_prefix(run)}mean {what}, {number(inside['p99_9'])} us at 99.9 %"
        if near.get("pipeline_us"):
            note += f"; end to end {number(near['end_to_end_us']['mean'])} us"
        note += "; a polling thread lost its core meanwhile" if near.get("disturbed") else ""
        label = f"Latency at {100 * near['load']:.0f} % of zero-loss, {direction}"
        yield Card(label, number(inside["mean"]), "us", note)


def cards(runs: Sequence[Run]) -> list[Card]:
    """The cards of the first run of each kind; further runs are for comparison."""
    makers = {
        "throughput": throughput_cards,
        "pipeline": pipeline_cards,
        "latency": latency_cards,
        "goals": report_goals.cards,
    }
    found = [
        card
        for kind, maker in makers.items()
        for run in select_kind(runs, kind)[:1]
        for card in maker(run)
    ]
    return [
        *found,
        *(card for run in select_kind(runs, "pipeline")[:1] for card in memory_cards(run)),
    ]


def missing_notes(runs: Sequence[Run]) -> Iterator[str]:
    absent = [NOT_MEASURED[kind] for kind in results.KINDS if not select_kind(runs, kind)]
    if absent:
        yield "Not measured: " + "; ".join(absent) + "."
    for run in select_kind(runs, "throughput"):
        points = [r["point"] for r in run.results if not confirmed(r)]
        if points:
            text = f"no rate was confirmed for {', '.join(points)}"
            yield f"{run.title}: {text}, which have no figure."
    for run in runs:
        if not run.file["complete"]:
            left = f"{len(run.results)} results" if run.results else "nothing"
            yield f"{run.title} was interrupted: it has {left}, the rest was not measured."


def noise_notes(runs: Sequence[Run]) -> Iterator[str]:
    widest: list[str] = []
    once: list[str] = []
    noisy = False
    for run in runs:
        if run.kind == "power":  # mostly differences of pairs, which are close to 0
            continue
        spreads = [spread(r) for r in run.results if "min" in r]
        if not spreads:
            continue
        if max(r.get("runs", len(r.get("repeats", []))) for r in run.results) < 2:
            once.append(run.title)
            continue
        noisy = noisy or max(spreads) > NOISY
        widest.append(f"{100 * max(spreads):.1f} % in {run.title}")
    if widest:
        text = f"Noise, the largest spread between runs of one figure: {', '.join(widest)}."
        yield text + (" Smaller differences are not significant." if noisy else "")
    if once:
        yield f"Measured only once, so the noise is unknown: {', '.join(once)}."


def disturbance_notes(runs: Sequence[Run]) -> Iterator[str]:
    for run in select_kind(runs, "throughput"):
        verdicts = [trial["verdict"] for result in run.results for trial in result["trials"]]
        counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
        text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        yield f"{run.title}: {len(verdicts)} trials: {text}."
    if select_kind(runs, "throughput"):
        yield (
            "Trials with missing packets were repeated and not counted as loss if the traffic "
            "program was too slow (traffic), or a polling thread lost its core (disturbed)."
        )
    for run in select_kind(runs, "latency"):
        marked = sum(1 for result in run.results if result.get("disturbed"))
        if marked:
            yield (
                f"{run.title}: in {marked} of {len(run.results)} results a polling thread lost its "
                "core; their highest percentiles are due to the machine, not the data plane."
            )


def condition_notes(runs: Sequence[Run]) -> Iterator[str]:
    hosts = [run.host for run in runs if run.results]
    if not hosts:
        return
    if len({(host["cpu"], host["tsc_hz"]) for host in hosts}) > 1:
        yield "The runs are on different processors: they are not comparable."
    host = hosts[0]
    ratio = host["core_hz"] / host["tsc_hz"]
    yield (
        f"Cycles are reference cycles: the TSC runs at {host['tsc_hz'] / 1e9:.2f} GHz, the core "
        f"ran at {host['core_hz'] / 1e9:.2f} GHz, so a reference cycle is {ratio:.2f} core cycles."
    )
    if any(not host["huge_pages"] for host in hosts):
        yield "Without huge pages: memory accesses cost more than on a prepared server."
    if any(host.get("hypervisor", {}).get("present") is True for host in hosts):
        yield "In a virtual machine: other machines share its caches, memory and clock."
    few = [host["cpus"] for host in hosts if isinstance(host.get("cpus"), int) and host["cpus"] < 3]
    if few:
        yield f"With {min(few)} CPUs, traffic, data plane and system share CPUs."


def limitation_notes(runs: Sequence[Run]) -> Iterator[str]:
    """Yields notes on how the measurement differs from production."""
    for run in select_kind(runs, "throughput"):
        if run.file.get("transport") == "rings":
            yield "Throughput is over rings in one process: no network card, kernel or copy."
            break
    for run in runs:
        if run.host.get("software", {}).get("dirty") is True:
            yield "The source had uncommitted changes: the build is not reproducible."
            break


def section(runs: Sequence[Run]) -> Section:
    out = Section("Summary")
    found = cards(runs)
    out.blocks.append(Cards(found) if found else Text("No figures for a summary."))
    lines = [
        *missing_notes(runs),
        *noise_notes(runs),
        *disturbance_notes(runs),
        *condition_notes(runs),
        *limitation_notes(runs),
    ]
    out.blocks.append(Items(lines))
    return out
