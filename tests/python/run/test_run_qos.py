# SPDX-License-Identifier: BSD-3-Clause
"""Tests qos.py: measured rates, priorities and weights, and gaps that excuse faults."""

from typing import Any

import pytest

from vcmts.run import gaps, qos, verdict

Json = dict[str, Any]
HZ = 1_000_000_000


def limit(**more: Any) -> Json:
    """A rate limit (bit/s) with a burst (bytes), and how it was kept."""
    one = {"of": "service flow", "id": 5, "rate": 8e6, "burst": 3000.0, "alone": True}
    return one | {"over_s": 0.0, "waited_s": 0.0, "waited_bytes": 0} | more


def delay(priority: int, mean_us: float, group: int = 1, packets: int = 5_000) -> Json:
    return {"bonding_group": group, "priority": priority, "packets": packets, "mean_us": mean_us}


def share(flow: int, weight: int, nbytes: int, waited_s: float = 1.9, **more: Any) -> Json:
    """A flow that sent `nbytes` while its packets waited, for `waited_s` in all."""
    one = {"id": flow, "modem": 1, "bonding_group": 1, "priority": 0, "weight": weight}
    return one | {"waited_s": waited_s, "waited_bytes": nbytes} | more


def run(
    *spans: tuple[int, int],
    worker_gaps: list[tuple[int, int]] | None = None,
    changes: int = 0,
    **measured: list[Json],
) -> Json:
    result: Json = {"since": 0, "until": 2 * HZ, "rates": 4}
    result |= {"limits": [], "delays": [], "shares": []} | measured
    return {
        "downstream": {},
        "groups": [{"downstream": {"qos": result}}],
        "gaps": {"shorter": 0, "list": [list(span) for span in spans]},
        "workers": [{"gaps": {"shorter": 0, "list": [list(span) for span in worker_gaps or []]}}],
        "host": {"tsc_hz": HZ},
        "follow": {"changes": changes},
    }


def failures(merged: Json) -> Json:
    qos.add(merged)
    part = merged["downstream"]
    assert verdict.ERRORS["rates, priorities or weights violated"](part) == sum(
        part["qos_wrong"].values()
    )
    return {name: n for name, n in part["qos_wrong"].items() if n}


def ms(n: float) -> int:
    """Milliseconds in cycles of the TSC."""
    return int(n * HZ / 1e3)


def test_exceeded_rate_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(run(limits=[limit(over_s=0.009)])) == {}
    assert failures(run(limits=[limit(over_s=0.011)])) == {"rates": 1}
    err = capsys.readouterr().err
    assert "service flow 5: passed 11 ms more than 8 Mbps and a burst of 3,000 bytes" in err


def test_gap_before_packets_excuses_exceeded_rate() -> None:
    late = limit(over_s=0.04)
    assert failures(run((0, ms(31)), limits=[late])) == {}
    assert failures(run((0, ms(29)), limits=[late])) == {"rates": 1}
    # Two close gaps delay the same packets; two distant gaps do not.
    assert failures(run((0, ms(16)), (ms(20), ms(36)), limits=[late])) == {}
    assert failures(run((0, ms(16)), (ms(60), ms(76)), limits=[late])) == {"rates": 1}


def test_unlisted_gaps_excuse_exceeded_rate() -> None:
    merged = run(limits=[limit(over_s=0.03), limit(waited_s=2.0, waited_bytes=1_960_000)])
    merged["workers"][0]["gaps"]["shorter"] = 21
    assert failures(merged) == {}
    merged["workers"][0]["gaps"]["shorter"] = 9
    assert failures(merged) == {"rates": 2}
    # An unlisted gap may be as long as the shortest listed one.
    merged["workers"][0]["gaps"]["list"] = [[0, ms(9)], [ms(900), ms(903)]]
    assert failures(merged) == {}


def test_close_gaps_add_up() -> None:
    times = gaps.GapTimes([(0, 10), (15, 20), (34, 35), (70, 75)])
    assert qos.longest_delay(times) == 16
    assert qos.longest_delay(gaps.GapTimes([])) == 0


def test_missed_rate_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    missed = limit(waited_s=2.0, waited_bytes=1_960_000)  # of 2,000,000
    assert failures(run(limits=[missed])) == {"rates": 1}
    assert "reached 98.0% of 8 Mbps while packets waited for 2.0 s" in capsys.readouterr().err
    assert failures(run(limits=[missed | {"waited_bytes": 1_975_000}])) == {}
    assert failures(run(limits=[missed | {"alone": False}])) == {}
    # Only a gap of vcmtsd while packets were sent excuses the fault.
    assert failures(run(worker_gaps=[(0, ms(20))], limits=[missed])) == {}
    assert failures(run((0, ms(20)), limits=[missed])) == {"rates": 1}
    assert failures(run(worker_gaps=[(2 * HZ, 2 * HZ + ms(20))], limits=[missed])) == {"rates": 1}


def test_longer_delay_of_higher_priority_is_a_fault() -> None:
    assert failures(run(delays=[delay(0, 50_000), delay(5, 200)])) == {}
    assert failures(run(delays=[delay(0, 200), delay(5, 50_000)])) == {"priorities": 1}
    assert failures(run(delays=[delay(0, 200), delay(5, 5_100)])) == {}
    assert failures(run(delays=[delay(0, 200), delay(5, 50_000, group=2)])) == {}
    assert failures(run(delays=[delay(0, 200), delay(5, 50_000, packets=999)])) == {}


def test_shares_must_follow_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 300)])) == {}
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 100)])) == {"weights": 2}
    assert "service flow 2 with weight 3 got 50.0%" in capsys.readouterr().err
    # Flows with packets for a part of the time, or of other groups, did not compete.
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 100, waited_s=1.5)])) == {}
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 100, priority=1)])) == {}
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 100, modem=2)])) == {}
    assert failures(run(shares=[share(1, 1, 100), share(2, 3, 100, bonding_group=2)])) == {}


def test_checked_measurements_are_counted() -> None:
    merged = run(
        delays=[delay(0, 9), delay(5, 9), delay(0, 9, group=2)],
        shares=[share(1, 1, 100), share(2, 3, 300), share(3, 1, 1, priority=1)],
    )
    qos.add(merged)
    assert merged["downstream"]["qos_judged"] == {"rates": 4, "priorities": 10_000, "weights": 2}


def test_changed_runs_are_not_checked() -> None:
    late = [limit(over_s=1.0)]
    for merged in (run(limits=late, changes=1), run(limits=late) | {"workers": [{}]}):
        assert failures(merged) == {}
        assert merged["downstream"]["qos_judged"]["rates"] == 0
    upstream: Json = {"upstream": {}}
    qos.add(upstream)
    assert "downstream" not in upstream
