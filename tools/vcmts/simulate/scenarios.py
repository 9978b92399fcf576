# SPDX-License-Identifier: BSD-3-Clause
"""The downstream scenarios of `vcmts simulate`, in the JSON of vcmts-simulate.

docs/scheduler.md has its keys. Times are in s, rates in bit/s, sizes in bytes. `more`: further
keys; they override those that a function sets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vcmts.jsons import Json

Scenario = Json

MBPS = 1e6
AQMS = ("tail-drop", "wred", "docsis-pie")
# s: the default `latency_target` of vcmts-simulate, for the line in figures. No scenario sets it.
TARGET = 0.010
BUFFER = 0.100  # s: length of the buffer at the sustained rate


def service_flow(rate: float, aqm: str, **more: Any) -> Scenario:
    return {"sustained_rate": rate, "buffer": int(rate / 8 * BUFFER), "aqm": aqm} | more


def downloads(kind: str, count: int, rtt: float, **more: Any) -> Scenario:
    """`count` TCP senders (`kind`: "reno" or "cubic") that start within a second. With `rtt_max`,
    their round trips are spread from `rtt` to it."""
    return {"kind": kind, "count": count, "rtt": rtt, "spread": 1} | more


def one_flow(rate: float, aqm: str, *senders: Scenario, **more: Any) -> Scenario:
    """A scenario whose senders all use one service flow."""
    return {
        "duration": 60,
        "warmup": 15,
        "service_flows": [service_flow(rate, aqm)],
        "senders": list(senders),
    } | more


def light(aqm: str) -> Scenario:
    return one_flow(10 * MBPS, aqm, downloads("reno", 5, 0.1))


def heavy(aqm: str) -> Scenario:
    return one_flow(10 * MBPS, aqm, downloads("reno", 50, 0.1))


def overload(aqm: str) -> Scenario:
    flood = {"label": "unresponsive", "kind": "cbr", "count": 2, "rate": 6 * MBPS, "bytes": 1000}
    return one_flow(10 * MBPS, aqm, downloads("reno", 5, 0.1), flood)


def cubic(aqm: str) -> Scenario:
    return one_flow(100 * MBPS, aqm, downloads("cubic", 20, 0.05))


def single(aqm: str) -> Scenario:
    return one_flow(50 * MBPS, aqm, downloads("cubic", 1, 0.05))


def gigabit(aqm: str) -> Scenario:
    return one_flow(1000 * MBPS, aqm, downloads("cubic", 20, 0.05), duration=30)


def mixed_rtt(aqm: str) -> Scenario:
    return one_flow(100 * MBPS, aqm, downloads("cubic", 20, 0.01, rtt_max=0.2))


def gaming(aqm: str) -> Scenario:
    probe = {"label": "gaming", "kind": "cbr", "rate": 100e3, "bytes": 200}
    return one_flow(50 * MBPS, aqm, downloads("cubic", 5, 0.05), probe)


def rate_change(aqm: str) -> Scenario:
    """The buffer keeps its bytes when the rate falls to a fifth: full, it then takes five times as
    long to drain."""
    changes = [
        {"at": 30, "service_flow": 0, "sustained_rate": 20 * MBPS},
        {"at": 60, "service_flow": 0, "sustained_rate": 100 * MBPS},
    ]
    senders = downloads("cubic", 20, 0.05)
    return one_flow(100 * MBPS, aqm, senders, duration=90, warmup=5, changes=changes, sample=0.1)


def short_path(aqm: str) -> Scenario:
    return one_flow(10 * MBPS, aqm, downloads("cubic", 3, 0.02))


def long_path(aqm: str) -> Scenario:
    return one_flow(10 * MBPS, aqm, downloads("reno", 3, 0.2), duration=120)


def ns3_example(aqm: str) -> Scenario:
    """Rates, delays, sizes and limits of ns-3's pie-example."""
    flow = service_flow(1.5 * MBPS, aqm, latency_target=0.02, buffer=100_000, burst=2000)
    senders = downloads("reno", 2, 0.052, rtt_max=0.054, bytes=1000, start=1.5, spread=0)
    return one_flow(1.5 * MBPS, aqm, senders, service_flows=[flow], duration=7, warmup=1.5)


@dataclass(frozen=True)
class Case:
    about: str  # rate of the service flow, senders, RTT
    scenario: Callable[[str], Scenario]


CASES = {
    "light": Case("10 Mbps, 5 Reno, 100 ms", light),
    "heavy": Case("10 Mbps, 50 Reno, 100 ms", heavy),
    "overload": Case("10 Mbps, 5 Reno, 100 ms, and 12 Mbps unresponsive", overload),
    "single": Case("50 Mbps, 1 CUBIC, 50 ms", single),
    "cubic": Case("100 Mbps, 20 CUBIC, 50 ms", cubic),
    "gigabit": Case("1 Gbps, 20 CUBIC, 50 ms", gigabit),
    "mixed-rtt": Case("100 Mbps, 20 CUBIC, 10 to 200 ms", mixed_rtt),
    "gaming": Case("50 Mbps, 5 CUBIC, 50 ms, and a game of 100 kbps", gaming),
    "rate-change": Case("100, 20, 100 Mbps, 20 CUBIC, 50 ms", rate_change),
    "short-path": Case("10 Mbps, 3 CUBIC, 20 ms", short_path),
    "long-path": Case("10 Mbps, 3 Reno, 200 ms", long_path),
    "ns3-example": Case("1.5 Mbps, 2 Reno, 52 and 54 ms, target 20 ms", ns3_example),
}

# For the figure of quantiles: rates in Mbps, and numbers of senders that share them.
MATRIX_RATES = (5, 50, 100, 1000)
MATRIX_COUNTS = (1, 5, 20, 50)
MATRIX_RTT = 0.05


def matrix(mbps: int, count: int, aqm: str) -> Scenario:
    """CUBIC senders that share a rate in Mbps; 1 Gbps runs for half the time, to save run time."""
    duration = 60 if mbps < 1000 else 30
    return one_flow(mbps * MBPS, aqm, downloads("cubic", count, MATRIX_RTT), duration=duration)
