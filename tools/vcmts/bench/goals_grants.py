# SPDX-License-Identifier: BSD-3-Clause
"""The goals of the upstream scheduler: latency with simulated modems, and what it costs."""

from collections.abc import Iterator

from vcmts.bench import common as bench_common
from vcmts.bench import trials
from vcmts.bench.goals_measure import Bench, entry
from vcmts.jsons import Json
from vcmts.paths import program
from vcmts.simulate.upstream import simulate
from vcmts.simulate.upstream_scenarios import CASES

# By scenario of `vcmts simulate --upstream`; of the last one the use of data minislots as well.
LIGHT = ("light-1ms", "light-2ms", "light-4ms", "pgs-1ms", "pgs-2ms", "pgs-4ms")
FULL = "300-90"
MOST_RUNS = 25  # of vcmts-bench-maps
# Its cases, by modems.
COST = {modems: f"{modems} modems, 8 channels, 1 ms" for modems in (300, 3000)}


def latency(bench: Bench) -> Iterator[Json]:
    """The same in each run: time is simulated."""
    for name in (*LIGHT, FULL):
        bench.shown.at(bench.shown.done, f"upstream scheduler: {name}")
        if bench.stopped.asked:
            raise trials.StopError
        result = simulate(CASES[name].scenario(), name)
        (flow,) = result["flows"]
        for quantile in ("p50", "p99"):
            yield entry(f"grants.{name}.{quantile}", [flow["latency_ms"][quantile]])
        if name == FULL:
            yield entry(f"grants.{name}.used", [result["use"]["data_used"]])


def cost(bench: Bench) -> Iterator[Json]:
    start = bench.shown.done
    command = [str(program("vcmts-bench-maps")), "--runs", str(min(bench.runs, MOST_RUNS))]

    def tell(done: int, total: int, text: str) -> None:
        bench.shown.at(start + bench.runs * done / max(total, 1), text)

    status, report = bench_common.measured(command, bench.place, tell, bench.stopped)
    if bench.stopped.asked:
        raise trials.StopError
    if status != 0 or report is None:
        raise trials.TroubleError(f"vcmts-bench-maps ended with status {status}")
    found = {one["case"]: one for one in report["results"]}
    for modems, case in COST.items():
        core = found[case]["core_cycles_per_request"]
        values = found[case]["values"]
        yield entry(f"grants.request.{modems}", values, core_cycles_per_packet=core)
        yield entry(f"grants.core.{modems}", [found[case]["share_of_core"]])


def grants(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield from latency(bench)
    yield from cost(bench)
