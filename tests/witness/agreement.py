# SPDX-License-Identifier: BSD-3-Clause
"""Where the data plane's replay of an upstream capture and the model do not agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from witness.upstream import Result

# How the port and the host behaved, and what the model has no limits for.
NOT_COMPARED = frozenset({"transmit_retries", "requests_lost"})
# Kinds of bandwidth requests that the statistics name otherwise.
KINDS = {"request": "frame", "queue_request": "queue_depth"}


def _differences(what: str, found: Mapping[str, Any], expected: Mapping[str, int]) -> list[str]:
    return [
        f"{what} {name}: {found.get(name, 0)}, expected {expected.get(name, 0)}"
        for name in sorted({*found, *expected} - NOT_COMPARED)
        if found.get(name, 0) != expected.get(name, 0)
    ]


def _order(result: Result, frames: Sequence[bytes]) -> list[str]:
    """The frames of a service flow's SID cluster must come in order; others may lie between. Of
    frames that two of them sent nobody knows whose they are."""
    places = sorted({(sent.flow, sent.cluster) for sent in result.frames})
    sent = {place: result.stream(*place) for place in places}
    senders = Counter(frame for stream in sent.values() for frame in set(stream))
    problems = []
    for place, stream in sent.items():
        mine = {frame for frame in stream if senders[frame] == 1}
        if [frame for frame in frames if frame in mine] != [f for f in stream if f in mine]:
            problems.append(f"order of service flow {place[0]}, SID cluster {place[1]}")
    return problems


def _requests(result: Result, found: Mapping[str, Any]) -> list[str]:
    expected = Counter(KINDS.get(ask.kind, ask.kind) for ask in result.requests)
    problems = _differences("requests of kind", found["by_kind"], expected)
    if found["modems"] != len(result.asking):
        problems.append(f"{found['modems']} modems asked, expected {len(result.asking)}")
    return problems


def _units(found: Mapping[str, Mapping[str, int]], held: Mapping[str, int]) -> list[str]:
    waiting = {name: unit["held"] for name, unit in found.items()}
    problems = _differences("held", waiting, {f"{unit}s": count for unit, count in held.items()})
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
    """`upstream` is that part of the replay's statistics; `frames` and `management` are what it
    wrote for the network and the control port."""
    problems = _differences("counter", upstream["counters"], result.counters)
    problems += _differences("drop", upstream["drops"], result.drops)
    problems += _requests(result, upstream["requests"])
    problems += _units(upstream["units"], result.held)
    if not upstream["balanced"]:
        problems.append("the statistics do not balance")
    if Counter(frames) != Counter(sent.ethernet for sent in result.frames):
        problems.append("other frames")
    else:
        problems += _order(result, frames)
    if Counter(management) != Counter(result.management):
        problems.append("other management messages")
    return problems
