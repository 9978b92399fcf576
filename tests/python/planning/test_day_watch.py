# SPDX-License-Identifier: BSD-3-Clause
"""What is seen of a day, and what is made of it. The server is made up, and so is its time."""

import re
from itertools import pairwise
from typing import Any

import pytest

from planning.day import load, results
from planning.day.moment import Moment, increase, percentile
from planning.day.results import Modelled
from planning.day.watch import LONGEST_S, interval
from python.planning.day_samples import FAST, LENGTH, SLOW, Server, watched
from vcmts.power import machine, model
from vcmts.top.samples import Answer

Json = dict[str, Any]
MACHINE = machine.read()
DAY = load.Day("mine.txt", (load.Point(0, 1), load.Point(24, 1)), ())
MODELLED = Modelled(MACHINE, {"1": FAST, "2": FAST})


def told(server: Server, modelled: Modelled | None = MODELLED, **how: Any) -> Json:
    watch = watched(server, **how)
    assert watch.trouble == ""
    found = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert found is not None
    return found


def test_looks_from_the_first_packet_to_the_end() -> None:
    lines: list[tuple[float, str]] = []
    server = Server()
    watch = watched(server, lines=lines)
    assert watch.start == pytest.approx(server.begins, abs=0.05), "between two looks"
    ends = [moment.told.uptime - watch.start for moment in watch.moments]
    assert len(ends) == LENGTH / interval(LENGTH) + 1
    for place, end in enumerate(ends):
        assert end == pytest.approx(place * interval(LENGTH), abs=0.07), "late by what asking takes"
    assert re.fullmatch(r"00:1[5-7], 0\.2[78] Gbps, 25% busy", lines[0][1])
    assert lines[-1][0] == pytest.approx(LENGTH, abs=0.07)
    assert lines[-1][1].startswith("24:00, 0.8") and lines[-1][1].endswith(" 75% busy")


def test_a_day_that_begins_in_silence() -> None:
    """The first packet comes when the shape says so: the day began before."""
    watch = watched(Server(begins=105), silent=3.0)
    assert watch.start == pytest.approx(102, abs=0.05)
    assert watch.moments[1].told.uptime == pytest.approx(102 + 3.25, abs=0.07)


def test_ends_early() -> None:
    server = Server()
    watch = watched(server, over_at=server.begins + 5.1)
    assert watch.moments[-1].told.uptime == pytest.approx(server.begins + 5.1, abs=0.07)
    found = results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED)
    assert found is not None and [int(hour["hour"]) for hour in found["hours"]] == [
        0,
        1,
        2,
        3,
        4,
        5,
    ]


def test_a_slow_machine_skips_looks() -> None:
    """An answer takes a third of an hour: none is made up for, and there is one of each hour."""

    class Slow(Server):
        def ask(self) -> Moment:
            self.pass_by(0.6)
            return super().ask()

    watch = watched(Slow())
    ends = [moment.told.uptime - watch.start for moment in watch.moments[1:]]
    assert ends[-1] >= LENGTH
    assert all(0.5 < b - a < 1.3 for a, b in pairwise(ends))


def test_nothing_to_see() -> None:
    assert watched(Server(begins=1e6), over_at=130).moments == []
    watch = watched(Server(answers=0))
    assert watch.trouble == "[Errno 104] it is gone"
    assert results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED) is None
    watch = watched(Server(answers=60))
    assert watch.trouble == "[Errno 104] it is gone" and len(watch.moments) > 10, "what was seen"


def test_samples_hours_and_the_whole() -> None:
    day = told(Server())
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
    for cut in ("samples", "hours"):
        assert sum(part["seconds"] for part in day[cut]) == pytest.approx(whole["seconds"])
    assert whole["downstream_gbps"] == pytest.approx(0.5, rel=0.02)


def test_modelled_watts() -> None:
    """Of each moment: the mean of two frequencies is none that a core had."""
    day = told(Server())
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
    # Where nobody knows the highest frequency, or tells of pauses, none of it is taken for granted.
    blind = told(Server(), Modelled(MACHINE, {}))["hours"][5]["modelled_watts"]["cpu"]
    assert blind == pytest.approx(
        model.watts(MACHINE, busy=0.25, paused=0.375, hertz=1.8e9), rel=0.01
    )
    bare = told(Server(pauses=False))
    assert bare["hours"][5]["modelled_watts"]["cpu"] == pytest.approx(polling, rel=0.001)
    assert (bare["whole"]["paused"], bare["whole"]["hertz"], bare["policy"]) == (None, None, None)
    assert told(Server(), None)["whole"]["modelled_watts"] is None


def test_percentiles_of_buckets() -> None:
    """A bucket is as wide as its third digit: 10 us has those up to 11 us."""
    assert percentile({10_000: 50, 20_000: 50}, 0.25) == pytest.approx(10_500)
    assert percentile({10_000: 50, 20_000: 50}, 1.0) == pytest.approx(21_000)
    assert percentile({7: 4}, 0.5) == pytest.approx(7.5)
    with pytest.raises(ValueError):
        percentile({}, 0.5)


def test_counting_that_began_anew() -> None:
    assert increase({1: 5, 2: 7}, {1: 5, 2: 9, 3: 1}) == {2: 2, 3: 1}
    assert increase({1: 5, 2: 7}, {1: 2}) == {1: 2}


def test_a_clock_that_stands_still() -> None:
    """It ends all the same, and nothing is divided by no time."""
    server = Server()
    stuck = Moment(Answer(1.0), {})

    class Stuck(Server):
        def ask(self) -> Moment:
            super().ask()
            return stuck if self.uptime > self.begins + 2 else super().ask()

    assert server.begins
    watch = watched(Stuck())
    found = results.document(DAY, watch.moments, watch.start, LENGTH, MODELLED)
    assert found is not None and found["samples"][-1]["downstream_gbps"] is None


def test_a_long_day_reads_joules_between_looks() -> None:
    """Counters that begin anew are compared only where the readings are near each other."""
    read: list[float] = []

    class Measured(Server):
        def ask(self) -> Moment:
            read.append(self.uptime)
            return super().ask()

    server = Measured()

    def joules() -> dict[str, float]:
        read.append(server.uptime)
        return {}

    length = 144 * 100.0
    watch = watched(server, length, joules=joules, over_at=server.begins + 350)
    assert len(watch.moments) == 5, "looks are as seldom as before"
    assert max(b - a for a, b in pairwise(read)) < LONGEST_S + 0.1
