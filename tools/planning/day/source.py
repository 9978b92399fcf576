# SPDX-License-Identifier: BSD-3-Clause
"""Asks a vcmtsd in service for what a moment of the day is made of."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planning.day.moment import MOVED, NAMES, Counts, Moment, groups_of
from vcmts.control.client import Client, RefusedError
from vcmts.control.metrics import metrics
from vcmts.directions import DIRECTIONS
from vcmts.telemetry import latency
from vcmts.telemetry.plane import Plane
from vcmts.top.samples import Answer, answer_of

ANSWER_S = 30.0
Joules = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Source:
    """`moved`: only how much has moved, to be asked often. `highest`: Hz by the numbers of cores
    whose frequencies vcmtsd knows. `joules`: measured alone, between moments far from each other.
    """

    ask: Callable[[], Moment]
    moved: Callable[[], Answer]
    highest: dict[str, float]
    joules: Joules = dict


def added(parts: Iterator[list[list[float]]]) -> Counts:
    """Histograms of service groups as one."""
    whole: Counts = {}
    for part in parts:
        for us, packets in part:
            ns = round(us * 1000)
            whole[ns] = whole.get(ns, 0) + int(packets)
    return whole


def latencies(client: Client, groups: Iterable[str]) -> dict[str, Counts]:
    """Of all service groups together, by direction."""
    told = [latency.read(Plane(client, int(group)), reset=False) for group in groups]
    return {way: added(one[way]["histogram"] for one in told if way in one) for way in DIRECTIONS}


def highest(client: Client) -> dict[str, float]:
    """Of each core, Hz; nothing where vcmtsd knows of no frequencies."""
    try:
        told: Any = client.call("power.get")
        return {str(core["core"]): float(core["max_hertz"]) for core in told["cores"]}
    except (RefusedError, KeyError, TypeError, ValueError):
        return {}


@contextmanager
def asking(control: Path, joules: Joules) -> Iterator[Source]:
    """What asks raises one of watch.TROUBLES where there is no answer."""
    with Client(control, ANSWER_S) as client:

        def ask() -> Moment:
            told = answer_of(metrics(client, names=list(NAMES)))
            return Moment(told, latencies(client, groups_of(told)), joules())

        def moved() -> Answer:
            return answer_of(metrics(client, names=list(MOVED.values())))

        yield Source(ask, moved, highest(client), joules)
