# SPDX-License-Identifier: BSD-3-Clause
"""Model: reorder queue for PSP packets and for segments (docs/upstream.md, "Packets", 3)."""

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from witness.accounting import Accounting

T = TypeVar("T")

HISTORY = 64  # numbers before the first missing one of which delivery is recorded
RESYNC_COUNT = 64  # after as many late or duplicate items in a row, the next one resynchronizes
RESYNC_NS = 10**9  # after this time without items, a late or duplicate item resynchronizes


class Gap:
    """Marks missing items in the output."""


GAP = Gap()


@dataclass(frozen=True)
class Names:
    """Names of counters and drop reasons."""

    gaps: str
    missing: str
    reordered: str
    resyncs: str
    duplicate: str
    late: str


PSP_NAMES = Names(
    "psp_gaps", "psp_missing", "psp_reordered", "psp_resyncs", "psp_duplicate", "psp_late"
)
SEGMENT_NAMES = Names(
    "segment_gaps",
    "segments_missing",
    "segments_reordered",
    "segment_resyncs",
    "segment_duplicate",
    "segment_late",
)


@dataclass
class Order(Generic[T]):
    """A reorder queue. It returns items in order, with GAP where items are missing.

    `modulus`: of the sequence numbers; `window`: how far an item may be ahead of the first missing
    one. `timeout` and times are nanoseconds.
    """

    accounting: Accounting
    names: Names
    modulus: int
    window: int
    timeout: int
    first_missing: int | None = None
    pending: dict[int, T] = field(default_factory=dict)
    history: deque[tuple[int, bool]] = field(default_factory=lambda: deque(maxlen=HISTORY))
    repeated: int = 0
    last: int = 0  # time of the last item
    gap_since: int = 0  # time since which first_missing delays other items

    @property
    def deadline(self) -> int | None:
        """When the reorder timer of the first gap expires; None without a gap."""
        return self.gap_since + self.timeout if self.pending else None

    def _ahead(self, number: int) -> int:
        assert self.first_missing is not None
        return (number - self.first_missing) % self.modulus

    def _advance(self, delivered: bool) -> None:
        assert self.first_missing is not None
        self.history.append((self.first_missing, delivered))
        self.first_missing = (self.first_missing + 1) % self.modulus

    def _deliver(self) -> list[T | Gap]:
        """Returns the pending items that are now in order."""
        out: list[T | Gap] = []
        while self.first_missing in self.pending:
            out.append(self.pending.pop(self.first_missing))
            self._advance(delivered=True)
        return out

    def _skip_gap(self, now: int) -> list[T | Gap]:
        """Skips the first run of missing numbers."""
        self.accounting.count(self.names.gaps)
        while self.first_missing not in self.pending:
            self.accounting.count(self.names.missing)
            self._advance(delivered=False)
        self.gap_since = now
        return [GAP, *self._deliver()]

    def _old_number(self, number: int, item: T, now: int) -> list[T | Gap]:
        if self.repeated == RESYNC_COUNT:
            out: list[T | Gap] = []
            while self.pending:
                out += self._skip_gap(now)
            self.accounting.count(self.names.resyncs)
            self.first_missing, self.repeated = number, 0
            self.history.clear()
            return [*out, GAP, *self.push(number, item, now)]
        self.repeated += 1
        known = number in self.pending or (number, True) in self.history
        self.accounting.drop(self.names.duplicate if known else self.names.late)
        return []

    def push(self, number: int, item: T, now: int) -> list[T | Gap]:
        """Adds the item with this sequence number. Returns the items that are now in order."""
        if self.first_missing is None:
            self.first_missing = number
        if now - self.last >= RESYNC_NS:
            self.repeated = RESYNC_COUNT
        self.last = now
        if number in self.pending or self._ahead(number) >= self.modulus // 2:
            return self._old_number(number, item, now)
        self.repeated = 0
        if any(self._ahead(other) > self._ahead(number) for other in self.pending):
            self.accounting.count(self.names.reordered)
        if not self.pending or number == self.first_missing:
            self.gap_since = now
        self.pending[number] = item
        out = self._deliver()
        while number in self.pending and self._ahead(number) > self.window:
            out += self._skip_gap(now)
        return out

    def expire(self, now: int) -> list[T | Gap]:
        """Skips the first gap if its timer has expired."""
        return self._skip_gap(now) if self.deadline is not None and now >= self.deadline else []
