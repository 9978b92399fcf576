# SPDX-License-Identifier: BSD-3-Clause
"""Tests that figures show the spread of runs, and no line where the spread hides the difference."""

from typing import Any

import pytest

from vcmts.report import figures
from vcmts.report.figures import Point
from vcmts.report.figures_throughput import per_core_point

A, B, C = Point(1, 10, 9, 11), Point(2, 10.5, 10, 12), Point(3, 20, 19, 21)


@pytest.fixture
def axes() -> Any:
    _, axes = figures.new_figure()
    return axes


def joined(axes: Any) -> list[tuple[float, float]]:
    """The x of both ends of each line between points; marks and error bars have other styles."""
    lines = [
        line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2
    ]
    return [tuple(line.get_xdata()) for line in lines]


def test_lines_join_only_disjoint_ranges(axes: Any) -> None:
    figures.ranges(axes, [A, B, C], 0, "a")
    assert joined(axes) == [(2, 3)]


def test_lines_join_only_sizes(axes: Any) -> None:
    figures.ranges(axes, [A, C], 0, "a", joined=[1])
    assert joined(axes) == []


def test_error_bars_have_the_range(axes: Any) -> None:
    figures.ranges(axes, [A], 0, "a")
    (bars,) = axes.collections
    ((low, high),) = ([y for _, y in segment] for segment in bars.get_segments())
    assert (low, high) == (9, 11)


def test_rate_is_highest_at_the_lowest_cost() -> None:
    result = {"gbps_per_core": 10.0, "cycles_per_packet": 800.0, "min": 500.0, "max": 1000.0}
    assert per_core_point(3, result) == Point(3, 10.0, 8.0, 16.0)
