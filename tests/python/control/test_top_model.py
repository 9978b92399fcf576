# SPDX-License-Identifier: BSD-3-Clause
"""Tests the figures that `vcmts top` computes from two answers to metrics.get."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.control.top_samples import BYTES, HZ, MODEMS, PACKETS, UP, mac, metrics_get
from vcmts.top import model, modems, source
from vcmts.top.model import Figures
from vcmts.top.samples import Answer, Between, OddAnswerError, answer_of, percentile
from vcmts.top.words import at_most, bar, bits, clip, clock, duration, printable, short


def answer_at(seconds: float, groups: tuple[int, ...] = (1, 2, 10), **params: Any) -> Answer:
    return answer_of(json.loads(json.dumps(metrics_get(seconds, groups, params))))


def figures(first: float = 100, second: float = 102) -> Figures:
    return model.figures(answer_at(first), answer_at(second))


def one_sample(value: float, uptime: float, name: str = "x_total", **labels: str) -> Answer:
    sample = {"name": name, "labels": labels, "value": value}
    return answer_of({"uptime": uptime, "samples": [sample]})


def test_rates_are_computed_from_differences() -> None:
    actual = figures()
    assert [group.id for group in actual.groups] == ["1", "2", "10"], "by number"
    group = actual.groups[1]
    assert (group.name, group.modems, group.active_modems) == ("group 2", MODEMS, MODEMS - 1)
    down, up = group.directions["downstream"], group.directions["upstream"]
    assert down.in_packets == down.out_packets == 2 * PACKETS
    assert down.in_bits == 2 * PACKETS * BYTES * 8
    assert up.network("upstream") == (2 * PACKETS / 10 * BYTES * 8, 2 * PACKETS / 10)
    assert actual.seconds == 2 and actual.uptime == 102
    assert actual.sums["downstream"] == (13 * PACKETS * BYTES * 8, 13 * PACKETS, 12 * 10)


def test_stages_are_in_pipeline_order_with_cycles() -> None:
    up = figures().groups[0].directions["upstream"]
    assert tuple(stage.name for stage in up.stages) == UP
    assert [stage.cycles for stage in up.stages] == [10 * n for n in range(1, len(UP) + 1)]
    assert up.stages[0].core == pytest.approx(PACKETS / 10 * 10 / HZ)
    assert up.cycles == 10 * sum(range(1, len(UP) + 1))


def test_drops_are_sorted_by_rate() -> None:
    down = figures().groups[1].directions["downstream"]
    assert [(drop.reason, drop.rate) for drop in down.drops] == [
        ("filter_deny", 10),
        ("docsis_pie_drop", 2),
    ]
    assert (down.dropped, down.dropped_total) == (12, 12 * 102)
    up = figures().groups[1].directions["upstream"]
    assert [(drop.reason, drop.total, drop.rate) for drop in up.drops] == [("psp_late", 7, 0)]
    [port] = figures().port_drops
    assert (port.reason, port.total, port.rate) == ("net_memif0 missed", 510, 5)


def test_delays_are_those_between_the_answers() -> None:
    group = figures().groups[0]
    assert group.delay.rate == PACKETS
    assert group.delay.p50 == pytest.approx(1e-5)
    assert group.delay.p99 == pytest.approx(1e-5 + 0.98 * 9e-5)
    assert list(group.priorities) == ["7", "0"]
    assert group.priorities["7"].p99 is None
    assert group.directions["downstream"].latency.p99 is None, "not measured"
    assert group.directions["upstream"].latency.rate == 10


def test_workers_and_channels_have_shares() -> None:
    actual = figures()
    assert [worker.core for worker in actual.workers] == ["1", "10"]
    worker = actual.workers[0]
    assert worker.busy == pytest.approx(0.95) and worker.runs == "upper MAC"
    assert (worker.rounds, worker.descheduled, worker.longest) == (1e6, 3, 0.0042)
    channel = actual.groups[0].channels[0]
    assert (channel.id, channel.rate, channel.bits) == ("159", 2e9, PACKETS * BYTES * 4)
    assert channel.share == pytest.approx(0.2)


def test_one_answer_has_no_rates() -> None:
    answer = answer_at(100)
    actual = model.figures(answer, answer)
    down = actual.groups[1].directions["downstream"]
    assert actual.seconds == 0 and down.in_bits is None and down.cycles is None
    assert down.dropped is None and down.dropped_total == 1200
    assert actual.workers[0].busy is None and actual.sums["downstream"] == (None, None, None)
    assert actual.groups[0].delay.p99 is None


def test_rate_of_restarted_counter() -> None:
    between = Between(one_sample(1000, 10), one_sample(40, 12))
    assert between.rate("x_total") == 20
    assert between.increase("x_total") == 40


def test_restarted_server_has_no_rates() -> None:
    assert Between(one_sample(1000, 10), one_sample(40, 2)).rate("x_total") is None
    actual = model.figures(answer_at(1000), answer_at(3))
    assert actual.seconds == 0 and actual.groups[0].directions["downstream"].in_bits is None


def test_added_and_removed_groups() -> None:
    actual = model.figures(answer_at(100, (1, 2)), answer_at(102, (2, 7)))
    assert [group.id for group in actual.groups] == ["2", "7"]
    new = actual.groups[1].directions["downstream"]
    assert new.in_bits is None and new.dropped is None and new.cycles is None
    assert new.dropped_total == 12 * 6 * 102
    assert actual.sums["downstream"][1] == 2 * PACKETS, "the sum of groups in both answers"


def test_a_group_without_an_upstream() -> None:
    whole = metrics_get(100, (1,))
    down = [one for one in whole["samples"] if not one["name"].startswith("vcmts_upstream_")]
    answer = answer_of({"uptime": 100, "samples": down})
    [group] = model.figures(answer, answer).groups
    assert list(group.directions) == ["downstream"]


def test_modems_and_flows_have_rates() -> None:
    query: dict[str, Any] = {"group": "2", "modems": True}
    actual = modems.modems(answer_at(10, **query), answer_at(12, **query))
    assert [modem.mac for modem in actual] == [mac(2, number) for number in (1, 2, 3)]
    assert (actual[2].bits, actual[2].packets, actual[2].dropped) == (24e6, 3000, 2)
    assert (actual[2].waiting, actual[2].active) == (3, 1)
    one: dict[str, Any] = {"group": "2", "modem": mac(2, 3)}
    flows = modems.flows(answer_at(10, **one), answer_at(12, **one), mac(2, 3))
    assert [flow.sfid for flow in flows] == ["2", "11"]
    assert (flows[1].bits, flows[1].limit, flows[1].dropped) == (8.8e6, 2e7, 9)
    assert flows[1].delay == pytest.approx(5 / 1100)
    assert flows[1].probability == 0.015
    assert modems.flows(answer_at(10, **one), answer_at(12, **one), "02:00:00:00:00:00") == ()


def test_requested_names_are_sufficient() -> None:
    """Figures from the requested names are those from all names."""
    whole = figures()
    names = list(model.NAMES)
    assert model.figures(answer_at(100, names=names), answer_at(102, names=names)) == whole
    assert source.Request("2", modem=mac(2, 1)).requests()[1][1]["modem"] == mac(2, 1)


@pytest.mark.parametrize(
    "result",
    [
        *(None, 5, "x", [], {}, {"uptime": 1}, {"samples": []}, {"uptime": "x", "samples": []}),
        {"uptime": 1, "samples": 5},
        {"uptime": 1, "samples": [5]},
        {"uptime": 1, "samples": [{"name": "x"}]},
        {"uptime": 1, "samples": [{"name": "x", "value": "nan"}]},
        {"uptime": 1, "samples": [{"name": "x", "value": {}, "labels": {}}]},
        {"uptime": 1, "samples": [{"name": "x", "value": 1, "labels": [1]}]},
    ],
)
def test_invalid_answers_are_refused(result: Any) -> None:
    with pytest.raises(OddAnswerError):
        answer_of(result)


def test_percentiles_are_interpolated() -> None:
    buckets = [(1.0, 10.0), (2.0, 20.0), (4.0, 40.0), (math.inf, 40.0)]
    assert percentile(buckets, 0.25) == 1
    assert percentile(buckets, 0.5) == 2
    assert percentile(buckets, 0.75) == 3
    assert percentile(buckets, 1) == 4
    assert percentile([(1.0, 1.0), (math.inf, 10.0)], 0.5) == math.inf
    assert percentile([(1.0, 0.0), (math.inf, 0.0)], 0.5) is None
    assert percentile([], 0.5) is None


def test_percentile_in_the_first_bucket_is_its_bound() -> None:
    """Nothing finer is known: an interpolated value would be invented."""
    buckets = [(1.0, 99.0), (2.0, 100.0), (math.inf, 100.0)]
    assert percentile(buckets, 0.001) == percentile(buckets, 0.99) == 1
    assert percentile(buckets, 0.995) == 1.5
    assert percentile([(math.inf, 5.0)], 0.5) == math.inf


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.floats(0.01, 1))
def test_percentile_is_in_its_bucket(counts: list[int], share: float) -> None:
    below, buckets = 0, []
    for number, count in enumerate(counts, 1):
        below += count
        buckets.append((float(number), float(below)))
    actual = percentile(buckets, share)
    if not below:
        assert actual is None
        return
    assert actual is not None
    bucket = next(n for n, (_, count) in enumerate(buckets) if count >= share * below)
    assert bucket - 1e-9 <= actual <= bucket + 1 + 1e-9 and counts[bucket] > 0
    assert bucket > 0 or actual == 1


def test_numbers_and_times_have_units() -> None:
    values = (None, 0, 7, 0.5, 12.34, 99.96, 999.4, 999.6, 12345, 1e9, 9.999e6, 5e13)
    assert [short(value) for value in values] == (
        ["-", "0", "7", "0.50", "12.3", "100", "999", "1.00k", "12.3k", "1.00G", "10.0M", "50.0T"]
    )
    assert bits(1.89e9) == "1.89 Gbps" and bits(None) == "-"
    seconds = (None, 0, 5e-7, 9.997e-7, 1e-5, 0.0123, 1.5, math.inf)
    assert [duration(value) for value in seconds] == [
        "-",
        "0ns",
        "500ns",
        "1.00us",
        "10.0us",
        "12.3ms",
        "1.50s",
        "beyond",
    ]
    assert clock(3 * 86400 + 3723) == "3d 01:02:03" and clock(59.9) == "00:00:59"
    assert printable("a\x1b[2J\nb") == "a?[2J?b"
    assert clip("upper and lower MAC", 19) == "upper and lower MAC"
    assert clip("upper MAC, upstream", 18) == "upper MAC.."
    assert clip("upper", 3) == "" and len(clip("a b c", 4)) <= 4


def test_times_up_to_the_first_bound_say_so() -> None:
    assert at_most(2.56e-7, 2.56e-7) == "<256ns" and at_most(3e-7, 2.56e-7) == "300ns"
    assert at_most(1e-6, 1e-6) == "<1us" and at_most(2e-6, 8.192e-6) == "<8.2us"
    assert at_most(None, 2.56e-7) == "-" and at_most(0.5, None) == "500ms"
    assert at_most(math.inf, math.inf) == "beyond"


def drawn(part: float | None, width: int, *, blocks: bool) -> str:
    return bar(part, width, "green", blocks=blocks).plain


def test_bars_have_a_track() -> None:
    assert drawn(0.5, 4, blocks=False) == "##.." and drawn(0.6, 4, blocks=True) == "━━╸─"
    assert drawn(7, 3, blocks=True) == "━━━" and drawn(None, 2, blocks=False) == ".."
    assert drawn(0, 3, blocks=True) == "───" and drawn(1e-9, 3, blocks=True) == "╸──"
    colored = bar(0.5, 4, "green", blocks=True)
    [track] = colored.spans
    assert (colored.style, track.start, track.end, track.style) == ("green", 2, 4, "dim")


@given(st.floats(0, 9e14))
def test_numbers_and_times_are_short(value: float) -> None:
    assert len(short(value)) <= 5 and len(duration(min(value, 999))) <= 6
