# SPDX-License-Identifier: BSD-3-Clause
"""Measures watts of the processors with their RAPL energy counters, which Linux has in powercap.

Processors of Intel and AMD have the same folders, one per package. The counters count microjoules
and wrap at max_energy_range_uj.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
PACKAGES = re.compile(r"intel-rapl:\d{1,4}", re.ASCII)
PACKAGE = re.compile(r"package-\d{1,4}(-die-\d{1,4})?", re.ASCII)
MOST_TEXT = 64  # bytes of a file
MOST_WATTS = 2000.0  # of a package: higher values are invalid
SHORTEST = 0.01  # s between two readings
FIRST_READING = "no reading before the first one"


@dataclass(frozen=True)
class Reading:
    """Watts; None with the reason."""

    watts: float | None
    reason: str = ""


@dataclass(frozen=True)
class Counter:
    """A package's energy in microjoules, and the value at which it wraps."""

    energy: int
    range: int


class CounterError(Exception):
    """Why a counter cannot be read: one line."""


def read_text(path: Path) -> str:
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


def read_number(path: Path) -> int:
    text = read_text(path)
    if not re.fullmatch(r"\d{1,20}", text, re.ASCII):
        raise CounterError(f"{path}: found {text[:20]!r}, not a number")
    return int(text)


def packages(root: Path) -> list[Path]:
    """The folders of whole packages. Others are parts of a package (cores) or separate (memory)."""
    try:
        names = sorted(name for name in os.listdir(root) if PACKAGES.fullmatch(name))
    except FileNotFoundError as error:
        raise CounterError(f"{root}: missing: this machine has no energy counters") from error
    except OSError as error:
        raise CounterError(f"{root}: {error.strerror or error}") from error
    found = [root / name for name in names if PACKAGE.fullmatch(read_text(root / name / "name"))]
    if not found:
        raise CounterError(f"{root}: found no energy counter of a package")
    return found


def counters(root: Path) -> dict[Path, Counter]:
    found = {}
    for folder in packages(root):
        counter = Counter(
            read_number(folder / "energy_uj"), read_number(folder / "max_energy_range_uj")
        )
        if counter.range == 0 or counter.energy > counter.range:
            raise CounterError(
                f"{folder}: found {counter.energy} uJ, allowed: 0 to {counter.range}"
            )
        found[folder] = counter
    return found


def joules(before: Counter, after: Counter) -> float:
    """The energy between two readings; the counter may have wrapped once."""
    passed = after.energy - before.energy
    return (passed if passed >= 0 else passed + before.range) / 1e6


def watts_between(
    before: dict[Path, Counter], after: dict[Path, Counter], seconds: float
) -> Reading:
    if before.keys() != after.keys():
        return Reading(None, "packages were added or removed")
    if any(old.range != after[package].range for package, old in before.items()):
        return Reading(None, "the range of a counter changed")
    longest = min(counter.range for counter in after.values()) / 1e6 / MOST_WATTS
    if seconds > longest:
        return Reading(None, f"{seconds:.0f} s between readings: a counter may have wrapped twice")
    watts = [joules(old, after[package]) / seconds for package, old in before.items()]
    if max(watts) > MOST_WATTS:
        return Reading(None, f"found {max(watts):.0f} W of a package, allowed: {MOST_WATTS:.0f}")
    return Reading(sum(watts))


class Rapl:
    """Samples the watts of all packages together, as the mean since the last sample."""

    def __init__(self, root: Path = POWERCAP) -> None:
        self.root = root
        self.last: tuple[float, dict[Path, Counter]] | None = None

    def sample(self, now: float) -> Reading:
        """`now`: seconds of a monotonic clock.

        If the counters cannot be read, the next sample gives the mean since the last good one. If
        two readings cannot be compared, sampling restarts.
        """
        try:
            found = counters(self.root)
        except CounterError as error:
            return Reading(None, str(error))
        if self.last is None:
            self.last = (now, found)
            return Reading(None, FIRST_READING)
        seconds = now - self.last[0]
        if seconds < SHORTEST:
            return Reading(None, "too soon after the last reading")
        reading = watts_between(self.last[1], found, seconds)
        self.last = (now, found) if reading.watts is not None else None
        return reading
