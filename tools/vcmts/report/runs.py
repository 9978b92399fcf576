# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of a report, each under a name of its own."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vcmts import results
from vcmts.jsons import Json


@dataclass(frozen=True)
class Run:
    """One stored measurement. `letter` is there when its kind was measured more than once."""

    name: str  # of its file
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
        """Of names in a report."""
        return f"-{self.letter.lower()}" if self.letter else ""

    @property
    def of(self) -> str:
        """Of titles."""
        return f", run {self.letter}" if self.letter else ""

    @property
    def title(self) -> str:
        return f"run {self.letter}, {self.name}" if self.letter else self.name


def opened(paths: Sequence[str]) -> list[tuple[str, Json]]:
    """The measurements of the files, those inside of reports too."""
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


def lettered(files: Sequence[tuple[str, Json]]) -> list[Run]:
    """A, B, ... for the runs of a kind that has several, in the order in which they were given."""
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


def of_kind(runs: Sequence[Run], kind: str) -> list[Run]:
    return [run for run in runs if run.kind == kind and run.results]


def in_direction(run: Run, direction: str) -> list[Json]:
    """Of a pipeline's results those with the fewest threads: two make another figure."""
    found = [r for r in run.results if r["direction"] == direction]
    fewest = min((r.get("threads", 1) for r in found), default=1)
    return [r for r in found if r.get("threads", 1) == fewest]


def first_mix(results: Sequence[Json]) -> Json | None:
    """The published mix, or whatever there is."""
    mixed = [r for r in results if not r["mix"].isdigit()]
    return next(iter(mixed or results), None)


def confirmed(result: Json) -> bool:
    """Whether a search for the rate without loss came to an end that its trials bear out."""
    return bool(result["repeats"]) and result.get("confirmed", True) is True


def spread(result: Json) -> float:
    """Between the smallest and the largest run, over what is told."""
    middle = result.get("cycles_per_packet") or result.get("value")
    middle = middle or result.get("gbps", {}).get("total") or 0.0
    return float((result["max"] - result["min"]) / middle) if middle else 0.0
