# SPDX-License-Identifier: BSD-3-Clause
"""Compares the losses, drops and counters that --impair must cause with those that were counted."""

from typing import NamedTuple

from rich.console import Console

from vcmts.console import figures_table
from vcmts.jsons import Json


class Expectation(NamedTuple):
    kind: str
    name: str
    expected: int
    counted: int


# Drops of management messages: the traffic program does not know vcmtsd's port for them.
MESSAGES = ("no_control_port", "control_full")


def configuration_changed(summary: Json) -> bool:
    """Whether the configuration changed during the run: many checks are skipped then."""
    return int(summary.get("follow", {}).get("changes", 0)) > 0


def impaired(summary: Json) -> bool:
    return "impairments" in summary.get("upstream", {})


def expectations(upstream: Json) -> list[Expectation]:
    """All expectations: packets, drops by reason, counters."""
    expected: Json = upstream["expected"]
    due, met = dict(expected["drops"]), dict(upstream["drops"])
    found = [
        Expectation("packets", key, expected[key], upstream[key]) for key in ("lost", "corrupted")
    ]
    found.append(Expectation("packets", "astray", 0, upstream["astray"]))
    # A shared port counts foreign frames as frames of no group.
    foreign = upstream["unexpected"]["foreign"] + upstream["unexpected"].get("no_group", 0)
    found.append(Expectation("frames", "foreign", expected["foreign"], foreign))
    counters = dict(upstream["counters"])
    foretold = dict(expected["counters"])
    foretold["management"] += sum(due.pop(name, 0) for name in MESSAGES)
    counters["management"] += sum(met.pop(name, 0) for name in MESSAGES)
    found += [
        Expectation("drop", n, due.get(n, 0), met.get(n, 0)) for n in dict.fromkeys([*met, *due])
    ]
    found += [Expectation("counter", n, value, counters[n]) for n, value in foretold.items()]
    return found


def as_expected(summary: Json) -> bool:
    """Whether everything is as expected. False if the expectation is unknown for lack of memory."""
    upstream: Json = summary["upstream"]
    if "expected" not in upstream:
        return False
    return all(cell.expected == cell.counted for cell in expectations(upstream))


def show(summary: Json, console: Console) -> None:
    upstream: Json = summary["upstream"]
    done = ", ".join(f"{count:,} {kind}" for kind, count in upstream["impairments"].items())
    print(f"impaired: {done or 'nothing'}")
    if "expected" not in upstream:
        print("the expected counts are unknown: the traffic program ran out of memory for them")
        return
    heads = ("", "", "expected", "counted", "equal")
    table = figures_table(heads, title="upstream, expected and counted", texts=("", "equal"))
    for cell in expectations(upstream):
        if cell.expected or cell.counted:
            equal = "yes" if cell.expected == cell.counted else "no"
            numbers = (f"{cell.expected:,}", f"{cell.counted:,}")
            table.add_row(cell.kind, cell.name, *numbers, equal)
    console.print(table)
