# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd's frequency governor in the model: its policies, and the lowest frequency that it chooses.

The numbers are read from src/power; docs/power.md explains them.
"""

import argparse
import re
from dataclasses import dataclass, replace
from functools import cache

from vcmts.paths import MistakeError, data
from vcmts.power.model import Machine

POLICIES = data("src/power/policies.def")
GOVERNOR = data("src/power/governor.h")
ROW = re.compile(r"^GOVERNOR_POLICY\((\w+), (\d+), \d+, (\d+), (true|false)\)$", re.M)
NUMBER = r"^#define GOVERNOR_%s (\d+)u?\b"
LATENCY_US = 200.0  # as `power.latency` of a configuration
TIME = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(us|ms|s)", re.ASCII)
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Policy:
    busy: float  # target for the busy share of a worker's time
    hold_ms: float  # time before the frequency is lowered
    highest: bool  # always the highest frequency


@cache
def policies() -> dict[str, Policy]:
    rows = ROW.findall(POLICIES.read_text(encoding="utf-8"))
    return {
        name: Policy(int(busy) / 100, float(hold), highest == "true")
        for name, busy, hold, highest in rows
    }


@cache
def number(name: str) -> int:
    """The value of the macro GOVERNOR_`name`."""
    found = re.search(NUMBER % name, GOVERNOR.read_text(encoding="utf-8"), re.M)
    if found is None:
        raise MistakeError(f"{GOVERNOR}: has no GOVERNOR_{name}")
    return int(found[1])


def sample_interval_us(least: float, most: float, latency: float, transition: float) -> float:
    """The sampling interval in us that keeps `latency` (us) from `least` GHz on."""
    seldom, often = number("SAMPLE_MAX_NS") / 1000, number("SAMPLE_MIN_NS") / 1000
    if least >= most:
        return seldom
    wait = max(0.0, latency * most / (most - least) - transition)
    return min(max(wait / number("SAMPLES"), often), seldom)


def down_seconds(name: str) -> float:
    """Seconds without load after which a policy certainly has the lowest frequency."""
    looks = (number("SAMPLES") + 1) * number("SAMPLE_MAX_NS") / 1e9
    return 2 * policies()[name].hold_ms / 1e3 + looks


def lowest_ghz(least: float, most: float, latency: float, transition: float) -> float:
    """The lowest frequency in GHz that keeps packets of a sudden load within `latency`."""
    wait = number("SAMPLES") * sample_interval_us(least, most, latency, transition) + transition
    return max(least, most * (1 - latency / wait)) if wait > latency else least


def with_governor(machine: Machine, name: str, latency_us: float | None) -> Machine:
    """The machine with vcmtsd's governor, and without the published day, which has another one."""
    policy = policies().get(name)
    if policy is None:
        raise MistakeError(f"--policy: found {name}, allowed: {', '.join(policies())}")
    least, most = machine.states[0].ghz, machine.states[-1].ghz
    latency = LATENCY_US if latency_us is None else latency_us
    floor = most if policy.highest else lowest_ghz(least, most, latency, machine.transition_us)
    return replace(
        machine,
        governor_name=f"policy {name}, {latency:g} us",
        governor_busy=policy.busy,
        governor_ghz=floor,
        published_day={},
    )


def microseconds(text: str) -> float:
    found = TIME.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: a time such as 200us or 1ms")
    return float(found[1]) * UNITS[found[2]]
