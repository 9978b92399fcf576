# SPDX-License-Identifier: BSD-3-Clause
"""The figures that each run prints: rates, latency, cost and load, one line each."""

from collections.abc import Callable

from vcmts.jsons import Json
from vcmts.run import groups, summary

LABEL, COLUMN = 12, 14  # widths
MOST_CORES = 4  # with more, one line has the range of their loads


def rate_cell(part: Json) -> str:
    return groups.rate(part["gbps"])


def latency_cell(key: str) -> Callable[[Json], str]:
    def cell(part: Json) -> str:
        latency = part.get("latency_us")
        return f"{latency[key]:,.0f} us" if latency else "not known"

    return cell


def cycles_cell(part: Json) -> str:
    return f"{part.get('cycles_per_packet', {}).get('total', 0.0):,.0f}"


# Label, text of a direction's cell, and words after the cells.
ROWS: tuple[tuple[str, Callable[[Json], str], str], ...] = (
    ("requested", summary.requested_rate, ""),
    ("throughput", rate_cell, ""),
    ("latency", latency_cell("mean"), "mean"),
    ("", latency_cell("p99_9"), "99.9 % of packets at most"),
    ("cost", cycles_cell, "reference cycles per packet"),
)


def direction_lines(whole: Json) -> list[str]:
    """A heading, and a line per figure with a column per direction."""
    shown = summary.directions(whole)
    lines = [" " * LABEL + "".join(f"{way:>{COLUMN}}" for way in shown)]
    for label, cell, words in ROWS:
        cells = "".join(f"{cell(whole[way]):>{COLUMN}}" for way in shown)
        lines.append(f"{label:<{LABEL}}{cells}  {words}".rstrip())
    return lines


def share(part: float) -> str:
    return f"{100 * part:.0f} %"


def paused_text(times: Json) -> str:
    """Words for a worker's paused time; "" if it polls."""
    whole = times["busy"] + times["idle"]
    if times["kind"] == "poll" or whole <= 0:
        return ""
    return f", {share(times['paused'] / whole)} paused ({times['kind']})"


def busy_lines(whole: Json, cores: list[int]) -> list[str]:
    """A line per worker of vcmtsd with its busy share; `cores`: the workers' cores."""
    found = list(zip(cores, whole["workers"], whole["power"]["workers"], strict=True))
    shares = [worker["busy_share"] for worker in whole["workers"]]
    if len(found) > MOST_CORES:
        return [
            f"{f'{len(found)} cores':<{LABEL}}{share(min(shares))} to {share(max(shares))} busy"
        ]
    return [
        f"{f'core {core}':<{LABEL}}{share(worker['busy_share']):>{COLUMN}}  busy"
        f"{paused_text(times)}: {worker['name']}"
        for core, worker, times in found
    ]


def lines(whole: Json, cores: list[int]) -> list[str]:
    return direction_lines(whole) + busy_lines(whole, cores)
