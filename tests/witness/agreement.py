# SPDX-License-Identifier: BSD-3-Clause
"""Where the data plane's replay of an upstream capture and the model do not agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from witness.upstream import Result

# How the port and the host behaved, and what the model has no limits for.
NOT_COMPARED = frozenset({"transmit_retries", "requests_lost"})


def _differences(what: str, found: Mapping[str, Any], expected: Mapping[str, int]) -> list[str]:
    return [
        f"{what} {name}: {found.get(name, 0)}, expected {expected.get(name, 0)}"
        for name in sorted({*found, *expected} - NOT_COMPARED)
        if found.get(name, 0) != expected.get(name, 0)
    ]


def _order(result: Result, frames: Sequence[bytes]) -> list[str]:
    """The frames of a service flow's SID cluster must come in order; others may lie between."""
    problems = []
    for flow, cluster in sorted({(sent.flow, sent.cluster) for sent in result.frames}):
        expected = result.stream(flow, cluster)
        mine = set(expected)
        if [frame for frame in frames if frame in mine] != expected:
            problems.append(f"order of service flow {flow}, SID cluster {cluster}")
    return problems


def disagreements(
    result: Result,
    upstream: Mapping[str, Any],
    frames: Sequence[bytes],
    management: Sequence[bytes],
) -> list[str]:
    """`upstream` is that part of the replay's statistics; `frames` and `management` are what it
    wrote for the network and the control port. Frames of two service flows must not be equal."""
    problems = _differences("counter", upstream["counters"], result.counters)
    problems += _differences("drop", upstream["drops"], result.drops)
    if not upstream["balanced"]:
        problems.append("the statistics do not balance")
    if Counter(frames) != Counter(sent.ethernet for sent in result.frames):
        problems.append("other frames")
    else:
        problems += _order(result, frames)
    if Counter(management) != Counter(result.management):
        problems.append("other management messages")
    return problems
