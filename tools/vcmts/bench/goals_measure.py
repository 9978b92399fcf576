# SPDX-License-Identifier: BSD-3-Clause
"""The measurements behind the goals: runs of several service groups, in turns or at one time.

Each service group is a vcmts-bench that makes a run whenever it is asked to: what is divided by
each other was measured one right after the other, with nothing set up between.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from vcmts import configuration, results
from vcmts.bench import goals_list as goals
from vcmts.bench import trials
from vcmts.child import Stopped
from vcmts.host.files import Files
from vcmts.paths import MistakeError, program
from vcmts.profile.command import write_profile
from vcmts.progress import Progress
from vcmts.units import MIB

Json = dict[str, Any]

BASE = "6ofdm-0sc-qam_300cms_aes"
CHANNELS = "2ofdm-32sc-qam_300cms_aes"
MODEMS = "6ofdm-0sc-qam_30000cms_aes"
IMIX, UPSTREAM_IMIX = "imix", "upstream-imix"
SIZES = ("64", "256", "512", "1024", "1518")
CRYPTO = ("encrypt_submit", "encrypt_collect")
OVERLAP = 0.9  # of two runs at one time, of the longer time from the first to the last
SET_UP_SECONDS = 0.3  # of the traffic, before two runs at one time
WARM_UP = 3  # runs: the first ones touch memory that none has touched before
LOAD = 0.9  # of the rate without loss


class LackError(MistakeError):
    """What a part needs is not there: the goal is not measured, and the others are."""


def siblings(one: int, other: int) -> bool:
    """Whether they are hyper-threads of one core."""
    files = Files()
    found = {
        files.text(f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        for cpu in (one, other)
    }
    return len(found) == 1 and found != {""}


def own_core() -> int:
    """For what is measured alone: not the first, which the system likes best."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[min(1, len(allowed) - 1)]


def second_core() -> int:
    first = own_core()
    allowed = sorted(os.sched_getaffinity(0) - {first})
    found = next((core for core in allowed if not siblings(first, core)), None)
    if found is None:
        raise LackError("needs two cores that are no hyper-threads of each other")
    return found


@dataclass(frozen=True)
class Bench:
    """How runs are made."""

    runs: int
    seconds: float
    place: Path
    stopped: Stopped
    shown: Progress

    @contextmanager
    def group(self, profile: str, core: int) -> Iterator[trials.Server]:
        """A service group on a core, warm."""
        self.shown.at(self.shown.done, f"{profile}: setting up")
        place = self.place / f"{profile}-{core}"
        place.mkdir()
        config = place / "sg.yaml"
        with config.open("w", encoding="utf-8") as out:
            write_profile(profile, out, cores=configuration.own_cores())
        command = [str(program("vcmts-bench")), "--config", str(config), "--requests"]
        with trials.server([*command, "--core", str(core)], place, self.stopped) as serving:
            for _ in range(WARM_UP):
                self.run(serving)
            yield serving

    def request(self, mix: str) -> Json:
        direction = "upstream" if mix == UPSTREAM_IMIX else "downstream"
        return {"seconds": self.seconds, "direction": direction, "mix": mix}

    def run(self, group: trials.Server, mix: str = IMIX) -> Json:
        """The answer, with the result of one run."""
        answer = group.ask(self.request(mix))
        self.shown.advance(text=f"{group.ready['configuration']}, {mix}")
        return answer


def entry(goal: str, values: Sequence[float], **more: Any) -> Json:
    """The median of the runs, and all of them."""
    spread = {"min": min(values), "max": max(values), "runs": len(values), "values": list(values)}
    unit = goals.load()[goal].unit
    return {"goal": goal, "unit": unit, "value": median(values), **spread, **more}


def cycles(answer: Json) -> float:
    return float(answer["result"]["cycles_per_packet"])


def middle(answers: Sequence[Json], key: str) -> float:
    return median(float(answer["result"][key]) for answer in answers)


def of_runs(answers: Sequence[Json]) -> Json:
    """What explains the figures of these runs."""
    return {
        "core_hz": median(answer["core_hz"] for answer in answers),
        "crypto_bound_cycles": middle(answers, "crypto_bound_cycles"),
    }


def total(goal: str, answers: Sequence[Json]) -> Json:
    """All stages of a mix, by both clocks."""
    core = middle(answers, "core_cycles_per_packet")
    own = of_runs(answers)
    values = [cycles(answer) for answer in answers]
    return entry(goal, values, core_cycles_per_packet=core, **own)


def dearest(goal: str, answers: Sequence[Json]) -> Json:
    """The stage other than crypto whose median is the greatest."""
    stages = [answer["result"]["stages"] for answer in answers]
    by_stage = {name: [one[name] for one in stages] for name in stages[0] if name not in CRYPTO}
    name = max(by_stage, key=lambda name: median(by_stage[name]))
    return entry(goal, by_stage[name], remark=name, stage=name, **of_runs(answers))


