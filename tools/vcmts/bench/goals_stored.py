# SPDX-License-Identifier: BSD-3-Clause
"""Goals from stored results of other `vcmts bench`, and goals of the upstream scheduler."""

from collections.abc import Iterator

from vcmts import results
from vcmts.bench import common as bench_common
from vcmts.bench import scheduler as bench_scheduler
from vcmts.bench import trials
from vcmts.bench.goals_measure import (
    BASE,
    IMIX,
    UPSTREAM_IMIX,
    Bench,
    LackError,
    cycles,
    make_result,
)
from vcmts.bench.power import goals as power_goals
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import program
from vcmts.simulate.upstream import simulate
from vcmts.simulate.upstream_scenarios import CASES

LOAD = 0.9  # share of the rate without loss
MIXES = dict(zip(DIRECTIONS, (IMIX, UPSTREAM_IMIX), strict=True))


def read_stored(bench: Bench, kind: str, **needed: str) -> Json:
    """Reads the stored measurement of a kind. Raises LackError if a key of `needed` differs."""
    path = bench.files[kind]
    file = results.read(path)
    for key, due in {"kind": kind, **needed}.items():
        if file[key] != due:
            raise LackError(f"--{kind} {path}: {key}: found {file[key]}, needed: {due}")
    return file


def latency(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Latency at LOAD."""
    file = read_stored(bench, "latency", configuration=BASE)
    at = [r for r in file["results"] if r["direction"] == "downstream" and r["load"] == LOAD]
    if not at:
        path = bench.files["latency"]
        raise LackError(f"--latency {path}: the downstream was not measured at 90 % load")
    disturbed = bool(at[0].get("disturbed"))
    for goal, key in (("latency", "pipeline_us"), ("latency.end-to-end", "end_to_end_us")):
        for name in ("mean", "p99_9"):
            if at[0].get(key):
                yield make_result(f"{goal}.{name}", [at[0][key][name]], disturbed=disturbed)


def scheduler(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The goals of `bench scheduler` for the cases that it measured."""
    file = read_stored(bench, "scheduler")
    for ratio in bench_scheduler.ratios(file["results"]):
        remark = f"{ratio.cycles:,.0f} over {ratio.other:,.0f} reference cycles"
        yield make_result(ratio.goal, [ratio.value], remark=remark)


def packet_rates(bench: Bench) -> tuple[Json, dict[str, float]]:
    """The stored result of the published mixes, and its packets per second by direction."""
    file = read_stored(bench, "throughput", configuration=BASE, transport="rings")
    mixes = (IMIX, UPSTREAM_IMIX)
    for one in file["results"]:
        if (one["mix"], one["upstream_mix"]) == mixes and set(DIRECTIONS) <= set(one["gbps"]):
            if not one.get("confirmed", True):
                raise LackError(f"--throughput {bench.files['throughput']}: no rate was confirmed")
            bits = {way: 8 * one["mean_bytes"][way] for way in DIRECTIONS}
            return one, {way: one["gbps"][way] * 1e9 / bits[way] for way in DIRECTIONS}
    path = bench.files["throughput"]
    raise LackError(f"--throughput {path}: {' and '.join(mixes)} were not measured together")


def zero_loss(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The share of a core's cycles for the packets at the rate without loss."""
    found, packets = packet_rates(bench)
    hz = base.ready["host"]["tsc_hz"]
    shares = []
    for _ in range(bench.runs):
        each = {way: cycles(bench.run(base, MIXES[way])) for way in DIRECTIONS}
        shares.append(sum(packets[way] * each[way] for way in DIRECTIONS) / hz)
    rate = found["gbps"]["downstream"] + found["gbps"]["upstream"]
    remark = f"{rate:.2f} Gbps, limited by {found['bound_by']}"
    yield make_result("zero-loss", shares, remark=remark, disturbed=found["bound_by"] == "machine")


def power(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The goals of `bench power` that it measured."""
    file = read_stored(bench, "power", configuration=BASE)
    for one in power_goals.goals_of(file):
        yield make_result(one.goal, one.values, remark=one.remark, disturbed=one.disturbed)


# Scenarios of `vcmts simulate --upstream`; FULL also gives the use of data minislots.
LIGHT = ("light-1ms", "light-2ms", "light-4ms", "pgs-1ms", "pgs-2ms", "pgs-4ms")
FULL = "300-90"
MOST_RUNS = 25  # maximum of vcmts-bench-maps
# Cases of vcmts-bench-maps by number of modems.
COST = {modems: f"{modems} modems, 8 channels, 1 ms" for modems in (300, 3000)}


def grants_latency(bench: Bench) -> Iterator[Json]:
    """Latencies of the upstream scheduler; simulated, so equal in each run."""
    for name in (*LIGHT, FULL):
        bench.shown.at(bench.shown.done, f"upstream scheduler: {name}")
        if bench.stopped.by_signal:
            raise trials.StopError(bench.stopped.text)
        result = simulate(CASES[name].scenario(), name)
        (flow,) = result["flows"]
        for quantile in ("p50", "p99"):
            yield make_result(f"grants.{name}.{quantile}", [flow["latency_ms"][quantile]])
        if name == FULL:
            yield make_result(f"grants.{name}.used", [result["use"]["data_used"]])


def grants_cost(bench: Bench) -> Iterator[Json]:
    start = bench.shown.done
    command = [str(program("vcmts-bench-maps")), "--runs", str(min(bench.runs, MOST_RUNS))]

    def tell(done: int, total: int, text: str) -> None:
        bench.shown.at(start + bench.runs * done / max(total, 1), text)

    status, report = bench_common.run_benchmark(command, bench.folder, tell, bench.stopped)
    if bench.stopped.by_signal:
        raise trials.StopError(bench.stopped.text)
    if status != 0 or report is None:
        raise trials.ProgramError(f"vcmts-bench-maps ended with status {status}")
    found = {one["case"]: one for one in report["results"]}
    for modems, case in COST.items():
        core = found[case]["core_cycles_per_request"]
        values = found[case]["values"]
        yield make_result(f"grants.request.{modems}", values, core_cycles_per_packet=core)
        yield make_result(f"grants.core.{modems}", [found[case]["share_of_core"]])


def grants(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield from grants_latency(bench)
    yield from grants_cost(bench)
