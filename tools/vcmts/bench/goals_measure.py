# SPDX-License-Identifier: BSD-3-Clause
"""Measures goals with runs of several service groups, alternating or concurrent.

Each service group is a vcmts-bench process that makes a run per request. So the two values of a
ratio are measured directly one after the other, without a setup between them.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from vcmts import configuration
from vcmts.bench import goals_list as goals
from vcmts.bench import trials
from vcmts.child import Stopped
from vcmts.jsons import Json
from vcmts.paths import MistakeError, program
from vcmts.profile.group import Cores, write_profile
from vcmts.progress import Progress
from vcmts.system.files import Files
from vcmts.units import MIB

BASE = "6ofdm-0sc-qam_300cms_aes"
CHANNELS = "2ofdm-32sc-qam_300cms_aes"
MODEMS = "6ofdm-0sc-qam_30000cms_aes"
IMIX, UPSTREAM_IMIX, UPSTREAM_LONG = "imix", "upstream-imix", "1000"
SIZES = ("64", "256", "512", "1024", "1518")
CRYPTO = ("encrypt_submit", "encrypt_collect")
SCHEDULER = ("enqueue", "schedule")
OVERLAP = 0.9  # minimum overlap of two concurrent runs: common time over total time
SET_UP_SECONDS = 0.3  # time to prepare the traffic of two concurrent runs
WARM_UP = 3  # runs: the first ones touch new memory


class LackError(MistakeError):
    """A requirement of a part is missing: its goals are not measured."""


def siblings(one: int, other: int) -> bool:
    """Whether two CPUs are hyper-threads of one physical core."""
    files = Files()
    found = {
        files.text(f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        for cpu in (one, other)
    }
    return len(found) == 1 and found != {""}


def own_core() -> int:
    """The core for single measurements: not the first, which the kernel uses most."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[min(1, len(allowed) - 1)]


def second_core() -> int:
    """Another physical core for a second service group. Raises LackError if there is none."""
    first = own_core()
    allowed = sorted(os.sched_getaffinity(0) - {first})
    found = next((core for core in allowed if not siblings(first, core)), None)
    if found is None:
        raise LackError("needs two cores that are not hyper-threads of each other")
    return found


@dataclass(frozen=True)
class Bench:
    """Starts service groups, and makes runs with them."""

    runs: int
    seconds: float
    folder: Path
    stopped: Stopped
    shown: Progress
    files: Mapping[str, str] = field(default_factory=dict)  # stored measurements by kind

    def group(self, profile: str, core: int) -> AbstractContextManager[trials.Server]:
        """A warmed-up service group on a core."""
        cores = configuration.group_cores()
        return self._warm(f"{profile}-{core}", profile, cores, ["--core", str(core)])

    def pair(self, profile: str, upper: int, lower: int) -> AbstractContextManager[trials.Server]:
        """A warmed-up service group with upper and lower MAC on separate cores."""
        keys = {"main": upper, "upper_mac": upper, "lower_mac": lower, "upstream": lower}
        cores = {"downstream": "1ds2t"} | {f"{key}_core": str(at) for key, at in keys.items()}
        return self._warm(f"{profile}-{upper}-{lower}", profile, cores, ["--threads", "2"])

    @contextmanager
    def _warm(
        self, name: str, profile: str, cores: Cores | dict[str, str], words: Sequence[str]
    ) -> Iterator[trials.Server]:
        self.shown.at(self.shown.done, f"{profile}: setting up")
        folder = self.folder / name
        folder.mkdir()
        config = folder / "sg.yaml"
        with config.open("w", encoding="utf-8") as out:
            write_profile(profile, out, cores=cores)
        command = [str(program("vcmts-bench")), "--config", str(config), "--requests", *words]
        with trials.start_server(command, folder, self.stopped) as serving:
            for _ in range(WARM_UP):
                self.run(serving)
            yield serving

    def request(self, mix: str) -> Json:
        direction = "upstream" if mix in (UPSTREAM_IMIX, UPSTREAM_LONG) else "downstream"
        return {"seconds": self.seconds, "direction": direction, "mix": mix}

    def run(self, group: trials.Server, mix: str = IMIX) -> Json:
        """Makes a run, and returns the answer (docs/results.md, "Runs on request")."""
        answer = group.ask(self.request(mix))
        self.shown.advance(text=f"{group.ready['configuration']}, {mix}")
        return answer


