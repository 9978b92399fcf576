# SPDX-License-Identifier: BSD-3-Clause
"""The load of a day: read from a file, and handed on to vcmts-traffic.

A line each: an hour as 18:30 or 18.5h and the load of that time, which goes in a straight line to
the next: a share of the peak (45%) or a rate (116Gbps); behind it that of the upstream, where it is
another. `#` begins a comment. What is left out before midnight leads back to the first line.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from vcmts.paths import MistakeError
from vcmts.run.rates import bits_per_second

HOURS = 24.0
MOST_BYTES = 1 << 20
MOST_POINTS = 2000  # vcmts-traffic takes 2,048
SHOWN = 40  # characters of a wrong line
CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)
DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,6})?)h", re.ASCII)
SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
ROW = "an hour and a load, as 18:30 85%; and that of the upstream, where it is another"
HOUR = "an hour as 18:30 or 18.5h, up to 24:00"
LOAD = "a share of the peak up to 100%, or a rate as 116Gbps, and all alike"
ORDER = "hours from 0:00 on in their order, and at most two lines of one hour"


@dataclass(frozen=True)
class Point:
    hour: float  # 0 to 24
    share: float  # of the peak, 0 to 1


Points = tuple[Point, ...]


@dataclass(frozen=True)
class Day:
    """Both from hour 0 to hour 24."""

    name: str  # of the file
    downstream: Points
    upstream: Points

    def of(self, direction: str) -> Points:
        return self.upstream if direction == "upstream" else self.downstream

    def silent(self) -> float:
        """The hour of the first packets: at a share of 0 none are sent."""
        return min(begins(points) for points in (self.downstream, self.upstream))


def begins(points: Points) -> float:
    """The hour behind which the share is above 0."""
    return next(before.hour for before, after in pairwise(points) if before.share or after.share)


def share(points: Points, hour: float) -> float:
    """At an hour; at a step, what is behind it."""
    for before, after in pairwise(reversed(points)):
        if after.hour <= hour:
            wide = before.hour - after.hour
            along = min(1.0, (hour - after.hour) / wide) if wide > 0 else 1.0
            return after.share + (before.share - after.share) * along
    return points[0].share


def mean(points: Points) -> float:
    """Of the whole day."""
    areas = (((a.share + b.share) / 2) * (b.hour - a.hour) for a, b in pairwise(points))
    return sum(areas) / HOURS


def hour_of(text: str) -> float | None:
    clock, decimal = CLOCK.fullmatch(text), DECIMAL.fullmatch(text)
    if clock and int(clock[2]) < 60:
        hour = int(clock[1]) + int(clock[2]) / 60
    elif decimal:
        hour = float(decimal[1])
    else:
        return None
    return hour if hour <= HOURS else None


def value_of(text: str) -> tuple[float, bool] | None:
    """A share or bits per second, and whether it is the former."""
    found = SHARE.fullmatch(text)
    if found:
        return (float(found[1]) / 100, True) if float(found[1]) <= 100 else None
    bits = bits_per_second(text) if text.isascii() else None
    if bits is None:
        return (0.0, False) if text == "0" else None
    return (bits, False) if math.isfinite(bits) else None


@dataclass(frozen=True)
class Row:
    where: str  # file and line
    text: str
    hour: float
    loads: tuple[float, ...]
    shares: bool

    def mistake(self, allowed: str) -> MistakeError:
        return wrong(self.where, self.text, allowed)


def wrong(where: str, text: str, allowed: str) -> MistakeError:
    """Whatever the text is, the line can be printed."""
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:SHOWN])
    shown += "..." if len(text) > SHOWN else ""
    return MistakeError(f'{where}: found "{shown}", allowed: {allowed}')


def content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise MistakeError(f"--day {path}: {error.strerror}") from error
    if len(found) > MOST_BYTES:
        raise MistakeError(f"--day {path}: found more than {MOST_BYTES:,} bytes, allowed: fewer")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MistakeError(f"--day {path}: found no text, allowed: lines as 18:30 85%") from error


def row_of(where: str, text: str) -> Row:
    words = re.split(r"[ \t]*,[ \t]*|[ \t]+", text)
    if len(words) not in (2, 3):
        raise wrong(where, text, ROW)
    hour = hour_of(words[0])
    if hour is None:
        raise wrong(where, text, HOUR)
    values = [value for word in words[1:] if (value := value_of(word)) is not None]
    kinds = {of_share for load, of_share in values if load > 0}  # 0 is 0 in any unit
    if len(values) < len(words) - 1 or len(kinds) > 1:
        raise wrong(where, text, LOAD)
    return Row(where, text, hour, tuple(load for load, _ in values), kinds == {True})


def rows_of(path: Path) -> Iterator[Row]:
    for number, line in enumerate(content(path).split("\n"), 1):
        text = line.partition("#")[0].strip(" \t\r")
        if text:
            yield row_of(f"{path}:{number}", text)


def check(path: Path, rows: Sequence[Row]) -> None:
    """All of them together."""
    if not 2 <= len(rows) <= MOST_POINTS:
        raise MistakeError(f"--day {path}: found {len(rows)} lines, allowed: 2 to {MOST_POINTS}")
    if rows[0].hour != 0:
        raise rows[0].mistake(ORDER)
    kind = next((row.shares for row in rows if any(row.loads)), True)
    for number, row in enumerate(rows):
        if len(row.loads) != len(rows[0].loads):
            raise row.mistake(f"{len(rows[0].loads)} loads, as in the first line")
        if any(row.loads) and row.shares != kind:
            raise row.mistake(LOAD)
        before = rows[max(0, number - 2) : number]
        if before and row.hour < before[-1].hour:
            raise row.mistake(ORDER)
        if len(before) == 2 and row.hour == before[0].hour:
            raise row.mistake(ORDER)


def points_of(path: Path, rows: Sequence[Row], column: int) -> Points:
    loads = [row.loads[column] for row in rows]
    peak = 1.0 if any(row.shares for row in rows) else max(loads)
    if not max(loads) > 0:
        raise MistakeError(f"--day {path}: found no load at all, allowed: some in each direction")
    points = [Point(row.hour, load / peak) for row, load in zip(rows, loads, strict=True)]
    if points[-1].hour < HOURS:
        points.append(Point(HOURS, points[0].share))
    return tuple(points)


def read(path: Path) -> Day:
    """Raises MistakeError with one line for what is no day."""
    rows = list(rows_of(path))
    check(path, rows)
    columns = [points_of(path, rows, column) for column in range(len(rows[0].loads))]
    return Day(path.name, columns[0], columns[-1])


def write(points: Points, path: Path) -> None:
    """As vcmts-traffic reads `--shape day:@FILE`."""
    lines = (f"{round(point.hour * 3_600_000)}ms {100 * point.share:.6f}%" for point in points)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
