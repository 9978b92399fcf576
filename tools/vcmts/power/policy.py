# SPDX-License-Identifier: BSD-3-Clause
"""Our own governor in the model: its policies, and the lowest frequency that it chooses.

The numbers are those of src/power; how they come about is told in docs/power.md.
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
    busy: float  # the share of a worker's time that its load is to take
    hold_ms: float  # before a frequency is lowered
    highest: bool


@cache
def policies() -> dict[str, Policy]:
    rows = ROW.findall(POLICIES.read_text(encoding="utf-8"))
    return {
        name: Policy(int(busy) / 100, float(hold), highest == "true")
        for name, busy, hold, highest in rows
    }


@cache
def number(name: str) -> int:
    found = re.search(NUMBER % name, GOVERNOR.read_text(encoding="utf-8"), re.M)
    if found is None:
        raise MistakeError(f"{GOVERNOR}: has no GOVERNOR_{name}")
    return int(found[1])


def look_us(least: float, most: float, latency: float, transition: float) -> float:
    """How often it looks: as seldom as the lowest frequency allows. Microseconds."""
    seldom, often = number("LOOK_MOST_NS") / 1000, number("LOOK_LEAST_NS") / 1000
    if least >= most:
        return seldom
    wait = max(0.0, latency * most / (most - least) - transition)
    return min(max(wait / number("LOOKS"), often), seldom)


def down_seconds(name: str) -> float:
    """Without any load, after which the frequency of a policy is the lowest in any case: what was
    wished before is held, and once more, as a look may fall in the end of a load; then it looks
    as often as a load takes to be seen, and once more for being late."""
    looks = (number("LOOKS") + 1) * number("LOOK_MOST_NS") / 1e9
    return 2 * policies()[name].hold_ms / 1e3 + looks


def floor_ghz(least: float, most: float, latency: float, transition: float) -> float:
    """The lowest frequency at which a load that comes at once waits no longer than the latency."""
    wait = number("LOOKS") * look_us(least, most, latency, transition) + transition
    return max(least, most * (1 - latency / wait)) if wait > latency else least


def governed(machine: Machine, name: str, latency_us: float | None) -> Machine:
    """The machine with a governor of ours: what was published is of another one."""
    policy = policies().get(name)
    if policy is None:
        raise MistakeError(f"--policy {name}: not known, allowed: {', '.join(policies())}")
    least, most = machine.states[0].ghz, machine.states[-1].ghz
    latency = LATENCY_US if latency_us is None else latency_us
    floor = most if policy.highest else floor_ghz(least, most, latency, machine.transition_us)
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
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed: a time as 200us or 1ms")
    return float(found[1]) * UNITS[found[2]]
