# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of a replay with the model speaks up, whatever it is that differs."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from vcmts.witness.config import parse_config
from vcmts.witness.pcapfile import records_of
from witness.agreement import KINDS, disagreements
from witness.books import IN, OUT, REASONS
from witness.sample import UPSTREAM
from witness.upstream import Result, expect_upstream
from witness.upstream_traffic import sending

CONFIG = parse_config(UPSTREAM)
PACKETS = sending(12, CONFIG, most=80).packets


@dataclass
class Told:
    """What a replay that is right would say."""

    result: Result
    stats: dict[str, Any]
    frames: list[bytes]
    management: list[bytes]

    def problems(self) -> list[str]:
        return disagreements(self.result, self.stats, self.frames, self.management)


def told() -> Told:
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
    asked = Counter(KINDS.get(ask.kind, ask.kind) for ask in result.requests)
    stats: dict[str, Any] = {
        "counters": {**result.counters, "transmit_retries": 5},
        "drops": {**result.drops, "vlan": 0},
        "units": units,
        "requests": {"by_kind": asked, "modems": len({ask.modem for ask in result.requests})},
        "balanced": True,
    }
    frames = [sent.ethernet for sent in result.frames]
    return Told(result, stats, frames, list(result.management))


def test_nothing_to_say() -> None:
    right = told()
    assert right.problems() == []
    assert right.result.drops and right.management and right.result.requests
    # service flows may be interleaved otherwise, as long as each is in order
    right.frames = [frame for place in streams(right) for frame in right.result.stream(*place)]
    assert right.problems() == []


def streams(right: Told) -> list[tuple[int, int]]:
    return sorted({(sent.flow, sent.cluster) for sent in right.result.frames}, reverse=True)


def swap(right: Told) -> None:
    """Two frames of a stream, wherever they lie."""
    first, second = right.result.stream(*streams(right)[0])[:2]
    one, other = right.frames.index(first), right.frames.index(second)
    right.frames[one], right.frames[other] = second, first


def set_unit(right: Told, name: str) -> None:
    right.stats["units"]["frames"][name] += 1


MISTAKES: dict[str, tuple[Callable[[Told], object], str]] = {
    "a counter": (lambda right: right.stats["counters"].update(padding_bytes=1), "padding_bytes"),
    "no counter": (lambda right: right.stats["counters"].pop("received"), "counter received: 0"),
    "a drop": (lambda right: right.stats["drops"].update(vlan=1), "drop vlan: 1, expected 0"),
    "no drop": (lambda right: right.stats["drops"].clear(), "drop "),
    "another frame": (lambda right: right.frames.append(b"x"), "other frames"),
    "a frame less": (lambda right: right.frames.pop(), "other frames"),
    "a frame twice": (lambda right: right.frames.append(right.frames[0]), "other frames"),
    "order": (swap, "order of service flow"),
    "another message": (lambda right: right.management.append(b"x"), "management"),
    "a message less": (lambda right: right.management.pop(), "management"),
    "a request": (lambda right: right.stats["requests"]["by_kind"].update(record=99), "record"),
    "who asked": (lambda right: right.stats["requests"].update(modems=99), "99 modems"),
    "what is held": (lambda right: set_unit(right, "held"), "held frames: 1"),
    "balance of a unit": (lambda right: set_unit(right, "in"), "frames do not balance"),
    "balance": (lambda right: right.stats.update(balanced=False), "do not balance"),
}


@pytest.mark.parametrize(("spoil", "words"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes(spoil: Callable[[Told], object], words: str) -> None:
    wrong = told()
    spoil(wrong)
    assert any(words in problem for problem in wrong.problems()), wrong.problems()
