# SPDX-License-Identifier: BSD-3-Clause
"""Drains the service groups before the end: they stop receiving and transmit pending packets."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from vcmts.control.client import Client, RefusedError
from vcmts.jsons import Json

ANSWER_S = 1.0  # s to wait for an answer before checking whether to continue
WAIT = "20 ms"  # limit of one group.drain


class Left(NamedTuple):
    """The pending packets, segments and fragments of a group."""

    held: int
    waiting: int  # of these, for missing parts, which can no longer arrive

    def moves(self) -> bool:
        return self.held > self.waiting


Held = dict[int, Left]  # by group


def ids(client: Client) -> list[int]:
    """The IDs of the groups in service."""
    return [int(group["id"]) for group in client.call("group.list")["groups"]]


def asked(client: Client, groups: list[int], limit: str) -> Held:
    """Drains groups in turn, each for up to `limit`; they receive no more. Omits refused ones."""
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
    """Drains all groups for up to `limit` seconds, as long as go_on() is true. Returns what is
    pending then. Raises OSError or ClosedError if vcmtsd does not answer."""
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
        return "drained: nothing is pending"
    if moves(held):
        groups = (f"service group {group} has {left.held}" for group, left in held.items())
        return f"drained in part, still pending: {', '.join(groups)}"
    parts = sum(left.waiting for left in held.values())
    return (
        f"drained: only {parts} incomplete packets are pending, whose missing parts did not arrive"
    )
