# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the delay in the downstream scheduler's queues."""

from rich.table import Table

from vcmts.console import figures_table
from vcmts.jsons import Json

KEYS = ("mean", "p50", "p99", "p99_9")
FINEST_US = 0.256  # the unit of the scheduler's delays: a shorter one is below it, or 0


def us_text(us: float) -> str:
    """A delay in three digits."""
    if us <= FINEST_US:
        return f"<{FINEST_US:.2f}"
    if us >= 99.95:
        return f"{us:,.0f}"
    return f"{us:.1f}" if us >= 9.995 else f"{us:.2f}"


def delay_table(delays: list[Json]) -> Table:
    """Delays by priority."""
    drawn = figures_table(("priority", "packets", *KEYS), title="delay in the queues, us")
    for delay in delays:
        found = (us_text(delay[f"{key}_us"]) for key in KEYS)
        drawn.add_row(str(delay["priority"]), f"{delay['packets']:,}", *found)
    return drawn


def delay_histogram(which: str, delays: list[Json]) -> Table:
    """The histogram of one priority. `which`: its number."""
    drawn = figures_table(("from us", "packets"), title=f"delay of priority {which}")
    for us, packets in (bucket for delay in delays for bucket in delay["histogram"]):
        drawn.add_row(f"{us:,.2f}", f"{packets:,.0f}")
    return drawn
