# SPDX-License-Identifier: BSD-3-Clause
"""Tests the verdict on a trial's answer: passed, failed or disturbed, and what bounds the rate."""

from typing import Any

import pytest

from vcmts.bench.verdict import evaluate

Json = dict[str, Any]
PACKETS, SIZE = 100_000, 1000  # per second, bytes: 0.8 Gbps per direction


def direction(**fields: Any) -> Json:
    """A direction without faults, with the changes of `fields`."""
    part: Json = {"sent": PACKETS, "proven": PACKETS, "lost": 0, "corrupted": 0, "seconds": 1.0}
    part |= {"sent_bytes": PACKETS * SIZE, "gbps": PACKETS * SIZE * 8e-9}
    part |= {"transmit_backpressure": 0, "descheduled": {"count": 0, "longest_us": 0.0}}
    return part | fields


def sent(share: float, **fields: Any) -> Json:
    """A direction that sent only a share of the rate."""
    packets = round(PACKETS * share)
    size = {"sent_bytes": packets * SIZE, "gbps": packets * SIZE * 8e-9}
    return direction(sent=packets, proven=packets, **size, **fields)


def lost(packets: int, **fields: Any) -> Json:
    proven = PACKETS - packets
    return direction(lost=packets, proven=proven, gbps=proven * SIZE * 8e-9, **fields)


def gap(milliseconds: float, count: int = 1) -> Json:
    return {"descheduled": {"count": count, "longest_us": milliseconds * 1e3}}


def answer(down: Json | None = None, up: Json | None = None, **fields: Any) -> Json:
    rate = PACKETS * SIZE * 8
    return {
        "trial": {"rate": rate, "upstream_rate": rate},
        "downstream": down or direction(),
        "upstream": up or direction(),
        "workers": [{"name": "worker", "busy_share": 0.5, **gap(0, 0)}],
        "drops": {"downstream": {}, "upstream": {}},
    } | fields


PASSED, FAILED = ("passed", None), ("failed", "data plane")
SLOW, DISTURBED = ("traffic", "traffic"), ("disturbed", "machine")
FULL: Json = {"flow_buffer_full": 80, "crypto_full": 20}
MOSTLY_CRYPTO: Json = {"flow_buffer_full": 20, "crypto_full": 80}
BACKPRESSURE: Json = {"transmit_backpressure": 9}
# parts of both directions and of the answer; verdict and bound. A ring of 8,192 packets lasts 82 ms
# at this rate; gaps above half of that excuse losses.
CASES: dict[str, tuple[list[Json | None], Json, tuple[str, str | None]]] = {
    "all is well": ([], {}, PASSED),
    "a packet lost": ([direction(lost=1)], {}, FAILED),
    "a packet lost upstream": ([None, direction(lost=1)], {}, FAILED),
    "a packet corrupted": ([direction(corrupted=1)], {}, FAILED),
    "a packet corrupted upstream": ([None, direction(corrupted=1)], {}, FAILED),
    "packets twice, whatever disturbed": ([direction(duplicated=3, **gap(20))], {}, FAILED),
    "pacing off by one percent": ([sent(0.991)], {}, PASSED),
    "pacing off by more": ([sent(0.98)], {}, SLOW),
    "not taken by the data plane": ([sent(0.8, transmit_backpressure=5)], {}, FAILED),
    "a slow traffic side is no loss": ([None, sent(0.5)], {}, SLOW),
    "loss before a slow traffic side": ([lost(5), sent(0.5)], {}, FAILED),
    "a gap longer than the rings hold": ([lost(1000, **gap(50))], {}, DISTURBED),
    "the gap of a worker": ([lost(1000)], {"workers": [gap(0, 0), gap(50)]}, DISTURBED),
    "a gap that the rings bridge": ([lost(1000, **gap(30))], {}, FAILED),
    "more lost than came in the gap": ([lost(10_001, **gap(50))], {}, FAILED),
    "in two gaps": ([lost(10_001, **gap(50, count=2))], {}, DISTURBED),
    "a rate as far as a gap lasted": ([sent(0.95, **BACKPRESSURE, **gap(50))], {}, DISTURBED),
    "a rate further than it lasted": ([sent(0.90, **BACKPRESSURE, **gap(50))], {}, FAILED),
    "further, by the traffic": ([sent(0.90, **gap(50))], {}, SLOW),
    "many short gaps": ([sent(0.98, **gap(2, count=6))], {}, DISTURBED),
    "many short gaps, and loss": ([sent(0.98, lost=1, **gap(2, count=6))], {}, FAILED),
    "gaps of both sides do not add up": (
        [sent(0.90, **BACKPRESSURE, **gap(50))],
        {"workers": [gap(30)]},
        FAILED,
    ),
    "gaps of both sides add up": (
        [sent(0.90, **BACKPRESSURE, **gap(50))],
        {"workers": [gap(45)]},
        DISTURBED,
    ),
    "disturbed, and passed": ([direction(**gap(500))], {}, PASSED),
    "queues overflow": ([lost(100)], {"drops": {"downstream": FULL}}, ("failed", "channels")),
    "queues overflow hardly": ([lost(100)], {"drops": {"downstream": MOSTLY_CRYPTO}}, FAILED),
    "queues of the other direction": ([None, lost(100)], {"drops": {"downstream": FULL}}, FAILED),
}


