# SPDX-License-Identifier: BSD-3-Clause
"""Measures packet loss at steps from idle to a load, with each kind of pause and the lowest clock.

A step is an idle time, in which pauses reach their maximum and the governor the lowest frequency,
and a time at the load, which begins abruptly. A trial has many steps. The wire drops packets that
do not fit into the ring.
"""

import time
from dataclasses import dataclass

from vcmts.bench.power.measured import Bench, make_result
from vcmts.bench.power.plane import POLL
from vcmts.bench.verdict import ENOUGH_OF_RATE, FULL_SHARE, gaps_of
from vcmts.jsons import Json
from vcmts.power.policy import down_seconds

LOAD_SECONDS = 0.009
LOADS = (0.9, 1.0)
# Latency limit of the governor: high enough to allow the lowest frequency.
LATENCY_US = 2000
# Limits of the steps per trial: fewer after a disturbed trial, more after an undisturbed one.
FEWEST_STEPS, MOST_STEPS = 5, 50
# Disturbed steps are repeated up to the requested number; if that is small, up to OFTEN times it,
# but no more than LEAST_REPEATED.
OFTEN, LEAST_REPEATED = 8, 200
COMPARED = 4  # cases for comparison have 1 / COMPARED of the steps
JUMPS = "vcmts_power_jumps_total"


def step_seconds(policy: str) -> float:
    """The duration of a step with a policy; cases for comparison have the same."""
    return down_seconds(policy) + LOAD_SECONDS


def shape(policy: str) -> str:
    return f"bursts:on={LOAD_SECONDS * 1e3:g}ms,off={down_seconds(policy) * 1e3:g}ms"


def highest_clock(power: Json) -> float | None:
    """The highest clock of any core in Hz; None: unknown."""
    return max((core["hertz"] for core in power.get("cores", []) if core["hertz"]), default=None)


@dataclass(frozen=True)
class Case:
    """The settings of the data plane for steps."""

    idle: str
    policy: str  # "none": no governor
    load: float
    steps: int
    queues: bool = True  # the governor also uses queues: one that grows sets the highest clock


