# SPDX-License-Identifier: BSD-3-Clause
"""Formats the results of `vcmts power simulate` as JSON and text. Computed watts are marked as
modelled."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from planning.day.load import HOURS, Day
from planning.day.load import mean as mean_share
from planning.power.simulate import Saved, Step, mean, mode_watts, saved
from vcmts.console import print_line
from vcmts.jsons import Json
from vcmts.power.model import Machine, platform_watts, slowest

SCHEMA = 1
LEVELS = {"cpu": "CPU", "platform": "server"}
WORDS = {"none": "polling", "pauses": "pauses", "frequency": "frequency", "both": "both"}
QUANTITIES = {"most": "most", "least": "least", "average": "average", "per_watt": "Gbps/W"}


def percent(found: Saved) -> dict[str, float]:
    return {key: round(100 * value, 4) for key, value in asdict(found).items()}


def modes_of(steps: Sequence[Step]) -> list[str]:
    return list(steps[0].by)


def state_json(machine: Machine) -> list[Json]:
    return [
        {
            "ghz": round(state.ghz, 6),
            **{
                f"modelled_{name}_watts": round(getattr(state, name), 4)
                for name in ("busy", "polling", "paused")
            },
        }
        for state in machine.states
    ]


def machine_json(machine: Machine) -> Json:
    return {
        "name": machine.name,
        "source": machine.source,
        "service_groups": machine.groups,
        "cores": machine.cores,
        "worker_cores": machine.worker_cores,
        "workers": [asdict(kind) for kind in machine.workers],
        "upstream_share": machine.upstream_share,
        "peak_gbps": machine.peak_gbps,
        "governor": {
            "name": machine.governor_name,
            "busy": machine.governor_busy,
            "least_ghz": machine.governor_ghz,
        },
        "core_states": state_json(machine),
        "modelled_rest_watts": round(machine.rest_watts, 3),
        "modelled_platform_watts": rounded(machine.platform_watts),
        "platform_factor": round(machine.platform_factor, 4),
        "fitted": {key: round(value, 4) for key, value in machine.fitted.items()},
    }


def rounded(value: float | None, places: int = 3) -> float | None:
    return None if value is None else round(value, places)


def mean_json(steps: Sequence[Step], mode: str, level: str) -> Json | None:
    watts = mode_watts(steps, mode, level)
    if watts is None:
        return None
    per_watt = mean([step.gbps / one for step, one in zip(steps, watts, strict=True)])
    return {
        "modelled_mean_watts": round(mean(watts), 2),
        "modelled_kwh_a_day": round(mean(watts) * HOURS / 1000, 3),
        "modelled_mean_gbps_per_watt": round(per_watt, 4),
    }


def savings_json(machine: Machine, steps: Sequence[Step], level: str) -> Json:
    out: Json = {}
    for mode in modes_of(steps)[1:]:
        found = saved(steps, mode, level)
        if found is not None:
            out[mode] = {"modelled_percent": percent(found)}
            published = machine.published_day.get(level, {}).get(mode)
            if published:
                out[mode]["published_percent"] = published
    return out


def step_json(step: Step) -> Json:
    by = step.by.items()
    return {
        "hour": round(step.hour, 4),
        "gbps": round(step.gbps, 3),
        "modelled_cpu_watts": {mode: round(moment.cpu, 2) for mode, moment in by},
        "modelled_platform_watts": {mode: rounded(moment.platform, 2) for mode, moment in by},
        "ghz": {mode: [round(use.hertz / 1e9, 6) for use in moment.uses] for mode, moment in by},
        "busy": {mode: [round(use.busy, 4) for use in moment.uses] for mode, moment in by},
        "paused": {mode: [round(use.paused, 4) for use in moment.uses] for mode, moment in by},
    }


def as_json(machine: Machine, day: Day, steps: Sequence[Step]) -> Json:
    return {
        "schema": SCHEMA,
        "kind": "power",
        "what": "modelled, not measured",
        "machine": machine_json(machine),
        "day": {
            "name": day.name,
            "mean_of_peak": round(mean_share(day.downstream), 4),
            "mean_gbps": round(mean([step.gbps for step in steps]), 2),
            "least_gbps": round(min(step.gbps for step in steps), 2),
            "most_gbps": round(max(step.gbps for step in steps), 2),
        },
        "means": {
            level: {mode: mean_json(steps, mode, level) for mode in modes_of(steps)}
            for level in LEVELS
        },
        "saved": {level: savings_json(machine, steps, level) for level in LEVELS},
        "steps": [step_json(step) for step in steps],
    }


def means_table(answer: Json) -> Table:
    table = Table(title="modelled, in the mean of the day", title_justify="left")
    table.add_column("")
    for level in LEVELS.values():
        for unit in ("W", "kWh", "Gbps/W"):
            table.add_column(f"{level} {unit}", justify="right")
    keys = ("modelled_mean_watts", "modelled_kwh_a_day", "modelled_mean_gbps_per_watt")
    for mode in answer["means"]["cpu"]:
        cells = []
        for level in LEVELS:
            found = answer["means"][level][mode]
            for key, places in zip(keys, (1, 2, 3), strict=True):
                cells.append("-" if found is None else f"{found[key]:.{places}f}")
        table.add_row(WORDS[mode], *cells)
    return table


def saved_table(answer: Json) -> Table:
    table = Table(title="saved in 24 hours, %; and more Gbps a watt, %", title_justify="left")
    for name in ("", ""):
        table.add_column(name)
    for name in QUANTITIES.values():
        table.add_column(name, justify="right")
    for level, savings in answer["saved"].items():
        for mode, found in savings.items():
            own, published = found["modelled_percent"], found.get("published_percent")
            table.add_row(
                f"{LEVELS[level]}, {WORDS[mode]}",
                "modelled",
                *(f"{own[q]:.1f}" for q in QUANTITIES),
            )
            if published:
                table.add_row("", "published", *(f"{published[q]:.1f}" for q in QUANTITIES))
                apart = [f"{own[q] - published[q]:+.1f}" for q in QUANTITIES]
                table.add_row("", "difference", *apart, end_section=True)
    return table


def farthest(answer: Json) -> str | None:
    """The largest difference to a published average, percentage points."""
    apart = [
        abs(found["modelled_percent"]["average"] - found["published_percent"]["average"])
        for savings in answer["saved"].values()
        for found in savings.values()
        if "published_percent" in found
    ]
    return f"{max(apart):.1f}" if apart else None


def lines(machine: Machine, answer: Json) -> Iterator[str]:
    slow, fast = machine.states[0], machine.states[-1]
    yield (
        f"{machine.worker_cores:g} cores of {machine.groups} service groups, "
        f"{slow.ghz:g} to {fast.ghz:g} GHz"
    )
    name, lowest = machine.governor_name or "governor", slowest(machine, 0.0).ghz
    yield f"{name}: {machine.governor_busy:.0%} of a core may be busy, at {lowest:g} GHz and more"
    yield (
        f"modelled, of a core that polls: {fast.polling:.2f} W fast, {slow.polling:.2f} W slow; "
        f"that pauses: {fast.paused:.2f} W and {slow.paused:.2f} W"
    )
    rest = f"modelled, of the processors beside that: {machine.rest_watts:.0f} W"
    if platform_watts(machine, 0.0) is not None:
        rest += (
            f"; of the server: {machine.platform_watts:.0f} W + {machine.platform_factor:.2f} x "
            "that of the processors"
        )
    yield rest
    day = answer["day"]
    yield (
        f"day {day['name']}: {day['least_gbps']:g} to {day['most_gbps']:g} Gbps, "
        f"{day['mean_gbps']:g} in the mean ({day['mean_of_peak']:.0%} of the peak)"
    )


def show(machine: Machine, answer: Json, console: Console) -> None:
    print_line(console, f"{machine.name}: modelled, not measured")
    for text in lines(machine, answer):
        print_line(console, f"  {text}")
    console.print(means_table(answer))
    if any(answer["saved"].values()):
        console.print(saved_table(answer))
    apart = farthest(answer)
    if apart:
        print_line(console, f"averages: at most {apart} percentage points from the published ones")
