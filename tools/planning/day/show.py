# SPDX-License-Identifier: BSD-3-Clause
"""The day on the terminal: a line an hour."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from planning.day.moment import HOURS, PERCENTILES, clock
from vcmts.jsons import Json

DIRECTION = "downstream"  # whose latencies the table has; the document has both
HEADS = ("hour", "down", "up", "busy", "paused", "GHz", "p50", "p99", "p99.9", "modelled\nW")
NO_CLOCK = (
    "no frequency followed the policy: this machine lets nobody change one (no cpufreq); "
    "--power-driver simulated shows what it would do"
)
UNITS = "down and up: Gbps; p50, p99, p99.9: us in the pipeline downstream"


def number(value: float | None, form: str, factor: float = 1.0) -> str:
    return "-" if value is None else format(value * factor, form)


def watts(row: Json, key: str) -> float | None:
    modelled = row["modelled_watts"]
    found: float | None = modelled[key] if modelled else None
    return found


def measured_of(day: Json) -> list[str]:
    """What was measured at some time: an hour may have what the whole day has not."""
    rows = (day["whole"], *day["hours"], *day["samples"])
    return list(dict.fromkeys(what for row in rows for what in row["measured_watts"]))


def cells(row: Json, measured: Sequence[str]) -> Iterator[str]:
    """Behind the first one. `measured`: whose watts, in the order of the columns."""
    yield number(row["downstream_gbps"], ".3f")
    yield number(row["upstream_gbps"], ".3f")
    yield number(row["busy"], ".1%")
    yield number(row["paused"], ".1%")
    yield number(row["hertz"], ".2f", 1e-9)
    latency = row["latency_us"][DIRECTION] or {}
    for name in PERCENTILES:
        yield number(latency.get(name), ",.0f")
    yield number(watts(row, "cpu"), ".0f")
    yield from (number(row["measured_watts"].get(what), ".0f") for what in measured)


def table(day: Json) -> Table:
    drawn = Table(title="the day", title_justify="left", padding=(0, 0, 0, 1))
    measured = measured_of(day)
    for head in (*HEADS, *(f"measured\n{what} W" for what in measured)):
        drawn.add_column(head, justify="right", no_wrap=True)
    for row in day["hours"]:
        drawn.add_row(clock(int(row["hour"])), *cells(row, measured))
    drawn.add_section()
    drawn.add_row("all", *cells(day["whole"], measured))
    return drawn


def saved(day: Json) -> str:
    """What the model says of the whole day, in a line."""
    whole = day["whole"]["modelled_watts"]
    told = []
    for key, name in (("cpu", "the processors"), ("platform", "the platform")):
        now, polling = whole[key], whole[f"{key}_polling"]
        if now is not None and polling:
            told.append(f"{now:.0f} W of {name}, {1 - now / polling:.1%} less than {polling:.0f} W")
    at = "without pauses at the highest frequency"
    return f"modelled of {day['modelled_machine']}: {', '.join(told)} {at}"


def measured(day: Json) -> str:
    told = ", ".join(
        f"{what} {watts:.1f} W" for what, watts in day["whole"]["measured_watts"].items()
    )
    return f"measured of this machine: {told}"


def switched(day: Json) -> str:
    """Pauses and frequencies of the run."""
    driver = f" by {day['driver']}" if day["driver"] not in (None, "none") else ""
    return f"pauses: {day['idle'] or 'none'}; policy: {day['policy'] or 'none'}{driver}"


def unchanged(day: Json) -> bool:
    """A policy was asked for, and no frequency could follow it."""
    return day["policy"] not in (None, "none") and day["whole"]["hertz"] is None


def show(day: Json, console: Console) -> None:
    console.print(table(day))
    print(UNITS)
    print(f"{HOURS} hours of {day['load']} in {day['length_seconds']:g} s; {switched(day)}")
    if unchanged(day):
        print(NO_CLOCK)
    if day["whole"]["modelled_watts"]:
        print(saved(day))
    if day["whole"]["measured_watts"]:
        print(measured(day))
