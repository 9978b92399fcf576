# SPDX-License-Identifier: BSD-3-Clause
"""Before the end: every service group receives nothing more, and what it holds goes out."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from vcmts.control.client import Client, RefusedError
from vcmts.jsons import Json

ANSWER_S = 1.0  # without an answer: whether to wait on is asked again
WAIT = "20 ms"  # of a group at a time


class Left(NamedTuple):
    """In a group, in packets and parts of packets."""

    held: int
    waiting: int  # of these, for a rest that has not come, and comes no more

    def moves(self) -> bool:
        return self.held > self.waiting


Held = dict[int, Left]  # by group


def ids(client: Client) -> list[int]:
    """Of the groups in service."""
    return [int(group["id"]) for group in client.call("group.list")["groups"]]


def asked(client: Client, groups: list[int], limit: str) -> Held:
    """One behind the other, each for so long; what is asked for receives nothing from then on."""
    wanted: list[tuple[str, Json]] = [
        ("group.drain", {"group": group, "limit": limit}) for group in groups
    ]
    answers = client.calls(wanted)
    return {
        group: Left(answer["held"], answer["waiting"])
        for group, answer in zip(groups, answers, strict=True)
        if not isinstance(answer, RefusedError)
    }


def drained(
    path: Path, limit: float, go_on: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> Held:
    """What is left after at most `limit` seconds: nothing that moves, where all is well. Raises
    OSError or ClosedError where vcmtsd does not answer."""
    end = clock() + limit

    def waits() -> bool:
        return clock() < end and go_on()

    with Client(path, timeout=min(ANSWER_S, limit), go_on=waits) as client:
        groups = ids(client)
        held = asked(client, groups, "0 ns") if groups else {}
        while (moving := [group for group, left in held.items() if left.moves()]) and waits():
            held |= asked(client, moving, WAIT)
    return {group: left for group, left in held.items() if left.held}


def moves(held: Held) -> bool:
    return any(left.moves() for left in held.values())


def told(held: Held) -> str:
    if not held:
        return "drained: nothing is held"
    if moves(held):
        groups = (f"service group {group} holds {left.held}" for group, left in held.items())
        return f"drained in part: {', '.join(groups)}"
    parts = sum(left.waiting for left in held.values())
    return f"drained: nothing is held but {parts} parts of packets whose rest has not come"
