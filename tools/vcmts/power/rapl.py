# SPDX-License-Identifier: BSD-3-Clause
"""Measured watts of the processors: their energy counters (RAPL), which Linux has as powercap.

Intel's and AMD's processors stand at the same place, a folder a package. The counters count
microjoules and begin anew at an end that they tell.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
PACKAGES = re.compile(r"intel-rapl:\d{1,4}", re.ASCII)
PACKAGE = re.compile(r"package-\d{1,4}(-die-\d{1,4})?", re.ASCII)
MOST_TEXT = 64  # bytes of such a file
MOST_WATTS = 2000.0  # of a package: what is above is no measurement
SHORTEST = 0.01  # s between two readings
FIRST = "the first reading has none to be compared with"


@dataclass(frozen=True)
class Reading:
    """Watts, or why there are none."""

    watts: float | None
    reason: str = ""


@dataclass(frozen=True)
class Counter:
    """A package's energy in microjoules, and where it begins anew."""

    energy: int
    range: int


class CounterError(Exception):
    """Why a counter is not there: a line."""


def text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_TEXT)
    except PermissionError as error:
        raise CounterError(
            f"{path}: no permission (root alone may read it, unless a udev rule says otherwise)"
        ) from error
    except OSError as error:
        raise CounterError(f"{path}: {error.strerror or error}") from error
    return content.decode("ascii", "replace").strip()


def number_of(path: Path) -> int:
    text = text_of(path)
    if not re.fullmatch(r"\d{1,20}", text, re.ASCII):
        raise CounterError(f"{path}: found {text[:20]!r}, not a number")
    return int(text)


def packages(root: Path) -> list[Path]:
    """The folders of whole packages; parts of them (cores, memory) are counted in or beside."""
    try:
        names = sorted(name for name in os.listdir(root) if PACKAGES.fullmatch(name))
    except FileNotFoundError as error:
        raise CounterError(f"{root}: not there, so this machine tells no energy") from error
    except OSError as error:
        raise CounterError(f"{root}: {error.strerror or error}") from error
    found = [root / name for name in names if PACKAGE.fullmatch(text_of(root / name / "name"))]
    if not found:
        raise CounterError(f"{root}: no package that tells its energy")
    return found


def counters(root: Path) -> dict[Path, Counter]:
    found = {}
    for folder in packages(root):
        counter = Counter(
            number_of(folder / "energy_uj"), number_of(folder / "max_energy_range_uj")
        )
        if counter.range == 0 or counter.energy > counter.range:
            raise CounterError(
                f"{folder}: found {counter.energy} uJ of {counter.range}, which cannot be"
            )
        found[folder] = counter
    return found


def joules(before: Counter, after: Counter) -> float:
    """Between two readings that are so near that the counter began anew once at most."""
    passed = after.energy - before.energy
    return (passed if passed >= 0 else passed + before.range) / 1e6


def between(before: dict[Path, Counter], after: dict[Path, Counter], seconds: float) -> Reading:
    if before.keys() != after.keys():
        return Reading(None, "packages came or went")
    if any(old.range != after[place].range for place, old in before.items()):
        return Reading(None, "the range of a counter changed")
    longest = min(counter.range for counter in after.values()) / 1e6 / MOST_WATTS
    if seconds > longest:
        return Reading(
            None, f"{seconds:.0f} s between readings: a counter may have begun anew twice"
        )
    watts = [joules(old, after[place]) / seconds for place, old in before.items()]
    if max(watts) > MOST_WATTS:
        return Reading(None, f"{max(watts):.0f} W of a package cannot be")
    return Reading(sum(watts))


class Rapl:
    """Watts of all packages together, each time since the last reading."""

    def __init__(self, root: Path = POWERCAP) -> None:
        self.root = root
        self.last: tuple[float, dict[Path, Counter]] | None = None

    def sample(self, now: float) -> Reading:
        """`now` in seconds of a clock that only goes forward.

        What cannot be read is passed over: the next reading tells the mean since the last one.
        What cannot be compared begins again.
        """
        try:
            found = counters(self.root)
        except CounterError as error:
            return Reading(None, str(error))
        if self.last is None:
            self.last = (now, found)
            return Reading(None, FIRST)
        seconds = now - self.last[0]
        if seconds < SHORTEST:
            return Reading(None, "too soon after the last reading")
        reading = between(self.last[1], found, seconds)
        self.last = (now, found) if reading.watts is not None else None
        return reading
