# SPDX-License-Identifier: BSD-3-Clause
"""Which of all mutants are tried, and what is said of those that survive.

A room has a file ROOM.toml beside this one. What it names is found by text, so that it holds
when lines move, within a file or to another one of the room:

    [chosen."which rule breaks"]     # tried always: text that stands once, and its change
    text = "if (a < b)"
    becomes = "if (a <= b)"

    [[reason.turns_enter]]           # a survivor, as it is printed, and why no test can see it
    line = "x += 1;"
    becomes = ";"                    # without it: whatever is changed in the line
    why = "..."
"""

import hashlib
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mutation.operators import Mutant, code_lines, function_at, make, mutants_of, one_line

ROOMS = (
    "log",
    "wire",
    "scheduler",
    "downstream",
    "upstream",
    "sharing",
    "server",
    "metrics",
    "capture",
    "systemd",
    "control",
    "methods",
)
# Where a room is, if not in the folder of its name.
PLACES = {
    "log": "platform/log",
    "metrics": "telemetry/metrics",
    "capture": "capture/live",
    "systemd": "commands/systemd",
    "methods": "control/methods",
}
LISTS = Path(__file__).parent
LINES_A_MUTANT = 14  # of code


class MistakeError(Exception):
    """Something in a room's list, or in the arguments, that is not right."""


def pattern_of(text: str) -> re.Pattern[str]:
    """Finds the text however its words are spaced."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


@dataclass
class Reason:
    function: str
    line: str
    why: str
    becomes: str | None = None

    def fits(self, mutant: Mutant) -> bool:
        return (
            self.function == mutant.function
            and self.line == mutant.line
            and self.becomes in (None, mutant.becomes)
        )


@dataclass(frozen=True)
class Wish:
    """A mutant that was chosen by hand."""

    rule: str
    text: str
    becomes: str


@dataclass
class Room:
    name: str
    texts: dict[str, bytes]  # by file, below the checkout
    wishes: list[Wish]
    reasons: list[Reason]

    def reason_for(self, mutant: Mutant) -> Reason | None:
        return next((reason for reason in self.reasons if reason.fits(mutant)), None)

    def stale(self) -> list[str]:
        """What is said of reasons, and of chosen ones, that do not stand in the room any more."""
        said = []
        possible = self.all()
        for wish in self.wishes:
            found = self.found(wish)
            possible += found
            if len(found) != 1:
                places = ", ".join(f"{m.file}:{m.number}" for m in found) or "nowhere"
                said.append(f"chosen text stands {places}, not once: {wish.text!r}")
        for reason in self.reasons:
            if not any(reason.fits(mutant) for mutant in possible):
                said.append(f"reason for what is not there: {reason.function}() {reason.line!r}")
        return [f"{self.name}.toml: {text}" for text in said]

    def all(self) -> list[Mutant]:
        return [m for file, text in self.texts.items() for m in mutants_of(file, text)]

    def found(self, wish: Wish) -> list[Mutant]:
        pattern = pattern_of(wish.text)
        found = []
        for file, text in self.texts.items():
            decoded = text.decode("latin-1")  # a byte a character: places are bytes
            for match in pattern.finditer(decoded):
                edit = (match.start(), match.end(), wish.becomes, "chosen")
                function = function_at(text, match.start())
                found.append(make(file, text, function, edit, wish.rule))
        return found

    def chosen(self) -> list[Mutant]:
        """The wishes that name one thing; stale() tells of the others."""
        found = [self.found(wish) for wish in self.wishes]
        return [mutants[0] for mutants in found if len(mutants) == 1]


def read_lists(path: Path) -> tuple[list[Wish], list[Reason]]:
    if not path.exists():
        return [], []
    try:
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        wishes = [Wish(rule, **entry) for rule, entry in lists.get("chosen", {}).items()]
        reasons = [
            Reason(function, **entry)
            for function, entries in lists.get("reason", {}).items()
            for entry in entries
        ]
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path.name}: {error}") from error
    for reason in reasons:
        if not reason.why.strip():
            raise MistakeError(f"{path.name}: no reason beside {reason.line!r}")
        reason.line = one_line(reason.line)
        reason.becomes = None if reason.becomes is None else one_line(reason.becomes)
    return wishes, reasons


def read_room(name: str, tree: Path, lists: Path = LISTS) -> Room:
    place = tree / "src" / PLACES.get(name, name)
    others = [tree / "src" / other for room, other in PLACES.items() if room != name]
    files = [
        path
        for path in sorted(place.rglob("*.[ch]"))
        if not any(path.is_relative_to(other) for other in others)
    ]
    if not files:
        raise MistakeError(f"no room {name}: {place.relative_to(tree)} has no C files")
    texts = {str(path.relative_to(tree)): path.read_bytes() for path in files}
    return Room(name, texts, *read_lists(lists / f"{name}.toml"))


def rank(seed: int, mutant: Mutant) -> str:
    """Without file and line number: what moves keeps its place among the others."""
    what = (str(seed), mutant.operator, mutant.function, mutant.line, mutant.becomes)
    return hashlib.sha256("\0".join(what).encode()).hexdigest()


def spread(candidates: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of a file: of all operators, at most one a line and, at first, two a function."""
    left = sorted(candidates, key=lambda mutant: rank(seed, mutant))
    lines: set[int] = set()
    operators: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    taken: list[Mutant] = []
    while len(taken) < count:
        free = [mutant for mutant in left if mutant.number not in lines]
        if not free:
            break
        best = min(free, key=lambda m: (functions[m.function] // 2, operators[m.operator]))
        taken.append(best)
        lines.add(best.number)
        operators[best.operator] += 1
        functions[best.function] += 1
    return sorted(taken, key=lambda mutant: mutant.start)


def choose(
    room: Room, seed: int = 1, lines_a_mutant: int = LINES_A_MUTANT, files: str = ""
) -> list[Mutant]:
    """The mutants of a room that are tried, in files whose path holds `files`."""
    chosen = room.chosen()
    same = {m.text for m in chosen}
    for file, text in room.texts.items():
        candidates = [m for m in mutants_of(file, text) if m.text not in same]
        count = -(-code_lines(text) // lines_a_mutant) if lines_a_mutant else len(candidates)
        chosen += spread(candidates, count, seed) if lines_a_mutant else candidates
    return sorted((m for m in chosen if files in m.file), key=lambda m: (m.file, m.start))
