# SPDX-License-Identifier: BSD-3-Clause
"""Reads the load of a day from a file, and writes it for vcmts-traffic.

Each line has an hour (18:30 or 18.5h) and a load: a share of the peak (45%) or a rate (116Gbps). A
third column is the upstream's load if it differs. `#` begins a comment. The load is linear between
lines; after the last one it returns to the first by midnight.
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
MAX_BYTES = 1 << 20
MAX_POINTS = 2000  # vcmts-traffic accepts 2,048
SHOWN = 40  # characters of a wrong line
CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)
DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,6})?)h", re.ASCII)
SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
LINE_FORMAT = "an hour and a load such as 18:30 85%, and a load of the upstream if it differs"
HOUR_FORMAT = "an hour such as 18:30 or 18.5h, up to 24:00"
LOAD_FORMAT = "shares of the peak up to 100% in all lines, or rates such as 116Gbps in all"
ORDER_RULE = "hours in ascending order from 0:00, at most two lines per hour"


@dataclass(frozen=True)
class Point:
    hour: float  # 0 to 24
    share: float  # of the peak, 0 to 1


Points = tuple[Point, ...]


@dataclass(frozen=True)
class Day:
    """The load of both directions, each from hour 0 to hour 24."""

    name: str  # of the file
    downstream: Points
    upstream: Points

    def of(self, direction: str) -> Points:
        return self.upstream if direction == "upstream" else self.downstream

    def silent_hours(self) -> float:
        """The hours before the first packet: a share of 0 sends none."""
        return min(first_load_hour(points) for points in (self.downstream, self.upstream))


def first_load_hour(points: Points) -> float:
    """The hour after which the share is above 0."""
    return next(before.hour for before, after in pairwise(points) if before.share or after.share)


def share(points: Points, hour: float) -> float:
    """The share at an hour, interpolated. Of two points of one hour the second counts."""
    for after, before in pairwise(reversed(points)):
        if before.hour <= hour:
            wide = after.hour - before.hour
            part = min(1.0, (hour - before.hour) / wide) if wide > 0 else 1.0
            return before.share + (after.share - before.share) * part
    return points[0].share


def mean(points: Points) -> float:
    """The mean share over the day."""
    areas = (((a.share + b.share) / 2) * (b.hour - a.hour) for a, b in pairwise(points))
    return sum(areas) / HOURS


def parse_hour(text: str) -> float | None:
    clock, decimal = CLOCK.fullmatch(text), DECIMAL.fullmatch(text)
    if clock and int(clock[2]) < 60:
        hour = int(clock[1]) + int(clock[2]) / 60
    elif decimal:
        hour = float(decimal[1])
    else:
        return None
    return hour if hour <= HOURS else None


def parse_load(text: str) -> tuple[float, bool] | None:
    """Returns a share (0 to 1) and True, or bits per second and False; None if invalid."""
    found = SHARE.fullmatch(text)
    if found:
        return (float(found[1]) / 100, True) if float(found[1]) <= 100 else None
    bits = bits_per_second(text) if text.isascii() else None
    if bits is None:
        return (0.0, False) if text == "0" else None
    return (bits, False) if math.isfinite(bits) else None


@dataclass(frozen=True)
class Line:
    """A parsed line of the file."""

    where: str  # file and line number
    text: str
    hour: float
    loads: tuple[float, ...]
    shares: bool  # loads are shares, not bits per second

    def mistake(self, allowed: str) -> MistakeError:
        return wrong(self.where, self.text, allowed)


def wrong(where: str, text: str, allowed: str) -> MistakeError:
    """An error that quotes the line, shortened and without control characters."""
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:SHOWN])
    shown += "..." if len(text) > SHOWN else ""
    return MistakeError(f'{where}: found "{shown}", allowed: {allowed}')


def read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise MistakeError(f"--day {path}: {error.strerror}") from error
    if len(found) > MAX_BYTES:
        raise MistakeError(f"--day {path}: larger than {MAX_BYTES:,} bytes")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MistakeError(f"--day {path}: not text; needed: lines such as 18:30 85%") from error


def parse_line(where: str, text: str) -> Line:
    words = re.split(r"[ \t]*,[ \t]*|[ \t]+", text)
    if len(words) not in (2, 3):
        raise wrong(where, text, LINE_FORMAT)
    hour = parse_hour(words[0])
    if hour is None:
        raise wrong(where, text, HOUR_FORMAT)
    values = [value for word in words[1:] if (value := parse_load(word)) is not None]
    kinds = {of_share for load, of_share in values if load > 0}  # 0 is 0 in any unit
    if len(values) < len(words) - 1 or len(kinds) > 1:
        raise wrong(where, text, LOAD_FORMAT)
    return Line(where, text, hour, tuple(load for load, _ in values), kinds == {True})


def parse_lines(path: Path) -> Iterator[Line]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        text = line.partition("#")[0].strip(" \t\r")
        if text:
            yield parse_line(f"{path}:{number}", text)


def check_lines(path: Path, rows: Sequence[Line]) -> None:
    """Raises MistakeError if the lines are inconsistent: their number, order, columns or units."""
    if not 2 <= len(rows) <= MAX_POINTS:
        raise MistakeError(f"--day {path}: found {len(rows)} lines, allowed: 2 to {MAX_POINTS}")
    if rows[0].hour != 0:
        raise rows[0].mistake(ORDER_RULE)
    kind = next((row.shares for row in rows if any(row.loads)), True)
    for number, row in enumerate(rows):
        if len(row.loads) != len(rows[0].loads):
            raise row.mistake(f"{len(rows[0].loads)} loads, as in the first line")
        if any(row.loads) and row.shares != kind:
            raise row.mistake(LOAD_FORMAT)
        before = rows[max(0, number - 2) : number]
        if before and row.hour < before[-1].hour:
            raise row.mistake(ORDER_RULE)
        if len(before) == 2 and row.hour == before[0].hour:
            raise row.mistake(ORDER_RULE)


def points_from(path: Path, rows: Sequence[Line], column: int) -> Points:
    loads = [row.loads[column] for row in rows]
    peak = 1.0 if any(row.shares for row in rows) else max(loads)
    if not max(loads) > 0:
        raise MistakeError(f"--day {path}: a direction has no load; give some in each")
    points = [Point(row.hour, load / peak) for row, load in zip(rows, loads, strict=True)]
    if points[-1].hour < HOURS:
        points.append(Point(HOURS, points[0].share))
    return tuple(points)


def read(path: Path) -> Day:
    """Reads a day. Raises MistakeError for an invalid file."""
    rows = list(parse_lines(path))
    check_lines(path, rows)
    columns = [points_from(path, rows, column) for column in range(len(rows[0].loads))]
    return Day(path.name, columns[0], columns[-1])


def write(points: Points, path: Path) -> None:
    """Writes the file of vcmts-traffic's `--shape day:@FILE`."""
    lines = (f"{round(point.hour * 3_600_000)}ms {100 * point.share:.6f}%" for point in points)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
