# SPDX-License-Identifier: BSD-3-Clause
"""Extracts the figures of a stored measurement for a comparison with another one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vcmts.compare.statistics import Sample
from vcmts.jsons import Json
from vcmts.report.runs import confirmed
from vcmts.units import MIB


@dataclass(frozen=True)
class Words:
    """The unit of a figure, and the words for a greater and a smaller value."""

    unit: str
    more: str
    less: str


CYCLES = Words("reference cycles per packet", "slower", "faster")
RATE = Words("Gbps", "more", "less")
TIME = Words("us", "longer", "shorter")
SIZE = Words("MiB", "more", "less")
SHARE = Words("share", "more", "less")
UNITS = {words.unit: words for words in (TIME, SIZE, SHARE)}
UNITS |= {unit: Words(unit, "slower", "faster") for unit in ("reference cycles", "core cycles")}


@dataclass(frozen=True)
class Figure:
    name: str
    words: Words
    sample: Sample
    detail: bool = False  # shown with --all only


def repeated(result: Json, value: float, runs: int, values: list[float]) -> Sample:
    return Sample(value, result["min"], result["max"], runs, tuple(values))


def single(value: float) -> Sample:
    return Sample(value, value, value, 1)


def cycles(name: str, result: Json) -> Iterator[Figure]:
    values = result.get("values", [])
    sample = repeated(result, result["cycles_per_packet"], result["runs"], values)
    yield Figure(name, CYCLES, sample)


def pipeline(file: Json) -> Iterator[Figure]:
    for r in file["results"]:
        threads = f", {r['threads']} threads" if r.get("threads", 1) != 1 else ""
        name = f"{r['direction']}, {r['mix']}{threads}"
        yield from cycles(name, r)
        bound = r["share_of_crypto_bound"]
        yield Figure(f"{name}: share of the crypto bound", SHARE, single(bound), detail=True)
        for stage, value in r["stages"].items():
            yield Figure(f"{name}: {stage}", CYCLES, single(value), detail=True)


def cost(file: Json) -> Iterator[Figure]:
    for r in file["results"]:
        what = f"{r['value']:g} {r['what'].replace('_', ' ')}"
        name = f"{what}, {r['direction']}, {r['mix']}, {r['profile']}"
        yield from cycles(name, r)
        if r.get("memory_bytes"):
            memory = single(r["memory_bytes"] / MIB)
            yield Figure(f"{name}: memory", SIZE, memory, detail=True)


def scheduler(file: Json) -> Iterator[Figure]:
    for r in file["results"]:
        name = f"{r['case']}, load {r['load']:g} %"
        yield from cycles(name, r)
        for other in ("rte_sched", "rte_sched_turns", "priorities"):
            if other in r:
                yield from (
                    Figure(f.name, f.words, f.sample, detail=True)
                    for f in cycles(f"{name}: {other}", r[other])
                )


def throughput(file: Json) -> Iterator[Figure]:
    for r in filter(confirmed, file["results"]):
        sample = repeated(r, r["gbps"]["total"], len(r["repeats"]), r["repeats"])
        yield Figure(f"{r['point']}, without loss", RATE, sample)


def latency(file: Json) -> Iterator[Figure]:
    for r in file["results"]:
        for key, where in (("pipeline_us", "in the pipeline"), ("end_to_end_us", "end to end")):
            for name, text in (("mean", "mean"), ("p99_9", "99.9 %"), ("p99_999", "99.999 %")):
                if r.get(key):
                    title = f"{r['direction']}, {100 * r['load']:.0f} % load, {where}, {text}"
                    yield Figure(title, TIME, single(r[key][name]))


def power(file: Json) -> Iterator[Figure]:
    """Without `steps` and `latency`, which are ideally 0 and so have no ratio."""
    for r in file["results"]:
        if r["what"] == "steps" or r["what"].startswith("latency."):
            continue
        words = UNITS.get(r["unit"], Words(r["unit"], "more", "less"))
        sample = repeated(r, r["value"], r["runs"], r.get("values", []))
        yield Figure(f"{r['what']}, {r['idle']}", words, sample)


def goals(file: Json) -> Iterator[Figure]:
    for r in file["results"]:
        words = UNITS.get(r["unit"], Words(r["unit"], "more", "less"))
        sample = repeated(r, r["value"], r["runs"], r.get("values", []))
        yield Figure(f"goal {r['goal']}", words, sample)


KINDS: dict[str, Callable[[Json], Iterator[Figure]]] = {
    "pipeline": pipeline,
    "cost": cost,
    "scheduler": scheduler,
    "throughput": throughput,
    "latency": latency,
    "power": power,
    "goals": goals,
}


def figures_by_name(file: Json) -> dict[str, Figure]:
    """The figures of a measurement by name. If a name occurs twice, the first one counts."""
    found: dict[str, Figure] = {}
    for figure in KINDS[file["kind"]](file):
        found.setdefault(figure.name, figure)
    return found
