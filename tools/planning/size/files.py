# SPDX-License-Identifier: BSD-3-Clause
"""Reads files of `vcmts bench` (docs/results.md) for `vcmts size`: one per kind, of one machine."""

from dataclasses import dataclass
from pathlib import Path

import jsonschema

from vcmts import results
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.secret import hide_keys

ABOVE_0 = {"type": "number", "exclusiveMinimum": 0}
NUMBER = {"type": "number", "minimum": 0}  # 0: no packet arrived
DIRECTIONS = {"type": "object", "properties": {"downstream": NUMBER, "upstream": NUMBER}}
TRIAL = {"type": "object", "properties": {"busy_share": {"type": "array"}}}
TRIALS = {"type": "array", "items": TRIAL}
RESULTS: dict[str, Json] = {
    "pipeline": {
        "required": ["direction", "mix", "mean_bytes", "cycles_per_packet"],
        "properties": {
            "mix": {"type": "string"},
            "mean_bytes": ABOVE_0,
            "cycles_per_packet": ABOVE_0,
        },
    },
    "throughput": {
        "required": ["mix", "upstream_mix", "mean_bytes", "gbps", "bound_by"],
        "properties": {"mean_bytes": DIRECTIONS, "gbps": DIRECTIONS, "trials": TRIALS},
    },
    "cost": {
        "required": ["what"],
        "if": {"properties": {"what": {"const": "modems"}}},
        "then": {
            "required": ["value", "cycles_per_packet"],
            "properties": {
                "value": ABOVE_0,
                "cycles_per_packet": ABOVE_0,
                "memory_bytes": {"type": ["number", "null"], "minimum": 0},
            },
        },
    },
}


def schema(kind: str) -> Json:
    """The schema of the keys that sizing reads. Other keys are allowed."""
    return {
        "required": ["configuration", "host", "results"],
        "properties": {
            "configuration": {"type": "string"},
            "host": {
                "type": "object",
                "required": ["cpu", "tsc_hz", "core_hz"],
                "properties": {"cpu": {"type": "string"}, "tsc_hz": ABOVE_0, "core_hz": ABOVE_0},
            },
            "memory": {"type": "object", "properties": {"total": NUMBER}},
            "results": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "object", **RESULTS[kind]},
            },
        },
    }


@dataclass(frozen=True)
class Files:
    """The files by kind, and the host that they were measured on."""

    by_kind: dict[str, Json]
    names: dict[str, str]
    host: Json

    @property
    def clock(self) -> float:
        return float(self.host["core_hz"]) / 1e9


def one(path: str) -> Json:
    """Reads a file. Raises MistakeError if it is incomplete, or of another kind."""
    found = results.read(path, strict=False)
    kind = found.get("kind")
    if kind not in RESULTS:
        raise MistakeError(f"--machine {path}: kind: found {kind!r}, allowed: {', '.join(RESULTS)}")
    if found.get("complete") is not True:
        raise MistakeError(f"--machine {path}: the measurement was interrupted: repeat it")
    wrong = jsonschema.Draft202012Validator(schema(kind)).iter_errors(found)
    for error in sorted(wrong, key=lambda e: [str(step) for step in e.absolute_path]):
        key = ".".join(str(step) for step in error.absolute_path) or "file"
        raise MistakeError(
            f"--machine {path}: {key}: {hide_keys(error.message)[-120:]}: incomplete measurement"
        )
    return found


def read(paths: list[str]) -> Files:
    """Reads at most one file per kind. Raises MistakeError if they do not fit together."""
    by_kind: dict[str, Json] = {}
    names: dict[str, str] = {}
    for path in paths:
        found = one(path)
        kind = found["kind"]
        if kind in by_kind:
            raise MistakeError(f"--machine {path}: a second file of kind {kind}, allowed: one")
        by_kind[kind], names[kind] = found, Path(path).name
    if not {"pipeline", "throughput"} & by_kind.keys():
        raise MistakeError(
            f"--machine {paths[0]}: a file of kind pipeline or throughput is needed too"
        )
    hosts = {f["host"]["cpu"] for f in by_kind.values()}
    if len(hosts) > 1:
        raise MistakeError(f"--machine: measured on different machines: {', '.join(sorted(hosts))}")
    first = by_kind.get("pipeline") or by_kind["throughput"]
    return Files(by_kind, names, first["host"])