def cases(bench: Bench) -> list[Case]:
    """The cases: each kind of pause with the governor; for comparison polling without a governor,
    and with one that uses only the busy share, as the published one."""
    steps, policy = bench.options.steps, bench.options.policy
    compared = max(1, steps // COMPARED)
    found = [Case(kind, policy, load, steps) for kind in bench.kinds for load in LOADS]
    found += [Case(POLL, "none", load, compared) for load in LOADS]
    return found + [Case(POLL, policy, load, compared, queues=False) for load in LOADS]


@dataclass(frozen=True)
class Trial:
    """The result of a trial, of both directions together."""

    verdict: str  # passed, failed; inconclusive: disturbed, traffic
    steps: int
    lost: int
    sent: int
    longest_gap_us: float
    late_us: float  # total delay of the governor's samples
    hertz_before: float | None  # the highest clock of a core after the idle time of a step

    def as_json(self) -> Json:
        return dict(self.__dict__)


def evaluate(
    answer: Json, rates: dict[str, float], steps: int, ring: int, late: float = 0.0
) -> str:
    """The verdict on a trial, as verdict.evaluate() for a constant rate. Lost packets are failures
    unless a gap, or the governor's delay of `late` seconds, exceeds what the ring bridges, and no
    more were lost than were due in that time. A trial that sent too little is "traffic"."""
    verdicts = []
    for way, rate in rates.items():
        part, loaded = answer[way], LOAD_SECONDS * steps
        lost = part["lost"] + part["corrupted"]
        longest, gaps = gaps_of([part, *answer.get("workers", [])])
        rate_now = part["sent"] / loaded
        excused = max(longest, late) * rate_now >= FULL_SHARE * ring
        excused = excused and lost <= min(gaps + late, loaded) * rate_now
        if lost:
            verdicts.append("disturbed" if excused else "failed")
        elif part["sent_bytes"] * 8 < ENOUGH_OF_RATE * rate * loaded:
            verdicts.append("traffic")
        else:
            verdicts.append("passed")
    return min(verdicts, key=("failed", "disturbed", "traffic", "passed").index)


def make_trial(bench: Bench, case: Case, steps: int) -> Trial:
    rates, policy = bench.rates_at(case.load), bench.options.policy
    shaped = {"shape": shape(policy), "drop": True}
    time.sleep(down_seconds(policy))
    before = bench.plane.get()
    answer = bench.plane.ask(bench.request(case.load, steps * step_seconds(policy), **shaped))
    late = bench.plane.get()["late_us"] - before["late_us"]
    longest, _ = gaps_of([*(answer[way] for way in rates), *answer.get("workers", [])])
    return Trial(
        verdict=evaluate(answer, rates, steps, bench.plane.ring, late / 1e6),
        steps=steps,
        lost=sum(answer[way]["lost"] + answer[way]["corrupted"] for way in rates),
        sent=sum(answer[way]["sent"] for way in rates),
        longest_gap_us=longest * 1e6,
        late_us=late,
        hertz_before=highest_clock(before),
    )


def trials(bench: Bench, case: Case) -> list[Trial]:
    """Makes trials until there are enough conclusive steps, or too many disturbed ones."""
    made: list[Trial] = []
    counted = again = 0
    size = MOST_STEPS
    most = max(case.steps, min(LEAST_REPEATED, OFTEN * case.steps))
    while counted < case.steps and again < most:
        trial = make_trial(bench, case, min(size, case.steps - counted))
        made.append(trial)
        if trial.verdict in ("passed", "failed"):
            counted += trial.steps
            size = min(2 * size, MOST_STEPS)
            bench.shown.advance(trial.steps * step_seconds(bench.options.policy))
        else:
            again += trial.steps
            size = max(size // 2, FEWEST_STEPS)
        text = f"{case.idle} to {case.load:.0%}, {counted} steps"
        bench.shown.at(bench.shown.done, text)
    return made


def measure_case(bench: Bench, case: Case) -> Json:
    """The result of a case: lost packets per 1,000 steps, of inconclusive trials if all are."""
    before = bench.plane.metrics(JUMPS)
    made = trials(bench, case)
    after = bench.plane.metrics(JUMPS)
    conclusive = [trial for trial in made if trial.verdict in ("passed", "failed")]
    used = conclusive or made
    steps = sum(trial.steps for trial in used)
    jumps = after[JUMPS] - before[JUMPS] if JUMPS in before else None
    return make_result(
        "steps",
        "packets",
        [1000 * sum(trial.lost for trial in used) / steps],
        idle=case.idle,
        policy=case.policy,
        queues=case.queues,
        load=case.load,
        steps=steps,
        lost=sum(trial.lost for trial in used),
        sent=sum(trial.sent for trial in used),
        jumps_a_step=None if jumps is None else jumps / sum(trial.steps for trial in made),
        disturbed=not conclusive,
        repeated=sum(trial.steps for trial in made) - steps,
        repeated_lost=sum(trial.lost for trial in made) - sum(trial.lost for trial in used),
        trials=[trial.as_json() for trial in made],
    )


def measure(bench: Bench) -> None:
    latency = bench.plane.get()["latency_us"]
    bench.plane.set(latency_us=LATENCY_US)
    for case in cases(bench):
        power: Json = {"idle": case.idle, "policy": case.policy}
        bench.plane.set(**power, queues=case.queues)
        bench.add(measure_case(bench, case))
    bench.plane.set(idle=POLL, policy="none", queues=True, latency_us=latency)


def seconds(kinds: int, steps: int, policy: str) -> float:
    """The duration of all cases without repetitions."""
    compared = max(1, steps // COMPARED)
    return len(LOADS) * (kinds * steps + 2 * compared) * step_seconds(policy)
