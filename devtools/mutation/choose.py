# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the mutants to try, and reads why some may survive.

An area is a folder of src with its subfolders. AREA.toml beside this file lists mutants that are
always tried, and reasons for survivors. It finds code by text, so that code may move within the
area:

    [chosen."the rule that breaks"]  # a mutant; `text` must occur once in the area
    text = "if (a < b)"
    becomes = "if (a <= b)"

    [[reason.round_robin_enter]]           # a survivor in this function, as it is printed
    line = "x += 1;"
    becomes = ";"                    # optional: without it, any change of the line
    why = "..."                      # why no test can detect it
"""

import hashlib
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mutation.operators import Mutant, code_lines, function_at, make_mutant, mutants_of, one_line

AREAS = (
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
# Folders of areas below src, if not the folder of that name.
PATHS = {
    "log": "platform/log",
    "metrics": "telemetry/metrics",
    "capture": "capture/live",
    "systemd": "commands/systemd",
    "methods": "control/methods",
}
LISTS = Path(__file__).parent
LINES_PER_MUTANT = 14  # of code


class MistakeError(Exception):
    """An error in AREA.toml, in the arguments or in the checkout. Ends the program."""


def pattern_of(text: str) -> re.Pattern[str]:
    """Matches the text with any white space between its words."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


@dataclass
class Reason:
    """Why no test can detect a mutant; without `becomes`, any mutant of the line."""

    function: str
    line: str
    why: str
    becomes: str | None = None

    def matches(self, mutant: Mutant) -> bool:
        return (
            self.function == mutant.function
            and self.line == mutant.line
            and self.becomes in (None, mutant.becomes)
        )


@dataclass(frozen=True)
class Chosen:
    """A mutant of AREA.toml: the rule that it breaks, and the change."""

    rule: str
    text: str
    becomes: str


@dataclass
class Area:
    """The files of an area and its AREA.toml."""

    name: str
    texts: dict[str, bytes]  # contents by path in the checkout
    chosen_list: list[Chosen]
    reasons: list[Reason]

    def reason_for(self, mutant: Mutant) -> Reason | None:
        return next((reason for reason in self.reasons if reason.matches(mutant)), None)

    def stale(self) -> list[str]:
        """Messages about entries of AREA.toml that do not match the code any more."""
        messages = []
        possible = self.all()
        for chosen in self.chosen_list:
            found = self.find(chosen)
            possible += found
            if len(found) != 1:
                locations = ", ".join(f"{m.file}:{m.number}" for m in found) or "nowhere"
                messages.append(f"chosen text occurs {locations}, not once: {chosen.text!r}")
        for reason in self.reasons:
            if not any(reason.matches(mutant) for mutant in possible):
                messages.append(
                    f"reason for code that does not exist: {reason.function}() {reason.line!r}"
                )
        return [f"{self.name}.toml: {text}" for text in messages]

    def all(self) -> list[Mutant]:
        return [m for file, text in self.texts.items() for m in mutants_of(file, text)]

    def find(self, chosen: Chosen) -> list[Mutant]:
        pattern = pattern_of(chosen.text)
        found = []
        for file, text in self.texts.items():
            decoded = text.decode("latin-1")  # one character per byte: offsets are bytes
            for match in pattern.finditer(decoded):
                edit = (match.start(), match.end(), chosen.becomes, "chosen")
                function = function_at(text, match.start())
                found.append(make_mutant(file, text, function, edit, chosen.rule))
        return found

    def chosen(self) -> list[Mutant]:
        """The chosen mutants whose text occurs once; stale() reports the others."""
        found = [self.find(chosen) for chosen in self.chosen_list]
        return [mutants[0] for mutants in found if len(mutants) == 1]


def read_lists(path: Path) -> tuple[list[Chosen], list[Reason]]:
    """The contents of AREA.toml; both lists are empty if there is none."""
    if not path.exists():
        return [], []
    try:
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        chosen = [Chosen(rule, **entry) for rule, entry in lists.get("chosen", {}).items()]
        reasons = [
            Reason(function, **entry)
            for function, entries in lists.get("reason", {}).items()
            for entry in entries
        ]
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path.name}: {error}") from error
    for reason in reasons:
        if not reason.why.strip():
            raise MistakeError(f"{path.name}: reason for {reason.line!r}: `why` is empty")
        reason.line = one_line(reason.line)
        reason.becomes = None if reason.becomes is None else one_line(reason.becomes)
    return chosen, reasons


def read_area(name: str, tree: Path, lists: Path = LISTS) -> Area:
    folder = tree / "src" / PATHS.get(name, name)
    others = [tree / "src" / other for area, other in PATHS.items() if area != name]
    files = [
        path
        for path in sorted(folder.rglob("*.[ch]"))
        if not any(path.is_relative_to(other) for other in others)
    ]
    if not files:
        raise MistakeError(f"area {name}: {folder.relative_to(tree)} has no C files")
    texts = {str(path.relative_to(tree)): path.read_bytes() for path in files}
    return Area(name, texts, *read_lists(lists / f"{name}.toml"))


def sample_key(seed: int, mutant: Mutant) -> str:
    """A pseudo-random sort key. It does not depend on file and line, so that code may move."""
    key = (str(seed), mutant.operator, mutant.function, mutant.line, mutant.becomes)
    return hashlib.sha256("\0".join(key).encode()).hexdigest()


def sample(candidates: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` mutants of a file at most: one per line, spread over functions and operators."""
    ordered = sorted(candidates, key=lambda mutant: sample_key(seed, mutant))
    lines: set[int] = set()
    operators: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    sampled: list[Mutant] = []
    while len(sampled) < count:
        free = [mutant for mutant in ordered if mutant.number not in lines]
        if not free:
            break
        best = min(free, key=lambda m: (functions[m.function] // 2, operators[m.operator]))
        sampled.append(best)
        lines.add(best.number)
        operators[best.operator] += 1
        functions[best.function] += 1
    return sorted(sampled, key=lambda mutant: mutant.start)


def choose(
    area: Area, seed: int = 1, lines_per_mutant: int = LINES_PER_MUTANT, files: str = ""
) -> list[Mutant]:
    """The mutants to try, in files whose path contains `files`; `lines_per_mutant` 0: all."""
    chosen = area.chosen()
    same = {m.text for m in chosen}
    for file, text in area.texts.items():
        candidates = [m for m in mutants_of(file, text) if m.text not in same]
        count = -(-code_lines(text) // lines_per_mutant) if lines_per_mutant else len(candidates)
        chosen += sample(candidates, count, seed) if lines_per_mutant else candidates
    return sorted((m for m in chosen if files in m.file), key=lambda m: (m.file, m.start))
