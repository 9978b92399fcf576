# SPDX-License-Identifier: BSD-3-Clause
"""Tests watch.py and results.py: when a server is read during a day, and the samples, hours, watts
and percentiles computed from that. Server and time are simulated."""

import re
from itertools import pairwise
from typing import Any

import pytest

from planning.day import load, results
from planning.day.moment import Moment, increase, percentile
from planning.day.results import Modelled
from planning.day.watch import LONGEST_S, interval
from python.planning.day_samples import FAST, LENGTH, SLOW, Server, run_watch
from vcmts.power import machine, model
from vcmts.top.samples import Answer

Json = dict[str, Any]
MACHINE = machine.read()
DAY = load.Day("mine.txt", (load.Point(0, 1), load.Point(24, 1)), ())
MODELLED = Modelled(MACHINE, {"1": FAST, "2": FAST})


def day_of(server: Server, modelled: Modelled | None = MODELLED, **options: Any) -> Json:
    watch = run_watch(server, **options)
    assert watch.trouble == ""
    day = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert day is not None
    return day


def test_reads_from_first_packet_to_end() -> None:
    lines: list[tuple[float, str]] = []
    server = Server()
    watch = run_watch(server, lines=lines)
    assert watch.start == pytest.approx(server.traffic_start, abs=0.05), "between two reads"
    ends = [moment.answer.uptime - watch.start for moment in watch.moments]
    assert len(ends) == LENGTH / interval(LENGTH) + 1
    for n, end in enumerate(ends):
        assert end == pytest.approx(n * interval(LENGTH), abs=0.07), "late by the time of a read"
    assert re.fullmatch(r"00:1[5-7], 0\.2[78] Gbps, 25% busy", lines[0][1])
    assert lines[-1][0] == pytest.approx(LENGTH, abs=0.07)
    assert lines[-1][1].startswith("24:00, 0.8") and lines[-1][1].endswith(" 75% busy")


def test_silent_start_belongs_to_the_day() -> None:
    """The first packet comes when the shape starts, after the day began."""
    watch = run_watch(Server(traffic_start=105), silent=3.0)
    assert watch.start == pytest.approx(102, abs=0.05)
    assert watch.moments[1].answer.uptime == pytest.approx(102 + 3.25, abs=0.07)


def test_interrupted_day_has_its_hours() -> None:
    server = Server()
    watch = run_watch(server, over_at=server.traffic_start + 5.1)
    assert watch.moments[-1].answer.uptime == pytest.approx(server.traffic_start + 5.1, abs=0.07)
    day = results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED)
    assert day is not None
    assert [int(hour["hour"]) for hour in day["hours"]] == [0, 1, 2, 3, 4, 5]


def test_slow_server_is_read_less_often() -> None:
    """A read takes a third of an hour. Missed reads are skipped, and each hour has one."""

    class Slow(Server):
        def read_moment(self) -> Moment:
            self.advance(0.6)
            return super().read_moment()

    watch = run_watch(Slow())
    ends = [moment.answer.uptime - watch.start for moment in watch.moments[1:]]
    assert ends[-1] >= LENGTH
    assert all(0.5 < b - a < 1.3 for a, b in pairwise(ends))


def test_no_answers_make_no_document() -> None:
    assert run_watch(Server(traffic_start=1e6), over_at=130).moments == []
    watch = run_watch(Server(answers_left=0))
    assert watch.trouble == "[Errno 104] it is gone"
    assert results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED) is None
    watch = run_watch(Server(answers_left=60))
    assert watch.trouble == "[Errno 104] it is gone" and len(watch.moments) > 10, (
        "moments before the reset"
    )


def test_samples_hours_and_whole_day() -> None:
    day = day_of(Server())
    assert len(day["samples"]) == LENGTH / interval(LENGTH)
    assert [int(hour["hour"]) for hour in day["hours"]] == list(range(24))
    assert {key: day[key] for key in ("load", "policy", "driver", "idle")} == {
        "load": "mine.txt",
        "policy": "saving",
        "driver": "simulated",
        "idle": "sleep",
    }
    for part, share in (*((h, 0.25) for h in day["hours"][1:11]), (day["hours"][15], 0.75)):
        assert part["downstream_gbps"] == pytest.approx(share, rel=0.02)
        assert part["upstream_gbps"] == pytest.approx(share / 10, rel=0.02)
        assert part["groups"][1] == {
            "id": "7",
            "downstream_gbps": pytest.approx(share / 2, rel=0.02),
            "upstream_gbps": pytest.approx(share / 20, rel=0.02),
        }
        assert part["busy"] == pytest.approx(share, rel=0.02)
        assert part["paused"] == pytest.approx((1 - share) / 2, rel=0.02)
        hertz = SLOW if share < 0.5 else FAST
        assert part["cores"][1] == {"core": "2", "hertz": hertz, "wished_hertz": SLOW}
        assert part["hertz"] == hertz
        latency = part["latency_us"]["downstream"]
        assert latency["packets"] == pytest.approx(1000 * share * part["seconds"], rel=0.03)
        assert latency["p50"] == pytest.approx(20.5, abs=0.1)
        assert 310 <= latency["p99"] < latency["p99_9"] < 320
        assert part["latency_us"]["upstream"] is None
    whole = day["whole"]
    assert whole["seconds"] == pytest.approx(LENGTH, abs=0.2)
    for key in ("samples", "hours"):
        assert sum(part["seconds"] for part in day[key]) == pytest.approx(whole["seconds"])
    assert whole["downstream_gbps"] == pytest.approx(0.5, rel=0.02)


