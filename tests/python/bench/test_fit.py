# SPDX-License-Identifier: BSD-3-Clause
"""Lines through points whose answers are known."""

import pytest

from vcmts.bench import fit

SIZES = (84, 256, 512, 1024, 1280, 1518)


def points(fixed: float, slope: float, **moved: float) -> list[tuple[float, float]]:
    return [(size, fixed + slope * size + moved.get(f"at_{size}", 0)) for size in SIZES]


@pytest.mark.parametrize("fixed, slope", [(137.5, 0.75), (0, 2), (50, 0), (-3, 1), (10, -0.01)])
def test_a_line_is_found_exactly(fixed: float, slope: float) -> None:
    line = fit.line(points(fixed, slope))
    assert line is not None
    assert line.fixed == pytest.approx(fixed, abs=1e-9)
    assert line.slope == pytest.approx(slope)
    assert line.r2 == pytest.approx(1)
    assert line.points == len(SIZES)
    assert line.at(100) == pytest.approx(fixed + 100 * slope)


@pytest.mark.parametrize("bad", SIZES)
@pytest.mark.parametrize("by", [-400, 5000, 1e9])
def test_one_bad_point_does_not_bend_it(bad: int, by: float) -> None:
    """Least squares would follow it; R2 tells that it is there."""
    line = fit.line(points(200, 0.5, **{f"at_{bad}": by}))
    assert line is not None
    assert line.fixed == pytest.approx(200)
    assert line.slope == pytest.approx(0.5)
    assert line.r2 < 0.85


def test_r2_by_hand() -> None:
    """y = x missed by 0, 1, 0 around a mean of 7/3."""
    line = fit.line([(1, 1), (2, 3), (3, 3)])
    assert line is not None
    assert (line.fixed, line.slope) == (0, 1)  # of slopes 2, 1 and 0; 0, 1 and 0 are left
    assert line.r2 == pytest.approx(1 - 1 / (16 / 9 + 4 / 9 + 4 / 9))


@pytest.mark.parametrize("few", [[], [(84, 5.0)], [(84, 5.0), (84, 7.0), (84, 9.0)]])
def test_one_size_is_no_line(few: list[tuple[float, float]]) -> None:
    assert fit.line(few) is None


def test_two_points_are_a_line() -> None:
    assert fit.line([(100, 30), (300, 50)]) == fit.Line(20, 0.1, 1.0, 2)


def test_equal_sizes_among_others() -> None:
    line = fit.line([(100, 9), (100, 11), (200, 19), (200, 21)])
    assert line is not None
    assert line.slope == pytest.approx(0.1)
    assert line.fixed == pytest.approx(0)


def test_what_costs_always_the_same() -> None:
    line = fit.line([(84, 12), (256, 12), (1518, 12)])
    assert line == fit.Line(12, 0, 1.0, 3)
