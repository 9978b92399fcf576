# SPDX-License-Identifier: BSD-3-Clause
"""Selects the results of `vcmts bench power` that have goals: the best pause for a worker with its
own core, sleep for a shared core, and for steps the kind of pause with the most losses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vcmts.bench.power import loaded, steps, unloaded
from vcmts.bench.power.plane import PAUSES, SLEEP
from vcmts.jsons import Json

DIRECTION = "downstream"


@dataclass(frozen=True)
class Found:
    """The measured values of a goal."""

    goal: str
    values: list[float]
    remark: str
    disturbed: bool


def best_pause(file: Json) -> str:
    """The best kind of pause for a worker with its own core; "" if none was measured."""
    return next((kind for kind in PAUSES if kind in file["kinds"]), "")


def step_goals(results: list[Json]) -> Iterator[Found]:
    """Yields the worst pause per load, with the governor and with one by busy share only."""
    for load in steps.LOADS:
        at = [r for r in results if r["what"] == "steps" and r["load"] == load]
        governed = [r for r in at if r["policy"] != "none"]
        for end, queues in (("", True), (".busyness", False)):
            found = [r for r in governed if r["queues"] is queues]
            if not found:
                continue
            worst = max(found, key=lambda r: float(r["value"]))
            made = min(r["steps"] for r in found)
            text = ", ".join(f"{r['idle']} {r['value']:,.0f}" for r in found)
            goal = f"power.steps.{round(100 * load)}{end}"
            remark = f"{text}; {made:,} steps"
            yield Found(goal, [worst["value"]], remark, any(r.get("disturbed") for r in found))


def find_result(results: list[Json], what: str, **where: Any) -> Json | None:
    conditions = {"what": what, **where}
    return next((r for r in results if conditions.items() <= r.items()), None)


def goals_of(file: Json) -> Iterator[Found]:
    """Yields the goals that a stored measurement has."""
    results, kind = file["results"], best_pause(file)
    yield from step_goals(results)
    wanted: list[tuple[str, str, str, Json]] = [
        (f"power.latency.{key}.{round(100 * load)}", f"latency.{key}", kind, {"load": load})
        for load in loaded.LOADS
        for key in loaded.KEYS
    ]
    wanted += [("power.cost", "cost", kind, {}), ("power.paused", "paused", kind, {})]
    wanted.append(("power.cpu", "cpu", SLEEP, {}))
    for end, apart in (("", unloaded.APART_SECONDS), (".long", unloaded.LONG_APART_SECONDS)):
        wanted.append((f"power.first{end}", "first.p99", SLEEP, {"apart_seconds": apart}))
    for goal, what, idle, where in wanted:
        if what.startswith("latency."):
            where = {**where, "direction": DIRECTION}
        found = find_result(results, what, idle=idle, **where)
        if found is not None:
            whole = what.startswith("first.")  # quantiles of all packets, not per run
            values = [found["value"]] if whole else found.get("values", [found["value"]])
            yield Found(goal, values, idle, bool(found.get("disturbed")))