@pytest.mark.parametrize(("parts", "changes", "verdict"), CASES.values(), ids=list(CASES))
def test_verdict(parts: list[Json | None], changes: Json, verdict: tuple[str, str | None]) -> None:
    drops: Json = {"drops": {"downstream": {}, "upstream": {}} | changes.get("drops", {})}
    result = evaluate(answer(*parts, **(changes | drops)))
    assert (result.verdict, result.bound_by) == verdict


def test_reason_and_carried_share() -> None:
    assert (evaluate(answer()).carried, evaluate(answer()).why) == (1.0, "")
    assert evaluate(answer(lost(10))).why == "downstream: 10 of 100,000 packets lost"
    twice = answer(direction(duplicated=3, **gap(20)))
    assert evaluate(twice).why == "downstream: 3 packets were received twice"
    result = evaluate(answer(sent(0.8, transmit_backpressure=5)))
    assert result.carried == pytest.approx(0.8)
    assert "80.0% of the rate was sent, the data plane accepted no more" in result.why
    assert evaluate(answer(None, sent(0.5))).why.startswith("upstream: 50.0% of the rate")
    stalled = evaluate(answer(lost(1000, **gap(50))))
    assert stalled.why == "downstream: a polling thread lost its core for up to 50.0 ms"


def test_accepted_loss_and_ring_size() -> None:
    """The share applies to each direction."""
    assert evaluate(answer(lost(10)), accepted_loss=1e-4).verdict == "passed"
    assert evaluate(answer(lost(10)), accepted_loss=0.9e-4).verdict == "failed"
    assert evaluate(answer(direction(duplicated=3)), accepted_loss=0.001).verdict == "passed"
    assert evaluate(answer(lost(1000, **gap(30))), ring=4096).verdict == "disturbed"


def test_unused_direction_is_ignored() -> None:
    """Whether or not the answer has it."""
    alone = answer(None, lost(50))
    alone["trial"]["upstream_rate"] = 0
    assert evaluate(alone).verdict == "passed"
    del alone["upstream"]
    assert evaluate(alone).verdict == "passed"


def test_nothing_sent_is_slow_traffic() -> None:
    nothing = direction(sent=0, proven=0, sent_bytes=0, gbps=0.0)
    result = evaluate(answer(nothing))
    assert (result.verdict, result.carried) == ("traffic", 0.0)


def test_maximum_rate() -> None:
    part = answer(lost(PACKETS // 4))
    part["trial"]["rate"] = "max"
    result = evaluate(part)
    assert result.verdict == "failed" and result.carried == pytest.approx(0.75)
    part["downstream"] = direction()
    assert evaluate(part).verdict == "passed"


def test_answer_without_workers() -> None:
    part = answer(lost(5))
    del part["workers"], part["drops"]
    assert evaluate(part).verdict == "failed"
