# SPDX-License-Identifier: BSD-3-Clause
"""Compares vcmtsd's replay of an upstream capture with the model (witness.upstream)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from witness.upstream import Result

# Counters that depend on the port and the host, or on limits that the model does not have.
NOT_COMPARED = frozenset({"transmit_retries", "requests_lost"})
# Kinds of bandwidth requests: the model's name to the name in vcmtsd's statistics.
KINDS = {"request": "frame", "queue_request": "queue_depth"}


def _differences(what: str, found: Mapping[str, Any], expected: Mapping[str, int]) -> list[str]:
    return [
        f"{what} {name}: {found.get(name, 0)}, expected {expected.get(name, 0)}"
        for name in sorted({*found, *expected} - NOT_COMPARED)
        if found.get(name, 0) != expected.get(name, 0)
    ]


def _order(result: Result, frames: Sequence[bytes]) -> list[str]:
    """Checks that the frames of each SID cluster are in order among those of other clusters. Skips
    frames that two clusters sent, as their owner is ambiguous."""
    streams = sorted({(sent.flow, sent.cluster) for sent in result.frames})
    sent = {stream: result.stream(*stream) for stream in streams}
    senders = Counter(frame for frames_sent in sent.values() for frame in set(frames_sent))
    problems = []
    for stream, frames_sent in sent.items():
        mine = {frame for frame in frames_sent if senders[frame] == 1}
        if [frame for frame in frames if frame in mine] != [f for f in frames_sent if f in mine]:
            problems.append(f"order of service flow {stream[0]}, SID cluster {stream[1]}")
    return problems


def _requests(result: Result, found: Mapping[str, Any]) -> list[str]:
    expected = Counter(KINDS.get(request.kind, request.kind) for request in result.requests)
    problems = _differences("requests of kind", found["by_kind"], expected)
    if found["modems"] != len(result.requesting):
        problems.append(f"{found['modems']} modems asked, expected {len(result.requesting)}")
    return problems


def _units(found: Mapping[str, Mapping[str, int]], pending: Mapping[str, int]) -> list[str]:
    found_pending = {name: unit["held"] for name, unit in found.items()}
    problems = _differences(
        "held", found_pending, {f"{unit}s": count for unit, count in pending.items()}
    )
    for name, unit in found.items():
        if unit["in"] != unit["out"] + unit["dropped"] + unit["held"]:
            problems.append(f"{name} do not balance: {dict(unit)}")
    return problems


def disagreements(
    result: Result,
    upstream: Mapping[str, Any],
    frames: Sequence[bytes],
    management: Sequence[bytes],
) -> list[str]:
    """Returns all differences as text.

    `upstream`: that part of the replay's statistics. `frames`, `management`: its output at the
    network port and at the control port.
    """
    problems = _differences("counter", upstream["counters"], result.counters)
    problems += _differences("drop", upstream["drops"], result.drops)
    problems += _requests(result, upstream["requests"])
    problems += _units(upstream["units"], result.pending)
    if not upstream["balanced"]:
        problems.append("the statistics do not balance")
    if Counter(frames) != Counter(sent.ethernet for sent in result.frames):
        problems.append("other frames")
    else:
        problems += _order(result, frames)
    if Counter(management) != Counter(result.management):
        problems.append("other management messages")
    return problems
