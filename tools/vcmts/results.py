# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes stored measurements of `vcmts bench`: JSON files with common keys around the
results of each kind (docs/results.md). Checks files against config/results.schema.json."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from vcmts import version
from vcmts.jsons import Json
from vcmts.output import is_stdout, write_json
from vcmts.paths import TOOL, MistakeError, data
from vcmts.secret import hide_keys
from vcmts.system import facts as host

SCHEMA = 1
KINDS = ("pipeline", "cost", "scheduler", "throughput", "latency", "power", "goals")
SCHEMA_FILE = data("config/results.schema.json")
PROGRAMS = ("vcmts", "__main__.py")  # names of the tool in sys.argv[0]
MIX_KEYS = ("point", "mix", "upstream_mix")  # of a result: their value may be @FILE
# The folders of an absolute path. A blank before "/" or "-" ends the path: another word begins.
FOLDERS = re.compile(r"(?:(?<![\w.~-])|(?<=^-\w))/(?:(?:[^/\s,=:]| (?![/-]))+/)+")
FOUND_MAX = 60  # characters of an invalid value in a message


def without_local_paths(command: Sequence[str]) -> list[str]:
    """Removes the folders of absolute paths from a command, whose first word is the program.

    Results are published, and folders may contain the user's name."""
    words = [FOLDERS.sub("", word) for word in command]
    return [TOOL if word in PROGRAMS else word for word in words[:1]] + words[1:]


def without_mix_folders(result: Json) -> Json:
    """A copy in which mixes that are files have no folders, as in without_local_paths()."""
    mixes = {key: without_local_paths(["", result[key]])[1] for key in MIX_KEYS if key in result}
    return {**result, **mixes}


def reject_constant(text: str) -> None:
    """For json.loads(): refuses NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{text} is not a JSON number")


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Measurement:
    """Results of one kind of measurement, with the command, configuration and host."""

    kind: str
    command: Sequence[str]  # argv
    configuration: str  # its name
    host: Json  # measured facts, such as tsc_hz; as_json() adds those of system/facts.py
    results: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)  # top-level keys of this kind only
    complete: bool = False  # False: interrupted; the results are those until then
    started: datetime = field(default_factory=now)  # "seconds" counts from it

    def as_json(self) -> Json:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "version": version.facts(),
            "command": without_local_paths(self.command),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round((now() - self.started).total_seconds(), 1),
            "complete": self.complete,
            "configuration": self.configuration,
            "host": host.full(self.host),
            **without_mix_folders(self.more),
            "results": [without_mix_folders(result) for result in self.results],
        }

    def write(self, path: str) -> None:
        """Writes the results to the file of --json, or to standard output."""
        write_json(path, self.as_json())

    def save(self, path: str) -> None:
        """Writes the results so far, if they go to a file."""
        if not is_stdout(path):
            self.write(path)


@cache
def schema() -> Json:
    loaded: Json = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return loaded


def json_path(path: Sequence[str | int]) -> str:
    """Formats a path in a JSON document: ("results", 0, "min") as "results[0].min"."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the whole file"


def allowed_by(keyword: str, value: Any) -> str:
    """The words for what a keyword of the schema with this value allows."""
    words = {
        "minimum": f"{value} or more",
        "exclusiveMinimum": f"more than {value}",
        "maximum": f"{value} or less",
        "const": json.dumps(value),
        "minItems": f"a list of {value} or more items",
    }
    if keyword == "enum":
        return ", ".join("null" if item is None else str(item) for item in value)
    if keyword == "type":
        names = [value] if isinstance(value, str) else value
        return " or ".join("a list" if name == "array" else f"{name}" for name in names)
    return words.get(keyword, f"values by the rule {keyword} of config/{SCHEMA_FILE.name}")


def violations(found: Json) -> Iterator[str]:
    """Yields a line per violation of the schema: the path, what was found, what is allowed."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    def innermost(error: ValidationError) -> ValidationError:
        """Of an anyOf with null, the error of the other alternative, which is more specific."""
        deeper = [e for e in error.context or [] if e.validator != "type" or e.path]
        return innermost(deeper[0]) if error.validator == "anyOf" and deeper else error

    missing_before: Counter[str] = Counter()  # by object and rule: an error per missing key
    for error in Draft202012Validator(schema()).iter_errors(found):
        error = innermost(error)
        where, rule = list(error.absolute_path), str(error.validator)
        if rule == "required":
            found_keys: Any = error.instance
            needed: Any = error.validator_value
            missing = [key for key in needed if key not in found_keys]
            of = f"{where} {list(error.absolute_schema_path)}"
            yield f"{json_path([*where, missing[missing_before[of]]])}: missing"
            missing_before[of] += 1
            continue
        text = hide_keys(json.dumps(error.instance))
        if len(text) > FOUND_MAX:
            text = text[:FOUND_MAX] + "..."
        permitted = allowed_by(rule, error.validator_value)
        yield f"{json_path(where)}: found {text}, allowed: {permitted}"


def read(path: str | Path, *, strict: bool = True) -> Json:
    """Reads a stored measurement or report. Raises MistakeError if that fails or it is not valid.

    `strict` checks the whole schema; else only the version, and the caller checks its keys."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        found = json.loads(text, parse_constant=reject_constant)
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise MistakeError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict) or "schema" not in found:
        raise MistakeError(f"{path}: not written by `vcmts bench`: the key schema is missing")
    if found["schema"] != SCHEMA:
        raise MistakeError(
            f"{path}: schema: found {found['schema']!r}, allowed: {SCHEMA}; measure again, or use "
            "the version that wrote it"
        )
    wrong = list(violations(found)) if strict else []
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise MistakeError(f"{path}: {wrong[0]}{more}")
    return found
