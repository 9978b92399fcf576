# SPDX-License-Identifier: BSD-3-Clause
"""Puts things with sequence numbers in order (docs/upstream.md, "Packets", 3).

The same rules for PSP packets and for segments, with another window and other names.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from witness.books import Books

T = TypeVar("T")

HISTORY = 64  # numbers before the first missing one whose fate is remembered
PATIENCE = 64  # late or duplicate ones in a row; the next of them starts anew
SILENCE = 10**9  # ns without any; then the first one that is late or duplicate does


class Gap:
    """Stands between items that do not follow each other."""


GAP = Gap()


@dataclass(frozen=True)
class Names:
    """Of counters and drop reasons."""

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
    """One number space. What is pushed comes back in order, with a GAP where something is missing.

    `timeout` and the times are nanoseconds.
    """

    books: Books
    names: Names
    modulus: int
    window: int
    timeout: int
    first_missing: int | None = None
    waiting: dict[int, T] = field(default_factory=dict)
    fate: deque[tuple[int, bool]] = field(default_factory=lambda: deque(maxlen=HISTORY))
    repeated: int = 0
    last: int = 0  # when a number came
    waiting_since: int = 0  # when the first missing number became the first that is missed

    @property
    def deadline(self) -> int | None:
        """When the first gap is to be given up."""
        return self.waiting_since + self.timeout if self.waiting else None

    def _ahead(self, number: int) -> int:
        assert self.first_missing is not None
        return (number - self.first_missing) % self.modulus

    def _pass(self, delivered: bool) -> None:
        assert self.first_missing is not None
        self.fate.append((self.first_missing, delivered))
        self.first_missing = (self.first_missing + 1) % self.modulus

    def _deliver(self) -> list[T | Gap]:
        """Everything from the first missing number on that is there."""
        out: list[T | Gap] = []
        while self.first_missing in self.waiting:
            out.append(self.waiting.pop(self.first_missing))
            self._pass(delivered=True)
        return out

    def _give_up(self, now: int) -> list[T | Gap]:
        """Passes over the first run of missing numbers."""
        self.books.count(self.names.gaps)
        while self.first_missing not in self.waiting:
            self.books.count(self.names.missing)
            self._pass(delivered=False)
        self.waiting_since = now
        return [GAP, *self._deliver()]

    def _repeat(self, number: int, item: T, now: int) -> list[T | Gap]:
        if self.repeated == PATIENCE:
            out: list[T | Gap] = []
            while self.waiting:
                out += self._give_up(now)
            self.books.count(self.names.resyncs)
            self.first_missing, self.repeated = number, 0
            self.fate.clear()
            return [*out, GAP, *self.push(number, item, now)]
        self.repeated += 1
        known = number in self.waiting or (number, True) in self.fate
        self.books.drop(self.names.duplicate if known else self.names.late)
        return []

    def push(self, number: int, item: T, now: int) -> list[T | Gap]:
        if self.first_missing is None:
            self.first_missing = number
        if now - self.last >= SILENCE:
            self.repeated = PATIENCE
        self.last = now
        if number in self.waiting or self._ahead(number) >= self.modulus // 2:
            return self._repeat(number, item, now)
        self.repeated = 0
        if any(self._ahead(other) > self._ahead(number) for other in self.waiting):
            self.books.count(self.names.reordered)
        if not self.waiting or number == self.first_missing:
            self.waiting_since = now
        self.waiting[number] = item
        out = self._deliver()
        while number in self.waiting and self._ahead(number) > self.window:
            out += self._give_up(now)
        return out

    def expire(self, now: int) -> list[T | Gap]:
        """Gives up the first gap if its time has come."""
        return self._give_up(now) if self.deadline is not None and now >= self.deadline else []
