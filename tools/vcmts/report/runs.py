# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a report: stored measurements with unique names; and helpers to select results."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vcmts import results
from vcmts.jsons import Json


@dataclass(frozen=True)
class Run:
    """One stored measurement. `letter` is "" if it is the only one of its kind."""

    name: str  # of the file
    letter: str
    file: Json

    @property
    def kind(self) -> str:
        return str(self.file["kind"])

    @property
    def results(self) -> list[Json]:
        return list(self.file["results"])

    @property
    def host(self) -> Json:
        return dict(self.file["host"])

    @property
    def end(self) -> str:
        """The suffix of names in a report."""
        return f"-{self.letter.lower()}" if self.letter else ""

    @property
    def of(self) -> str:
        """The suffix of titles."""
        return f", run {self.letter}" if self.letter else ""

    @property
    def title(self) -> str:
        return f"run {self.letter}, {self.name}" if self.letter else self.name


def read_runs(paths: Sequence[str]) -> list[tuple[str, Json]]:
    """Reads the measurements of files, including those in reports, with their names."""
    found: list[tuple[str, Json]] = []
    for path in paths:
        file = results.read(path)
        if file["kind"] != "report":
            found.append((Path(path).name, file))
            continue
        names = list(file.get("files", []))
        for index, run in enumerate(file["runs"]):
            own = names[index] if index < len(names) else f"{Path(path).name}, run {index + 1}"
            found.append((own, run))
    return found


def with_letters(files: Sequence[tuple[str, Json]]) -> list[Run]:
    """Assigns the letters A, B, ... to runs of a kind with several, in the given order."""
    kinds = [file["kind"] for _, file in files]
    runs, seen = [], dict.fromkeys(kinds, 0)
    for name, file in files:
        kind = file["kind"]
        several = kinds.count(kind) > 1
        letters = string.ascii_uppercase
        letter = letters[seen[kind]] if several and seen[kind] < len(letters) else ""
        if several and not letter:
            letter = str(seen[kind] + 1)
        runs.append(Run(name, letter, file))
        seen[kind] += 1
    return runs


def select_kind(runs: Sequence[Run], kind: str) -> list[Run]:
    return [run for run in runs if run.kind == kind and run.results]


def in_direction(run: Run, direction: str) -> list[Json]:
    """The results of a direction with the fewest threads: numbers of threads are not comparable."""
    found = [r for r in run.results if r["direction"] == direction]
    fewest = min((r.get("threads", 1) for r in found), default=1)
    return [r for r in found if r.get("threads", 1) == fewest]


def first_mix(results: Sequence[Json]) -> Json | None:
    """The first result of a mix, else the first of a size; None if there are none."""
    mixed = [r for r in results if not r["mix"].isdigit()]
    return next(iter(mixed or results), None)


def confirmed(result: Json) -> bool:
    """Whether trials confirmed the result of a search for the rate without loss."""
    return bool(result["repeats"]) and result.get("confirmed", True) is True


def spread(result: Json) -> float:
    """The range of the runs, relative to the result."""
    middle = result.get("cycles_per_packet") or result.get("value")
    middle = middle or result.get("gbps", {}).get("total") or 0.0
    return float((result["max"] - result["min"]) / middle) if middle else 0.0
