# SPDX-License-Identifier: BSD-3-Clause
"""How long traffic was interrupted by an event. `conftest.py` prints all results at the end."""

from typing import Any

from vcmts.directions import DIRECTIONS

RESULTS: list[str] = []


def interruptions(summary: dict[str, Any]) -> list[float]:
    """Seconds without packets, downstream and upstream. The sent rates are constant."""
    counts = [summary[direction] for direction in DIRECTIONS]
    return [part["lost"] / part["sent"] * part["sent_seconds"] for part in counts]


def record(event: str, summary: dict[str, Any]) -> list[float]:
    """Adds an event to the results. No packet may be corrupted or unaccounted for."""
    for direction in DIRECTIONS:
        counts = summary[direction]
        assert counts["corrupted"] == 0, counts
        assert counts["proven"] + counts["lost"] == counts["sent"], counts
    lost = interruptions(summary)
    RESULTS.append(f"{event}: {lost[0]:.1f} s downstream, {lost[1]:.1f} s upstream")
    return lost