def downstream(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The mixes in turns, so that all of them see the same machine."""
    by_mix: dict[str, list[Json]] = {mix: [] for mix in (IMIX, *SIZES)}
    for _ in range(bench.runs):
        for mix, answers in by_mix.items():
            answers.append(bench.run(base, mix))
    answers, own = by_mix[IMIX], of_runs(by_mix[IMIX])
    yield total("downstream", answers)
    core = [float(answer["result"]["core_cycles_per_packet"]) for answer in answers]
    yield entry("downstream.core-cycles", core, **own)
    shares = [float(answer["result"]["share_of_crypto_bound"]) for answer in answers]
    yield entry("downstream.bound", shares, **own)
    for size in SIZES:
        yield dearest(f"stage.{size}", by_mix[size])


def upstream(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield total("upstream", [bench.run(base, UPSTREAM_IMIX) for _ in range(bench.runs)])


def against(goal: str, profile: str, bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Another service group over the base, in turns: each run over the one before it."""
    pairs: list[tuple[float, float]] = []
    with bench.group(profile, own_core()) as other:
        for _ in range(bench.runs):
            before = cycles(bench.run(base))
            pairs.append((cycles(bench.run(other)), before))
    medians = [median(values) for values in zip(*pairs, strict=True)]
    remark = f"{medians[0]:,.0f} over {medians[1]:,.0f} reference cycles"
    values = [changed / before for changed, before in pairs]
    yield entry(goal, values, remark=remark, pairs=[list(pair) for pair in pairs])


def channels(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield from against("channels", CHANNELS, bench, base)


def modems(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield from against("modems", MODEMS, bench, base)


def overlap(one: Json, other: Json) -> float:
    """The share of the time from the first begin to the last end in which both were measured."""
    common = min(one["end_us"], other["end_us"]) - max(one["begin_us"], other["begin_us"])
    whole = max(one["end_us"], other["end_us"]) - min(one["begin_us"], other["begin_us"])
    return float(common / whole)


def together(bench: Bench, base: trials.Server, other: trials.Server) -> tuple[Json, Json]:
    begin_us = round((time.monotonic() + SET_UP_SECONDS) * 1e6)
    request = bench.request(IMIX) | {"begin_us": begin_us}
    base.begin(request)
    other.begin(request)
    answers = base.answer(request), other.answer(request)
    bench.shown.advance(text="two service groups at one time")
    return answers


def rate(answer: Json) -> float:
    return float(answer["result"]["gbps_per_core"])


def cores(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """The base alone, another one on the second core alone, and then both: what they carry at one
    time over what the base did. Of runs that were too far apart to count, as many are made anew."""
    found: list[tuple[float, float, float, float]] = []
    core = second_core()
    with bench.group(BASE, core) as other:
        for _ in range(2 * bench.runs):
            alone = bench.run(base), bench.run(other)
            both = together(bench, base, other)
            if overlap(*both) >= OVERLAP:
                found.append((rate(alone[0]), rate(alone[1]), rate(both[0]), rate(both[1])))
            if len(found) == bench.runs:
                break
    if not found:
        raise trials.TroubleError("no two runs were measured at one time")
    base_alone, other_alone, first, second = (median(rates) for rates in zip(*found, strict=True))
    remark = f"{first:.2f} + {second:.2f} over {base_alone:.2f} Gbps"
    remark += f"; the second core alone: {other_alone:.2f}"
    values = [(first + second) / alone for alone, _, first, second in found]
    rates = [list(run) for run in found]
    yield entry("cores", values, remark=remark, rates_gbps=rates, cores=[own_core(), core])


def memory(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield entry("memory", [base.ready["memory"]["total"] / MIB])


def latency(path: str) -> Iterator[Json]:
    """Of a stored `vcmts bench latency`, at nine tenths of the rate without loss."""
    file = results.read(path)
    for key, due in (("kind", "latency"), ("configuration", BASE)):
        if file[key] != due:
            raise LackError(f"--latency {path}: {key}: found {file[key]}, needed: {due}")
    at = [r for r in file["results"] if r["direction"] == "downstream" and r["load"] == LOAD]
    if not at:
        raise LackError(f"--latency {path}: the downstream was not measured at 90 % load")
    disturbed = bool(at[0].get("disturbed"))
    for goal, key in (("latency", "pipeline_us"), ("latency.end-to-end", "end_to_end_us")):
        for name in ("mean", "p99_9"):
            if at[0].get(key):
                yield entry(f"{goal}.{name}", [at[0][key][name]], disturbed=disturbed)
