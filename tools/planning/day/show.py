# SPDX-License-Identifier: BSD-3-Clause
"""Prints the day as a table with a line per hour, and the modelled and measured watts."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from planning.day.moment import HOURS, PERCENTILES, clock
from vcmts.jsons import Json
from vcmts.terminal import print_wrapped

DIRECTION = "downstream"  # of the latencies in the table; the document has both directions
HEADS = ("hour", "down", "up", "busy", "paused", "GHz", "p50", "p99", "p99.9", "modelled\nW")
NO_CLOCK = (
    "the policy changed no frequency: this host has no cpufreq; --power-driver simulated shows "
    "what the policy would do"
)
UNITS = "down and up: Gbps; p50, p99, p99.9: us in the pipeline downstream"


def number(value: float | None, form: str, factor: float = 1.0) -> str:
    return "-" if value is None else format(value * factor, form)


def watts(figures: Json, key: str) -> float | None:
    modelled = figures["modelled_watts"]
    found: float | None = modelled[key] if modelled else None
    return found


def measured_names(day: Json) -> list[str]:
    """Names of all measured watts. Some may be measured in an hour and not over the whole day."""
    parts = (day["whole"], *day["hours"], *day["samples"])
    return list(dict.fromkeys(what for figures in parts for what in figures["measured_watts"]))


def cells(figures: Json, measured: Sequence[str]) -> Iterator[str]:
    """The cells after the hour. `measured`: names of measured watts, in column order."""
    yield number(figures["downstream_gbps"], ".3f")
    yield number(figures["upstream_gbps"], ".3f")
    yield number(figures["busy"], ".1%")
    yield number(figures["paused"], ".1%")
    yield number(figures["hertz"], ".2f", 1e-9)
    latency = figures["latency_us"][DIRECTION] or {}
    for name in PERCENTILES:
        yield number(latency.get(name), ",.0f")
    yield number(watts(figures, "cpu"), ".0f")
    yield from (number(figures["measured_watts"].get(what), ".0f") for what in measured)


def table(day: Json) -> Table:
    drawn = Table(title="the day", title_justify="left", padding=(0, 0, 0, 1))
    measured = measured_names(day)
    for head in (*HEADS, *(f"measured\n{what} W" for what in measured)):
        drawn.add_column(head, justify="right", no_wrap=True)
    for figures in day["hours"]:
        drawn.add_row(clock(int(figures["hour"])), *cells(figures, measured))
    drawn.add_section()
    drawn.add_row("all", *cells(day["whole"], measured))
    return drawn


def savings_text(day: Json) -> str:
    """A line with the modelled watts of the day, and the saving over polling."""
    whole = day["whole"]["modelled_watts"]
    parts = []
    for key, name in (("cpu", "the processors"), ("platform", "the platform")):
        now, polling = whole[key], whole[f"{key}_polling"]
        if now is not None and polling:
            parts.append(
                f"{now:.0f} W of {name}, {1 - now / polling:.1%} less than {polling:.0f} W"
            )
    reference = "without pauses at the highest frequency"
    return f"modelled of {day['modelled_machine']}: {', '.join(parts)} {reference}"


def measured(day: Json) -> str:
    parts = ", ".join(
        f"{what} {watts:.1f} W" for what, watts in day["whole"]["measured_watts"].items()
    )
    return f"measured of this machine: {parts}"


def policy_text(day: Json) -> str:
    """The idle mode and power policy of the run."""
    driver = f" by {day['driver']}" if day["driver"] not in (None, "none") else ""
    return f"pauses: {day['idle'] or 'none'}; policy: {day['policy'] or 'none'}{driver}"


def policy_without_effect(day: Json) -> bool:
    """Whether a policy was set but no frequency is known."""
    return day["policy"] not in (None, "none") and day["whole"]["hertz"] is None


def show(day: Json, console: Console) -> None:
    console.print(table(day))
    print(UNITS)
    print_wrapped(
        f"{HOURS} hours of {day['load']} in {day['length_seconds']:g} s; {policy_text(day)}"
    )
    if policy_without_effect(day):
        print_wrapped(NO_CLOCK)
    if day["whole"]["modelled_watts"]:
        print_wrapped(savings_text(day))
    if day["whole"]["measured_watts"]:
        print_wrapped(measured(day))
