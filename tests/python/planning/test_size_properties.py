# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts size` on generated requests: results are monotonic and within capacity."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planning.size import request as size_request
from planning.size.curve import Costs, Curve, extrapolate, interpolate
from planning.size.load import DEPI_FRAME, Kind, Question, Server, usage
from planning.size.plan import Plan, exceeded_limits, plan
from planning.size.published import PREFIX, costs
from planning.size.request import Groups
from vcmts import published
from vcmts.paths import MistakeError
from vcmts.published import Rules

RULES = st.sampled_from(list(published.load().rules.values()))
COSTS = st.builds(
    lambda first, loss, up, threads: Costs(
        "a machine",
        2.0,
        Curve(((1, first), (8, first * loss), (16, first * loss * loss)), 998.2, "x", threads),
        Curve(((1, up),), 318.28, "x", threads),
        1.0,
    ),
    st.floats(4, 30),
    st.floats(0.8, 1),
    st.floats(4, 20),
    st.booleans(),
)
GROUPS = st.builds(
    Groups,
    ofdm=st.integers(1, 6),
    count=st.integers(1, 500),
    downstream=st.floats(0.1, 1.8),
    upstream=st.floats(0, 1),
)
SERVERS = st.builds(
    Server,
    sockets=st.integers(1, 2),
    cores=st.integers(8, 64),
    clock=st.floats(1, 4),
    memory_gib=st.one_of(st.none(), st.floats(8, 64)),
    ports=st.one_of(st.none(), st.integers(1, 8)),
    port_gbps=st.sampled_from([10.0, 25.0, 100.0]),
    redundancy=st.sampled_from(["none", "n+1", "1+1"]),
    interfaces=st.one_of(st.none(), st.integers(8, 64)),
    nic_gbps=st.one_of(st.none(), st.floats(10, 200)),
)
QUESTIONS = st.builds(
    Question,
    kinds=st.lists(st.builds(Kind, GROUPS, COSTS), min_size=1, max_size=3),
    server=SERVERS,
    rules=RULES,
    standby=st.sampled_from([0.0, 0.1, 1.0]),
)


def plan_or_skip(question: Question) -> Plan:
    try:
        return plan(question)
    except MistakeError:
        assume(False)
        raise


def groups_per_server(result: Plan) -> list[int]:
    return [sum(used.counts) for used in result.alone]


def with_rate(question: Question, factor: float) -> Question:
    """Multiplies the downstream rate of all service groups."""

    def scaled(kind: Kind) -> Kind:
        down = kind.groups.downstream
        assert down is not None
        return replace(kind, groups=replace(kind.groups, downstream=down * factor))

    return replace(question, kinds=[scaled(kind) for kind in question.kinds])


@given(QUESTIONS)
def test_servers_carry_all_groups(question: Question) -> None:
    """No server is over its capacity, and one more service group of a kind would be."""
    result = plan_or_skip(question)
    for n, kind in enumerate(question.kinds):
        assert sum(f.servers * f.counts[n] for f in result.servers) == kind.groups.count
    for filled in result.servers:
        assert not exceeded_limits(question, usage(question, filled.counts))
    for used, bound in zip(result.alone, result.bounds, strict=True):
        assert not exceeded_limits(question, used) and bound


@given(QUESTIONS)
def test_server_count_of_one_kind(question: Question) -> None:
    question = replace(question, kinds=question.kinds[:1])
    result = plan_or_skip(question)
    count, per_server = question.kinds[0].groups.count or 0, groups_per_server(result)[0]
    assert (result.count - 1) * per_server < count <= result.count * per_server


@given(QUESTIONS, st.integers(1, 32))
def test_more_cores_never_carry_fewer_groups(question: Question, more: int) -> None:
    result = plan_or_skip(question)
    larger = replace(question, server=replace(question.server, cores=question.server.cores + more))
    changed = plan_or_skip(larger)
    assert all(
        new >= old
        for new, old in zip(groups_per_server(changed), groups_per_server(result), strict=True)
    )
    assert changed.count <= result.count


@given(QUESTIONS, st.floats(1.01, 3))
def test_faster_cores_never_carry_fewer_groups(question: Question, factor: float) -> None:
    result = plan_or_skip(question)
    server = replace(question.server, clock=question.server.clock * factor)
    changed = plan_or_skip(replace(question, server=server))
    assert all(
        new >= old
        for new, old in zip(groups_per_server(changed), groups_per_server(result), strict=True)
    )


@given(QUESTIONS, st.floats(0.1, 1))
def test_lower_rate_never_needs_more_servers(question: Question, factor: float) -> None:
    result = plan_or_skip(question)
    smaller = plan_or_skip(with_rate(question, factor))
    assert smaller.count <= result.count
    assert all(
        new >= old
        for new, old in zip(groups_per_server(smaller), groups_per_server(result), strict=True)
    )


@given(QUESTIONS, st.sampled_from(["server_cores", "socket_cores", "control_plane_cores"]))
def test_reserved_cores_never_reduce_servers(question: Question, key: str) -> None:
    changes: dict[str, Any] = {key: getattr(question.rules, key) + 1}
    rules = replace(question.rules, **changes)
    result, smaller = plan_or_skip(question), plan_or_skip(replace(question, rules=rules))
    assert smaller.count >= result.count


