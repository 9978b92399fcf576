# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the comparison of a replay with the model reports each kind of difference."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from vcmts.witness.config import parse_config
from vcmts.witness.pcapfile import records_of
from witness.accounting import IN, OUT, REASONS
from witness.agreement import KINDS, disagreements
from witness.sample import UPSTREAM
from witness.upstream import Result, expect_upstream
from witness.upstream_traffic import sending

CONFIG = parse_config(UPSTREAM)
PACKETS = sending(12, CONFIG, most=80).packets


@dataclass
class Replay:
    """The output of a correct replay."""

    result: Result
    stats: dict[str, Any]
    frames: list[bytes]
    management: list[bytes]

    def problems(self) -> list[str]:
        return disagreements(self.result, self.stats, self.frames, self.management)


def correct_replay() -> Replay:
    result = expect_upstream(records_of([*PACKETS[:20], *PACKETS[21:]]), CONFIG)
    units = {
        f"{unit}s": {
            "in": result.counters[entered],
            "out": sum(result.counters[name] for name in OUT[unit]),
            "dropped": sum(result.drops[reason] for reason in REASONS[unit]),
            "held": 0,
        }
        for unit, entered in IN.items()
    }
    by_kind = Counter(KINDS.get(ask.kind, ask.kind) for ask in result.requests)
    stats: dict[str, Any] = {
        "counters": {**result.counters, "transmit_retries": 5},
        "drops": {**result.drops, "vlan": 0},
        "units": units,
        "requests": {"by_kind": by_kind, "modems": len({ask.modem for ask in result.requests})},
        "balanced": True,
    }
    frames = [sent.ethernet for sent in result.frames]
    return Replay(result, stats, frames, list(result.management))


def test_correct_replay_has_no_differences() -> None:
    replay = correct_replay()
    assert replay.problems() == []
    assert replay.result.drops and replay.management and replay.result.requests
    # frames of different service flows may be in any order
    replay.frames = [frame for stream in streams(replay) for frame in replay.result.stream(*stream)]
    assert replay.problems() == []


def streams(replay: Replay) -> list[tuple[int, int]]:
    """The streams (service flow, SID cluster) that have frames, the highest first."""
    return sorted({(sent.flow, sent.cluster) for sent in replay.result.frames}, reverse=True)


def swap(replay: Replay) -> None:
    """Swaps two frames of a stream."""
    first, second = replay.result.stream(*streams(replay)[0])[:2]
    one, other = replay.frames.index(first), replay.frames.index(second)
    replay.frames[one], replay.frames[other] = second, first


def set_unit(replay: Replay, name: str) -> None:
    replay.stats["units"]["frames"][name] += 1


DIFFERENCES: dict[str, tuple[Callable[[Replay], object], str]] = {
    "a counter": (lambda replay: replay.stats["counters"].update(padding_bytes=1), "padding_bytes"),
    "no counter": (lambda replay: replay.stats["counters"].pop("received"), "counter received: 0"),
    "a drop": (lambda replay: replay.stats["drops"].update(vlan=1), "drop vlan: 1, expected 0"),
    "no drop": (lambda replay: replay.stats["drops"].clear(), "drop "),
    "another frame": (lambda replay: replay.frames.append(b"x"), "other frames"),
    "a frame less": (lambda replay: replay.frames.pop(), "other frames"),
    "a frame twice": (lambda replay: replay.frames.append(replay.frames[0]), "other frames"),
    "order": (swap, "order of service flow"),
    "another message": (lambda replay: replay.management.append(b"x"), "management"),
    "a message less": (lambda replay: replay.management.pop(), "management"),
    "a request": (lambda replay: replay.stats["requests"]["by_kind"].update(record=99), "record"),
    "requesting modems": (lambda replay: replay.stats["requests"].update(modems=99), "99 modems"),
    "pending frames": (lambda replay: set_unit(replay, "held"), "held frames: 1"),
    "balance of a unit": (lambda replay: set_unit(replay, "in"), "frames do not balance"),
    "balance": (lambda replay: replay.stats.update(balanced=False), "do not balance"),
}


@pytest.mark.parametrize(("change", "message"), DIFFERENCES.values(), ids=list(DIFFERENCES))
def test_difference_is_reported(change: Callable[[Replay], object], message: str) -> None:
    replay = correct_replay()
    change(replay)
    assert any(message in problem for problem in replay.problems()), replay.problems()
