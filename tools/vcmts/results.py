# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts bench` stores: one shape around the figures of every kind (docs/results.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vcmts.paths import MistakeError

SCHEMA = 1
KINDS = ("pipeline", "cost", "scheduler", "throughput", "latency")

Json = dict[str, Any]


@dataclass
class Measurement:
    """Figures of one kind, and how they came to be."""

    kind: str
    command: Sequence[str]  # as it was called
    configuration: str  # its name
    host: Json  # at least cpu, tsc_hz, core_hz, huge_pages
    results: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)  # keys of this kind alone
    complete: bool = False  # False: it was interrupted, and this is what was measured
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_json(self) -> Json:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "command": list(self.command),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round((datetime.now(UTC) - self.started).total_seconds(), 1),
            "complete": self.complete,
            "configuration": self.configuration,
            "host": self.host,
            **self.more,
            "results": self.results,
        }

    def write(self, path: str | Path) -> None:
        """Replaces the file as a whole: a reader never sees half of one."""
        path = Path(path)
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps(self.as_json(), indent=1) + "\n", encoding="utf-8")
        part.replace(path)


def read(path: str | Path) -> Json:
    """A stored measurement. Raises MistakeError with one line for what is none, or another's."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise MistakeError(f"{path}: no JSON: {error}") from error
    if not isinstance(found, dict) or "schema" not in found:
        raise MistakeError(f"{path}: not written by `vcmts bench`: it has no key schema")
    if found["schema"] != SCHEMA:
        raise MistakeError(
            f"{path}: schema: found {found['schema']!r}, allowed: {SCHEMA}; measure again, or use "
            "the version that wrote it"
        )
    return found