def make_result(goal: str, values: Sequence[float], **more: Any) -> Json:
    """A result: the median and all values of the runs."""
    spread = {"min": min(values), "max": max(values), "runs": len(values), "values": list(values)}
    unit = goals.load()[goal].unit
    return {"goal": goal, "unit": unit, "value": median(values), **spread, **more}


def cycles(answer: Json) -> float:
    return float(answer["result"]["cycles_per_packet"])


def stage_cycles(answer: Json, names: Sequence[str]) -> float:
    """The cycles of some stages together."""
    return sum(float(answer["result"]["stages"][name]) for name in names)


def median_of(answers: Sequence[Json], key: str) -> float:
    return median(float(answer["result"][key]) for answer in answers)


def run_conditions(answers: Sequence[Json]) -> Json:
    """Conditions of the runs: clock of the core, cycles of crypto alone."""
    return {
        "core_hz": median(answer["core_hz"] for answer in answers),
        "crypto_bound_cycles": median_of(answers, "crypto_bound_cycles"),
    }


def total(goal: str, answers: Sequence[Json]) -> Json:
    """The result for all stages of a mix, in reference and core cycles."""
    core = median_of(answers, "core_cycles_per_packet")
    own = run_conditions(answers)
    values = [cycles(answer) for answer in answers]
    return make_result(goal, values, core_cycles_per_packet=core, **own)


def most_expensive(goal: str, answers: Sequence[Json]) -> Json:
    """The result for the most expensive stage other than crypto."""
    stages = [answer["result"]["stages"] for answer in answers]
    by_stage = {name: [one[name] for one in stages] for name in stages[0] if name not in CRYPTO}
    name = max(by_stage, key=lambda name: median(by_stage[name]))
    return make_result(goal, by_stage[name], remark=name, stage=name, **run_conditions(answers))


def over_crypto(goal: str, answers: Sequence[Json], values: Sequence[float]) -> Json:
    """The ratio of cycles to those of crypto alone in the same run."""
    bounds = [float(answer["result"]["crypto_bound_cycles"]) for answer in answers]
    remark = f"{median(values):,.0f} over {median(bounds):,.0f} reference cycles"
    ratios = [value / bound for value, bound in zip(values, bounds, strict=True)]
    return make_result(goal, ratios, remark=remark, **run_conditions(answers))


