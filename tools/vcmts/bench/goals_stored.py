# SPDX-License-Identifier: BSD-3-Clause
"""What has goals and was measured before: of files that other `vcmts bench` have stored."""

from collections.abc import Iterator

from vcmts import results
from vcmts.bench import scheduler as bench_scheduler
from vcmts.bench import trials
from vcmts.bench.goals_measure import BASE, IMIX, UPSTREAM_IMIX, Bench, LackError, cycles, entry
from vcmts.bench.power import goals as power_goals
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json

LOAD = 0.9  # of the rate without loss
MIXES = dict(zip(DIRECTIONS, (IMIX, UPSTREAM_IMIX), strict=True))


def stored(bench: Bench, kind: str, **needed: str) -> Json:
    """The file of a kind. Raises LackError where it is another one, or of something else."""
    path = bench.files[kind]
    file = results.read(path)
    for key, due in {"kind": kind, **needed}.items():
        if file[key] != due:
            raise LackError(f"--{kind} {path}: {key}: found {file[key]}, needed: {due}")
    return file


def latency(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """At nine tenths of the rate without loss."""
    file = stored(bench, "latency", configuration=BASE)
    at = [r for r in file["results"] if r["direction"] == "downstream" and r["load"] == LOAD]
    if not at:
        path = bench.files["latency"]
        raise LackError(f"--latency {path}: the downstream was not measured at 90 % load")
    disturbed = bool(at[0].get("disturbed"))
    for goal, key in (("latency", "pipeline_us"), ("latency.end-to-end", "end_to_end_us")):
        for name in ("mean", "p99_9"):
            if at[0].get(key):
                yield entry(f"{goal}.{name}", [at[0][key][name]], disturbed=disturbed)


def scheduler(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """All that `bench scheduler` has goals for; where it measured some cases, those of them."""
    file = stored(bench, "scheduler")
    for ratio in bench_scheduler.ratios(file["results"]):
        remark = f"{ratio.cycles:,.0f} over {ratio.other:,.0f} reference cycles"
        yield entry(ratio.goal, [ratio.value], remark=remark)


def packet_rates(bench: Bench) -> tuple[Json, dict[str, float]]:
    """The stored result of the published mixes, and its packets a second by direction."""
    file = stored(bench, "throughput", configuration=BASE, transport="rings")
    mixes = (IMIX, UPSTREAM_IMIX)
    for one in file["results"]:
        if (one["mix"], one["upstream_mix"]) == mixes and set(DIRECTIONS) <= set(one["gbps"]):
            if not one.get("confirmed", True):
                raise LackError(f"--throughput {bench.files['throughput']}: no rate was confirmed")
            bits = {way: 8 * one["mean_bytes"][way] for way in DIRECTIONS}
            return one, {way: one["gbps"][way] * 1e9 / bits[way] for way in DIRECTIONS}
    path = bench.files["throughput"]
    raise LackError(f"--throughput {path}: {' and '.join(mixes)} were not measured at once")


def zero_loss(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The share of a core's cycles that the packets without loss take: each direction's at what one
    takes in runs of that direction alone."""
    found, packets = packet_rates(bench)
    hz = base.ready["host"]["tsc_hz"]
    shares = []
    for _ in range(bench.runs):
        each = {way: cycles(bench.run(base, MIXES[way])) for way in DIRECTIONS}
        shares.append(sum(packets[way] * each[way] for way in DIRECTIONS) / hz)
    rate = found["gbps"]["downstream"] + found["gbps"]["upstream"]
    remark = f"{rate:.2f} Gbps, bound by {found['bound_by']}"
    yield entry("zero-loss", shares, remark=remark, disturbed=found["bound_by"] == "machine")


def power(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """All that `bench power` has goals for, of those that it measured."""
    file = stored(bench, "power", configuration=BASE)
    for one in power_goals.of_file(file):
        yield entry(one.goal, one.values, remark=one.remark, disturbed=one.disturbed)
