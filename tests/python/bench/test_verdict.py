# SPDX-License-Identifier: BSD-3-Clause
"""What a trial's answer says of the data plane."""

from typing import Any

import pytest

from vcmts.bench.verdict import judge

Json = dict[str, Any]
PACKETS, SIZE = 100_000, 1000  # a second of each direction: 0.8 Gbps


def direction(**what: Any) -> Json:
    """All went well, but for what is told."""
    part: Json = {"sent": PACKETS, "proven": PACKETS, "lost": 0, "corrupted": 0, "seconds": 1.0}
    part |= {"sent_bytes": PACKETS * SIZE, "gbps": PACKETS * SIZE * 8e-9}
    part |= {"transmit_backpressure": 0, "descheduled": {"count": 0, "longest_us": 0.0}}
    return part | what


def sent(share: float, **what: Any) -> Json:
    """Less than was asked for."""
    packets = round(PACKETS * share)
    size = {"sent_bytes": packets * SIZE, "gbps": packets * SIZE * 8e-9}
    return direction(sent=packets, proven=packets, **size, **what)


def lost(packets: int, **what: Any) -> Json:
    proven = PACKETS - packets
    return direction(lost=packets, proven=proven, gbps=proven * SIZE * 8e-9, **what)


def gap(milliseconds: float, count: int = 1) -> Json:
    return {"descheduled": {"count": count, "longest_us": milliseconds * 1e3}}


def answer(down: Json | None = None, up: Json | None = None, **what: Any) -> Json:
    rate = PACKETS * SIZE * 8
    return {
        "trial": {"rate": rate, "upstream_rate": rate},
        "downstream": down or direction(),
        "upstream": up or direction(),
        "workers": [{"name": "worker", "busy_share": 0.5, **gap(0, 0)}],
        "drops": {"downstream": {}, "upstream": {}},
    } | what


def told(*parts: Json | None, **what: Any) -> tuple[str, str | None]:
    found = judge(answer(*parts, **what))
    return found.verdict, found.bound_by


FAILED = ("failed", "data plane")


def test_packets_that_come_twice_fail_whatever_disturbed() -> None:
    found = judge(answer(direction(duplicated=3, **gap(20))))
    assert (found.verdict, found.bound_by) == FAILED
    assert found.why == "downstream: 3 packets came twice"
    assert judge(answer(direction(duplicated=3)), accepted_loss=0.001).verdict == "passed"


def test_all_is_well() -> None:
    found = judge(answer())
    assert (found.verdict, found.bound_by, found.carried, found.why) == ("passed", None, 1.0, "")


@pytest.mark.parametrize("key", ["lost", "corrupted"])
@pytest.mark.parametrize("up", [False, True])
def test_one_packet_is_enough(key: str, up: bool) -> None:
    part = direction(**{key: 1})
    assert told(*([None, part] if up else [part])) == FAILED


def test_accepted_loss_is_a_share_of_each_direction() -> None:
    part = answer(lost(10))
    assert judge(part, accepted_loss=1e-4).verdict == "passed"
    assert judge(part, accepted_loss=0.9e-4).verdict == "failed"
    assert judge(part).why == "downstream: 10 of 100,000 packets lost"


def test_pacing_may_be_off_by_one_percent() -> None:
    assert told(sent(0.991)) == ("passed", None)
    assert told(sent(0.98)) == ("traffic", "traffic")


def test_what_was_not_taken_is_the_data_planes() -> None:
    found = judge(answer(sent(0.8, transmit_backpressure=5)))
    assert (found.verdict, found.bound_by) == FAILED
    assert found.carried == pytest.approx(0.8)
    assert "80.0% of the rate was sent, the data plane took no more" in found.why


def test_a_slow_traffic_side_is_no_loss() -> None:
    found = judge(answer(None, sent(0.5)))
    assert (found.verdict, found.bound_by) == ("traffic", "traffic")
    assert found.why.startswith("upstream: 50.0% of the rate")


def test_loss_goes_before_a_slow_traffic_side() -> None:
    assert told(lost(5), sent(0.5)) == FAILED


# 8,192 packets are 82 ms at this rate; half of that may be too long.
def test_a_gap_longer_than_the_rings_hold_excuses_loss() -> None:
    assert told(lost(1000, **gap(50))) == ("disturbed", "machine")
    assert told(lost(1000), workers=[gap(0, 0), gap(50)]) == ("disturbed", "machine")
    found = judge(answer(lost(1000, **gap(50))))
    assert found.why == "downstream: a core was taken away for up to 50.0 ms"


def test_a_gap_that_the_rings_bridge_excuses_nothing() -> None:
    assert told(lost(1000, **gap(30))) == FAILED
    assert judge(answer(lost(1000, **gap(30))), ring=4096).verdict == "disturbed"


def test_a_gap_excuses_no_more_than_came_in_it() -> None:
    assert told(lost(10_001, **gap(50))) == FAILED
    assert told(lost(10_001, **gap(50, count=2))) == ("disturbed", "machine")


def test_a_gap_excuses_a_rate_as_far_as_it_lasted() -> None:
    assert told(sent(0.95, transmit_backpressure=9, **gap(50))) == ("disturbed", "machine")
    assert told(sent(0.90, transmit_backpressure=9, **gap(50))) == FAILED
    assert told(sent(0.90, **gap(50))) == ("traffic", "traffic")
    assert told(sent(0.98, **gap(2, count=6))) == ("disturbed", "machine")
    assert told(sent(0.98, lost=1, **gap(2, count=6))) == FAILED


def test_gaps_of_traffic_and_workers_add_up() -> None:
    part = sent(0.90, transmit_backpressure=9, **gap(50))
    assert told(part, workers=[gap(30)]) == FAILED
    assert told(part, workers=[gap(45)]) == ("disturbed", "machine")


def test_a_disturbed_trial_that_passes_has_passed() -> None:
    assert told(direction(**gap(500))) == ("passed", None)


def test_drops_of_queues_are_the_channels() -> None:
    drops = {"downstream": {"flow_buffer_full": 80, "crypto_full": 20}, "upstream": {}}
    assert told(lost(100), drops=drops) == ("failed", "channels")
    drops["downstream"] = {"flow_buffer_full": 20, "crypto_full": 80}
    assert told(lost(100), drops=drops) == FAILED
    assert told(None, lost(100), drops=drops) == FAILED


def test_one_direction_alone() -> None:
    """The other one is not judged, whether it is there or not."""
    alone = answer(None, lost(50))
    alone["trial"]["upstream_rate"] = 0
    assert judge(alone).verdict == "passed"
    del alone["upstream"]
    assert judge(alone).verdict == "passed"


def test_nothing_was_sent() -> None:
    nothing = direction(sent=0, proven=0, sent_bytes=0, gbps=0.0)
    found = judge(answer(nothing))
    assert (found.verdict, found.carried) == ("traffic", 0.0)


def test_as_much_as_goes() -> None:
    part = answer(lost(PACKETS // 4))
    part["trial"]["rate"] = "max"
    found = judge(part)
    assert found.verdict == "failed" and found.carried == pytest.approx(0.75)
    part["downstream"] = direction()
    assert judge(part).verdict == "passed"


def test_workers_that_nobody_could_ask() -> None:
    part = answer(lost(5))
    del part["workers"], part["drops"]
    assert judge(part).verdict == "failed"