def downstream(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Measures all mixes alternately, so that they have the same conditions."""
    by_mix: dict[str, list[Json]] = {mix: [] for mix in (IMIX, *SIZES)}
    for _ in range(bench.runs):
        for mix, answers in by_mix.items():
            answers.append(bench.run(base, mix))
    answers, own = by_mix[IMIX], run_conditions(by_mix[IMIX])
    yield total("downstream", answers)
    core = [float(answer["result"]["core_cycles_per_packet"]) for answer in answers]
    yield make_result("downstream.core-cycles", core, **own)
    yield over_crypto("downstream.over-crypto", answers, [cycles(answer) for answer in answers])
    encrypt = [stage_cycles(answer, CRYPTO) for answer in answers]
    yield over_crypto("downstream.encrypt", answers, encrypt)
    yield make_result(
        "downstream.scheduler", [stage_cycles(answer, SCHEDULER) for answer in answers], **own
    )
    for size in SIZES:
        yield most_expensive(f"stage.{size}", by_mix[size])


def upstream(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Measures the mix and long frames alternately."""
    runs = [
        (bench.run(base, UPSTREAM_IMIX), bench.run(base, UPSTREAM_LONG)) for _ in range(bench.runs)
    ]
    mixed, long = ([*answers] for answers in zip(*runs, strict=True))
    yield total("upstream", mixed)
    yield over_crypto("upstream.over-crypto", long, [cycles(answer) for answer in long])


# Answers of another service group, each with the base's before it.
AlternatingRuns = list[tuple[Json, Json]]


def alternate(bench: Bench, base: trials.Server, other: trials.Server) -> AlternatingRuns:
    found: AlternatingRuns = []
    for _ in range(bench.runs):
        before = bench.run(base)
        found.append((bench.run(other), before))
    return found


def over_base(goal: str, alternating: AlternatingRuns) -> Json:
    """The ratio of cycles of another service group to the base's run before it."""
    pairs = [(cycles(changed), cycles(before)) for changed, before in alternating]
    medians = [median(values) for values in zip(*pairs, strict=True)]
    remark = f"{medians[0]:,.0f} over {medians[1]:,.0f} reference cycles"
    values = [changed / before for changed, before in pairs]
    return make_result(goal, values, remark=remark, pairs=[list(pair) for pair in pairs])


def channels(bench: Bench, base: trials.Server) -> Iterator[Json]:
    with bench.group(CHANNELS, own_core()) as other:
        alternating = alternate(bench, base, other)
    yield over_base("channels", alternating)
    answers = [changed for changed, _ in alternating]
    values = [stage_cycles(answer, SCHEDULER) for answer in answers]
    yield make_result("channels.scheduler", values, **run_conditions(answers))


def modems(bench: Bench, base: trials.Server) -> Iterator[Json]:
    with bench.group(MODEMS, own_core()) as other:
        yield over_base("modems", alternate(bench, base, other))


def threads(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Measures the rate with upper and lower MAC on separate cores over that on one core."""
    with bench.pair(BASE, second_core(), own_core()) as both:
        alternating = alternate(bench, base, both)
    halves = [answer["result"]["pair"] for answer, _ in alternating]
    alone = [rate(before) for _, before in alternating]
    rates = [(float(pair["gbps"]), one) for pair, one in zip(halves, alone, strict=True)]
    medians = [median(values) for values in zip(*rates, strict=True)]
    upper, lower = (median(pair[mac] for pair in halves) for mac in ("upper_mac", "lower_mac"))
    remark = f"{medians[0]:.2f} over {medians[1]:.2f} Gbps"
    remark += f"; upper MAC {upper:,.0f}, lower MAC {lower:,.0f} cycles"
    values = [pair / one for pair, one in rates]
    yield make_result("threads", values, remark=remark, threads_gbps=[list(run) for run in rates])


def overlap(one: Json, other: Json) -> float:
    """The common time of two runs over the time from the first begin to the last end."""
    common = min(one["end_us"], other["end_us"]) - max(one["begin_us"], other["begin_us"])
    whole = max(one["end_us"], other["end_us"]) - min(one["begin_us"], other["begin_us"])
    return float(common / whole)


def run_both(bench: Bench, base: trials.Server, other: trials.Server) -> tuple[Json, Json]:
    """Makes a run of each at the same time."""
    begin_us = round((time.monotonic() + SET_UP_SECONDS) * 1e6)
    request = bench.request(IMIX) | {"begin_us": begin_us}
    base.begin(request)
    other.begin(request)
    answers = base.answer(request), other.answer(request)
    bench.shown.advance(text="two service groups at one time")
    return answers


def rate(answer: Json) -> float:
    """Gbps of one core."""
    return float(answer["result"]["gbps_per_core"])


def cores(bench: Bench, base: trials.Server) -> Iterator[Json]:
    """Measures the rate of two service groups on two cores over that of the base alone. Repeats
    concurrent runs that overlap too little, up to as many as --runs."""
    found: list[tuple[float, float, float, float]] = []
    core = second_core()
    with bench.group(BASE, core) as other:
        for _ in range(2 * bench.runs):
            alone = bench.run(base), bench.run(other)
            both = run_both(bench, base, other)
            if overlap(*both) >= OVERLAP:
                found.append((rate(alone[0]), rate(alone[1]), rate(both[0]), rate(both[1])))
            if len(found) == bench.runs:
                break
    if not found:
        raise trials.ProgramError("no two concurrent runs overlapped enough")
    base_alone, other_alone, first, second = (median(rates) for rates in zip(*found, strict=True))
    remark = f"{first:.2f} + {second:.2f} over {base_alone:.2f} Gbps"
    remark += f"; the second core alone: {other_alone:.2f}"
    values = [(first + second) / alone for alone, _, first, second in found]
    rates = [list(run) for run in found]
    yield make_result("cores", values, remark=remark, rates_gbps=rates, cores=[own_core(), core])


def memory(bench: Bench, base: trials.Server) -> Iterator[Json]:
    yield make_result("memory", [base.ready["memory"]["total"] / MIB])
