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


class Pending(NamedTuple):
    """The pending packets, segments and fragments of a group."""

    pending: int
    incomplete: int  # of these, for missing parts, which can no longer arrive

    def moves(self) -> bool:
        return self.pending > self.incomplete


PendingByGroup = dict[int, Pending]  # by group


def group_ids(client: Client) -> list[int]:
    """The IDs of the groups in service."""
    return [int(group["id"]) for group in client.call("group.list")["groups"]]


def drain_groups(client: Client, groups: list[int], limit: str) -> PendingByGroup:
    """Drains groups in turn, each for up to `limit`; they receive no more. Omits refused ones."""
    requests: list[tuple[str, Json]] = [
        ("group.drain", {"group": group, "limit": limit}) for group in groups
    ]
    answers = client.calls(requests)
    return {
        group: Pending(answer["held"], answer["waiting"])
        for group, answer in zip(groups, answers, strict=True)
        if not isinstance(answer, RefusedError)
    }


def drain_all(
    path: Path, limit: float, go_on: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> PendingByGroup:
    """Drains all groups for up to `limit` seconds, as long as go_on() is true. Returns what is
    pending then. Raises OSError or ClosedError if vcmtsd does not answer."""
    end = clock() + limit

    def may_continue() -> bool:
        return clock() < end and go_on()

    with Client(path, timeout=min(ANSWER_S, limit), go_on=may_continue) as client:
        groups = group_ids(client)
        pending = drain_groups(client, groups, "0 ns") if groups else {}
        while (
            moving := [group for group, left in pending.items() if left.moves()]
        ) and may_continue():
            pending |= drain_groups(client, moving, WAIT)
    return {group: left for group, left in pending.items() if left.pending}


def moves(pending: PendingByGroup) -> bool:
    return any(left.moves() for left in pending.values())


def result_text(pending: PendingByGroup) -> str:
    if not pending:
        return "drained: nothing is pending"
    if moves(pending):
        groups = (f"service group {group} has {left.pending}" for group, left in pending.items())
        return f"drained in part, still pending: {', '.join(groups)}"
    parts = sum(left.incomplete for left in pending.values())
    return (
        f"drained: only {parts} incomplete packets are pending, whose missing parts did not arrive"
    )
