# SPDX-License-Identifier: BSD-3-Clause
"""Before the end: every service group receives nothing more, and what it holds goes out."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vcmts.control.client import Client, RefusedError

ANSWER_S = 1.0  # without an answer: whether to wait on is asked again
WAIT = "20 ms"  # of a group at a time

Held = dict[int, int]  # packets and parts of packets, by group


def ids(client: Client) -> list[int]:
    """Of the groups in service."""
    return [int(group["id"]) for group in client.call("group.list")["groups"]]


def asked(client: Client, groups: list[int], limit: str) -> Held:
    """One behind the other, each for so long; what is asked for receives nothing from then on."""
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("group.drain", {"group": group, "limit": limit}) for group in groups
    ]
    answers = client.calls(wanted)
    return {
        group: answer["held"]
        for group, answer in zip(groups, answers, strict=True)
        if not isinstance(answer, RefusedError)
    }


def drained(
    path: Path, limit: float, go_on: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> Held:
    """What is left after at most `limit` seconds: nothing, where all is well. Raises OSError or
    ClosedError where vcmtsd does not answer."""
    end = clock() + limit

    def waits() -> bool:
        return clock() < end and go_on()

    with Client(path, timeout=min(ANSWER_S, limit), go_on=waits) as client:
        groups = ids(client)
        held = asked(client, groups, "0 ns") if groups else {}
        while any(held.values()) and waits():
            held = asked(client, [group for group, left in held.items() if left], WAIT)
    return {group: left for group, left in held.items() if left}


def told(held: Held) -> str:
    return ", ".join(f"service group {group} holds {left}" for group, left in held.items())