@given(QUESTIONS)
def test_usage_grows_with_each_group(question: Question) -> None:
    one = replace(question, kinds=question.kinds[:1])
    used = [usage(one, [n]) for n in range(6)]
    for now, then in pairwise(used):
        assert then.cores >= now.cores and then.transmit >= now.transmit
        assert then.memory_gib > now.memory_gib and then.ports >= now.ports


def test_standby_memory_is_that_of_present_kinds() -> None:
    """Of kinds with 1 and 0.25 GiB: 10 active groups, and one standby group for each of them."""
    curve = Curve(((1, 10.0),), 1000, "x", True)
    kinds = [Kind(Groups(6), Costs("m", 2, curve, curve, gib)) for gib in (1.0, 0.25)]
    question = Question(kinds, Server(1, 64, 2.0), Rules(1, 0.5), standby=1.0)
    memory = [usage(question, counts).memory_gib for counts in ([0, 10], [10, 0], [5, 5], [0, 0])]
    assert memory == pytest.approx([4 + 20 * 0.25, 4 + 20, 4 + 5 + 5 * 0.25 + 10, 4])


def test_wire_rates_include_overhead() -> None:
    """1 Gbps of 1,000-byte packets: 1.024 Gbps on the network's wire, 1.0724 in DEPI."""
    curve = Curve(((1, 10.0),), 1000, "x", True)
    kind = Kind(Groups(6, downstream=1.0, upstream=0.0), Costs("m", 2, curve, curve, 1.0))
    question = Question([kind], Server(1, 8, 2.0, port_gbps=1.05), Rules(1, 0.5))
    used = usage(question, [1])
    assert used.ports == 2, "the busier direction counts"
    assert used.receive == pytest.approx(1.024)
    assert used.transmit == pytest.approx(1.025 * 1538 / 1470) == pytest.approx(1.025 * DEPI_FRAME)


def test_rate_of_one_hyper_thread() -> None:
    """A figure for both threads is halved; one for one thread is halved times the gain."""
    groups = Groups(6, downstream=1.0, upstream=0.0)
    for both, gain, expected in ((True, 1.25, 5.0), (False, 1.0, 5.0), (False, 1.25, 6.25)):
        curve = Curve(((1, 10.0),), 1000, "x", both)
        server = Server(1, 8, 2.0, thread_gain=gain)
        question = Question([Kind(groups, Costs("m", 2, curve, curve, 1.0))], server, Rules(1, 0.5))
        [rate] = usage(question, [1]).rates
        assert (rate.downstream_capacity, rate.upstream_capacity) == (10.0, expected)


def test_directions_share_one_thread() -> None:
    """A thread carries 5 Gbps downstream or 4 upstream: 1 Gbps upstream leaves three quarters."""
    down, up = Curve(((1, 10.0),), 1000, "x", True), Curve(((1, 8.0),), 300, "x", True)
    rules = Rules(0.5, 0, one_thread=True)
    kind = Kind(Groups(6, upstream=1.0), Costs("m", 2, down, up, 1.0))
    [rate] = usage(Question([kind], Server(1, 8, 2.0), rules), [1]).rates
    assert (rate.downstream, rate.upstream) == pytest.approx((3.75, 1.0))
    kind = replace(kind, groups=Groups(6))
    [rate] = usage(Question([kind], Server(1, 8, 2.0), rules), [1]).rates
    assert rate.upstream == pytest.approx(0.15 * rate.downstream)
    assert rate.downstream / 5 + rate.upstream / 4 == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "gbps"),
    [("10Gbps", 10), ("500 Mbps", 0.5), ("1.5Tbps", None), ("1Tbps", 1000), ("250kbps", 0.00025),
     ("0", 0), ("7bps", 7e-9), ("1e3bps", None), ("", None), ("10GBps", None)],
)  # fmt: skip
def test_units_of_rates_are_converted(text: str, gbps: float | None) -> None:
    if gbps is None:
        with pytest.raises(MistakeError, match="allowed: a rate"):
            size_request.rate(text, "rate")
    else:
        assert size_request.rate(text, "rate") == pytest.approx(gbps)


def test_interpolation_and_extrapolation() -> None:
    points = [(1.0, 10.0), (3.0, 20.0)]
    assert [interpolate(points, x) for x in (0, 1, 2, 3, 9)] == [10, 10, 15, 20, 20]
    assert [extrapolate(points, x) for x in (0, 1, 2, 3, 9)] == [5, 10, 15, 20, 50]
    assert extrapolate(points[:1], 9) == 10


@pytest.mark.parametrize("profile", published.load().profiles)
def test_published_curves_fall_and_their_sums_rise(profile: str) -> None:
    """The calculation depends on both."""
    data = published.load()
    groups = Groups(6, crypto=data.profiles[profile].crypto)
    curve = costs(data, PREFIX + profile, groups).downstream
    rates = [gbps for _, gbps in curve.points]
    assert rates == sorted(rates, reverse=True)
    whole = [n * curve.gbps(n) for n in range(1, curve.max_at_once + 1)]
    assert whole == sorted(whole)
