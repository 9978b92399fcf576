# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts bench` stores: one shape around the figures of every kind (docs/results.md)."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from vcmts.jsons import Json
from vcmts.paths import TOOL, MistakeError, data
from vcmts.secret import shown
from vcmts.system import facts as host

SCHEMA = 1
KINDS = ("pipeline", "cost", "scheduler", "throughput", "latency", "power", "goals")
SCHEMA_FILE = data("config/results.schema.json")
PROGRAMS = ("vcmts", "__main__.py")  # what the tool is called inside
MIXES = ("point", "mix", "upstream_mix")  # keys that may hold @FILE
FOUND_MAX = 60  # characters of a wrong value that a message shows


def shareable(command: Sequence[str]) -> list[str]:
    """A command without the folders of this machine, which may name its user."""
    words = [re.sub(r"(?<![\w.~-])/(?:[^/\s,=:]+/)+", "", word) for word in command]
    return [TOOL if word in PROGRAMS else word for word in words[:1]] + words[1:]


def without_folders(found: Json) -> Json:
    """A mix of a file is named by that, as the command is."""
    mixes = {key: shareable(["", found[key]])[1] for key in MIXES if key in found}
    return {**found, **mixes}


def no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Measurement:
    """Figures of one kind, and how they came to be."""

    kind: str
    command: Sequence[str]  # as it was called
    configuration: str  # its name
    host: Json  # what was measured of it; as_json() adds what the system tells (host.py)
    results: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)  # keys of this kind alone
    complete: bool = False  # False: it was interrupted, and this is what was measured
    started: datetime = field(default_factory=now)  # of the measuring; it is often made after

    def as_json(self) -> Json:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "command": shareable(self.command),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round((now() - self.started).total_seconds(), 1),
            "complete": self.complete,
            "configuration": self.configuration,
            "host": host.full(self.host),
            **without_folders(self.more),
            "results": [without_folders(result) for result in self.results],
        }

    def write(self, path: str | Path) -> None:
        """Replaces the file as a whole: a reader never sees half of one."""
        write_whole(path, json.dumps(self.as_json(), indent=1) + "\n")


def write_whole(path: str | Path, text: str) -> None:
    """Replaces a file, that of a link too; what is no file, such as /dev/null, is written to."""
    path = Path(path)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@cache
def schema() -> Json:
    loaded: Json = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return loaded


def place(path: Sequence[str | int]) -> str:
    """results, 0, min as results[0].min."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the whole file"


def allowed(rule: str, value: Any) -> str:
    """What a rule of the schema lets through, in words."""
    words = {
        "minimum": f"{value} and more",
        "exclusiveMinimum": f"more than {value}",
        "maximum": f"{value} and less",
        "const": json.dumps(value),
        "minItems": f"a list of {value} and more",
    }
    if rule == "enum":
        return ", ".join("null" if item is None else str(item) for item in value)
    if rule == "type":
        names = [value] if isinstance(value, str) else value
        return " or ".join("a list" if name == "array" else f"{name}" for name in names)
    return words.get(rule, f"what config/{SCHEMA_FILE.name} says under {rule}")


def mistakes(found: Json) -> Iterator[str]:
    """One line for each way in which a file departs from the schema, the deepest first."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    def innermost(error: ValidationError) -> ValidationError:
        """Of what may be null, what else it may be says more."""
        deeper = [e for e in error.context or [] if e.validator != "type" or e.path]
        return innermost(deeper[0]) if error.validator == "anyOf" and deeper else error

    for error in Draft202012Validator(schema()).iter_errors(found):
        error = innermost(error)
        where, rule = list(error.absolute_path), str(error.validator)
        if rule == "required":
            found_keys: Any = error.instance
            needed: Any = error.validator_value
            missing = next(key for key in needed if key not in found_keys)
            yield f"{place([*where, missing])}: missing"
            continue
        text = shown(json.dumps(error.instance))
        if len(text) > FOUND_MAX:
            text = text[:FOUND_MAX] + "..."
        yield f"{place(where)}: found {text}, allowed: {allowed(rule, error.validator_value)}"


def read(path: str | Path, *, strict: bool = True) -> Json:
    """A stored measurement or report. Raises MistakeError with one line for what is none.

    Not strict: the caller looks for what it needs itself, and the rest may be as it is."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        found = json.loads(text, parse_constant=no_number)
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise MistakeError(f"{path}: no JSON: {error}") from error
    if not isinstance(found, dict) or "schema" not in found:
        raise MistakeError(f"{path}: not written by `vcmts bench`: it has no key schema")
    if found["schema"] != SCHEMA:
        raise MistakeError(
            f"{path}: schema: found {found['schema']!r}, allowed: {SCHEMA}; measure again, or use "
            "the version that wrote it"
        )
    wrong = list(mistakes(found)) if strict else []
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise MistakeError(f"{path}: {wrong[0]}{more}")
    return found