def test_watts_are_modelled_per_sample() -> None:
    """Watts are modelled per sample, not from the mean frequency."""
    day = day_of(Server())
    ratio = SLOW / FAST
    slow = model.watts(MACHINE, busy=0.25, paused=0.375, hertz=ratio * 1.8e9)
    fast = model.watts(MACHINE, busy=0.75, paused=0.125, hertz=1.8e9)
    polling = model.watts(MACHINE, busy=0, paused=0, hertz=1.8e9)
    assert day["hours"][5]["modelled_watts"]["cpu"] == pytest.approx(slow, rel=0.01)
    assert day["hours"][20]["modelled_watts"]["cpu"] == pytest.approx(fast, rel=0.01)
    whole = day["whole"]["modelled_watts"]
    assert whole["cpu"] == pytest.approx((slow + fast) / 2, rel=0.01)
    assert whole["cpu_polling"] == pytest.approx(polling, rel=0.001)
    assert whole["platform"] == pytest.approx(
        MACHINE.platform_watts + MACHINE.platform_factor * whole["cpu"], abs=0.1
    )
    # Without a known highest frequency, or without pauses, the model does not assume savings.
    blind = day_of(Server(), Modelled(MACHINE, {}))["hours"][5]["modelled_watts"]["cpu"]
    assert blind == pytest.approx(
        model.watts(MACHINE, busy=0.25, paused=0.375, hertz=1.8e9), rel=0.01
    )
    bare = day_of(Server(pauses=False))
    assert bare["hours"][5]["modelled_watts"]["cpu"] == pytest.approx(polling, rel=0.001)
    assert (bare["whole"]["paused"], bare["whole"]["hertz"], bare["policy"]) == (None, None, None)
    assert day_of(Server(), None)["whole"]["modelled_watts"] is None


def test_percentiles_interpolate_in_buckets() -> None:
    """Buckets are as wide as their third digit: that of 10 us ends at 11 us."""
    assert percentile({10_000: 50, 20_000: 50}, 0.25) == pytest.approx(10_500)
    assert percentile({10_000: 50, 20_000: 50}, 1.0) == pytest.approx(21_000)
    assert percentile({7: 4}, 0.5) == pytest.approx(7.5)
    with pytest.raises(ValueError):
        percentile({}, 0.5)


def test_increase_after_a_restart_is_the_new_count() -> None:
    assert increase({1: 5, 2: 7}, {1: 5, 2: 9, 3: 1}) == {2: 2, 3: 1}
    assert increase({1: 5, 2: 7}, {1: 2}) == {1: 2}


def test_constant_uptime_ends_without_rates() -> None:
    stuck = Moment(Answer(1.0), {})

    class Stuck(Server):
        def read_moment(self) -> Moment:
            super().read_moment()
            return stuck if self.uptime > self.traffic_start + 2 else super().read_moment()

    watch = run_watch(Stuck())
    day = results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED)
    assert day is not None and day["samples"][-1]["downstream_gbps"] is None


def test_long_day_reads_joules_between_moments() -> None:
    """A wrapped counter of joules is detected only between readings at most LONGEST_S apart."""
    read: list[float] = []

    class Measured(Server):
        def read_moment(self) -> Moment:
            read.append(self.uptime)
            return super().read_moment()

    server = Measured()

    def joules() -> dict[str, float]:
        read.append(server.uptime)
        return {}

    length = 144 * 100.0
    watch = run_watch(server, length, joules=joules, over_at=server.traffic_start + 350)
    assert len(watch.moments) == 5, "the interval of moments is unchanged"
    assert max(b - a for a, b in pairwise(read)) < LONGEST_S + 0.1
