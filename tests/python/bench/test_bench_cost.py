# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts bench cost`: the service groups that it measures, and its results and tables."""

import io
from typing import Any

import pytest
from rich.console import Console

from python.conftest import ExpectError
from vcmts.bench import cost as bench_cost
from vcmts.bench.cost import SWEEPS, Point
from vcmts.profile import group as profile

BASE = profile.parse_name("6ofdm-0sc-qam_300cms_aes")
SWEPT = [what for what in SWEEPS if what != "flows"]


def test_service_groups_are_measured_once() -> None:
    points = bench_cost.points(BASE, SWEPT, full=False)
    assert len({(p.profile, p.sizes) for p in points}) == len(points)
    base = points[0]
    assert (base.profile, base.sizes) == (BASE.name, BASE.sizes)
    assert dict(base.sweeps) == {
        "modems": 300,
        "filter_rules": 22,
        "classifiers": 16,
        "service_flows": 8,
        "channels": 6,
    }
    assert sum(len(p.sweeps) for p in points) == sum(len(SWEEPS[what].values) for what in SWEPT)


def test_points_change_one_number() -> None:
    """In all numbers of a profile."""
    usual = profile.parse_name(BASE.name)
    for point in bench_cost.points(BASE, SWEPT, full=True):
        other = profile.parse_name(point.profile, sizes=point.sizes)
        differ = [
            name
            for name, one, two in (
                ("modems", usual.modems, other.modems),
                ("channels", usual.ofdm, other.ofdm),
                ("filter_rules", usual.filters, other.filters),
                ("classifiers", usual.sizes.classifiers, other.sizes.classifiers),
                ("service_flows", usual.sizes.flows, other.sizes.flows),
            )
            if one != two
        ]
        numbers = {what for what, _ in point.sweeps}
        assert differ == ([] if len(numbers) > 1 else list(numbers))
        for what, value in point.sweeps:
            actual = {
                "modems": other.modems,
                "channels": other.ofdm,
                "filter_rules": other.filters.rules,
                "classifiers": other.sizes.classifiers,
                "service_flows": other.sizes.flows,
            }[what]
            assert actual == value


def test_points_are_sorted_by_modems() -> None:
    points = bench_cost.points(BASE, SWEPT, full=True)
    modems = [profile.parse_name(point.profile).modems for point in points]
    assert modems == sorted(modems)
    assert modems[-1] == 30000


def test_base_is_one_of_the_points() -> None:
    base = profile.parse_name("3ofdm-32sc-qam_500cms_none_2021")
    points = bench_cost.points(base, SWEPT, full=False)
    (own,) = [p for p in points if len(p.sweeps) > 1]
    assert (own.profile, own.sizes) == (base.name, base.sizes)
    assert dict(own.sweeps) == {
        "modems": 500,
        "filter_rules": 16,
        "classifiers": 16,
        "service_flows": 8,
        "channels": 3,
    }
    names = {p.profile for p in points for what, _ in p.sweeps if what == "channels"}
    assert names == {f"{n}ofdm-32sc-qam_500cms_none_2021" for n in (2, 3, 6, 24)}


def test_flows_are_a_number_of_the_traffic() -> None:
    point = bench_cost.change_number(BASE, "flows", 5000)
    assert (point.profile, point.sizes, point.flows) == (BASE.name, BASE.sizes, 5000)


def report(total: float, per_modem: float) -> dict[str, Any]:
    def result(direction: str, cycles: float) -> dict[str, Any]:
        return {
            "direction": direction,
            "mix": "imix",
            "cycles_per_packet": cycles,
            "min": cycles - 1,
            "max": cycles + 1,
            "runs": 3,
            "stages": {"receive": cycles},
            "gbps_per_core": 9,
        }

    return {
        "memory": {"total": total, "per_modem": per_modem},
        "start": {"total": 1.5, "load": 0.25, "pools": 0.25, "sessions": 0.5, "tables": 0.5},
        "results": [result("downstream", 1000.0), result("upstream", 500.0)],
    }


def results_of(modems: int, total: float) -> list[dict[str, Any]]:
    point = Point(f"6ofdm-0sc-qam_{modems}cms_aes", BASE.sizes, sweeps=(("modems", modems),))
    return list(bench_cost.results_of(point, report(total, total / modems)))


def test_directions_have_their_own_results() -> None:
    down, up = results_of(300, 6e6)
    assert (down["direction"], up["direction"]) == ("downstream", "upstream")
    for one in (down, up):
        assert (one["what"], one["value"]) == ("modems", 300)
        assert one["profile"] == "6ofdm-0sc-qam_300cms_aes"
        assert (one["memory_bytes"], one["memory_bytes_per_modem"]) == (6e6, 2e4)
        assert one["start_seconds"] == 1.5
    assert (down["cycles_per_packet"], up["stages"]) == (1000, {"receive": 500.0})


def test_memory_is_fitted_by_modems() -> None:
    results = [
        one for modems in (300, 1000, 3000) for one in results_of(modems, 2e8 + 30e3 * modems)
    ]
    actual = bench_cost.memory_fit(results)
    assert actual is not None
    assert actual["fixed_bytes"] == pytest.approx(2e8)
    assert actual["bytes_per_modem"] == pytest.approx(30e3)
    assert bench_cost.memory_fit(results_of(300, 1)) is None


def test_table_has_cycles_memory_and_start() -> None:
    text = io.StringIO()
    host = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": False}
    results = results_of(300, 6e6) + results_of(3000, 33e6)
    bench_cost.show({"results": results, "host": host}, Console(file=text, width=80))
    rows = [" ".join(line.replace("│", " ").split()) for line in text.getvalue().splitlines()]
    assert "300 1000 500 6 20.0 1.50 0.25 0.50 0.50" in rows
    assert "3,000 1000 500 33 11.0 1.50 0.25 0.50 0.50" in rows


def test_similar_remarks_are_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    say = bench_cost.print_each_once()
    for line in ("fewer than 566 MB", "fewer than 1024 MB", "no memory"):
        say(line)
    assert capfd.readouterr().err == "fewer than 566 MB\nno memory\n"


@pytest.mark.parametrize("name", ["6ofdm", "0ofdm-0sc-qam_1cms_aes"])
def test_invalid_base_is_refused(name: str, expect_error: ExpectError) -> None:
    expect_error("", "bench", "cost", "--profile", name)
