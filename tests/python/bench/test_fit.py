# SPDX-License-Identifier: BSD-3-Clause
"""Tests lines through points (Theil-Sen) with known results."""

import pytest

from vcmts.bench import fit

SIZES = (84, 256, 512, 1024, 1280, 1518)


def points(fixed: float, slope: float, **moved: float) -> list[tuple[float, float]]:
    return [(size, fixed + slope * size + moved.get(f"at_{size}", 0)) for size in SIZES]


@pytest.mark.parametrize("fixed, slope", [(137.5, 0.75), (0, 2), (50, 0), (-3, 1), (10, -0.01)])
def test_exact_line_is_found(fixed: float, slope: float) -> None:
    line = fit.line(points(fixed, slope))
    assert line is not None
    assert line.fixed == pytest.approx(fixed, abs=1e-9)
    assert line.slope == pytest.approx(slope)
    assert line.r2 == pytest.approx(1)
    assert line.points == len(SIZES)
    assert line.at(100) == pytest.approx(fixed + 100 * slope)


@pytest.mark.parametrize("bad", SIZES)
@pytest.mark.parametrize("by", [-400, 5000, 1e9])
def test_single_outlier_does_not_change_the_line(bad: int, by: float) -> None:
    """Least squares would follow the outlier. R2 shows it."""
    line = fit.line(points(200, 0.5, **{f"at_{bad}": by}))
    assert line is not None
    assert line.fixed == pytest.approx(200)
    assert line.slope == pytest.approx(0.5)
    assert line.r2 < 0.85


def test_r2_computed_by_hand() -> None:
    """Deviations from y = x are 0, 1 and 0; the mean is 7/3."""
    line = fit.line([(1, 1), (2, 3), (3, 3)])
    assert line is not None
    assert (line.fixed, line.slope) == (
        0,
        1,
    )  # medians of slopes 2, 1, 0, and of the remainders 0, 1, 0
    assert line.r2 == pytest.approx(1 - 1 / (16 / 9 + 4 / 9 + 4 / 9))


@pytest.mark.parametrize("points", [[], [(84, 5.0)], [(84, 5.0), (84, 7.0), (84, 9.0)]])
def test_one_size_has_no_line(points: list[tuple[float, float]]) -> None:
    assert fit.line(points) is None


def test_two_points_have_a_line() -> None:
    assert fit.line([(100, 30), (300, 50)]) == fit.Line(20, 0.1, 1.0, 2)


def test_equal_sizes_are_allowed() -> None:
    line = fit.line([(100, 9), (100, 11), (200, 19), (200, 21)])
    assert line is not None
    assert line.slope == pytest.approx(0.1)
    assert line.fixed == pytest.approx(0)


def test_constant_cost_has_slope_0() -> None:
    line = fit.line([(84, 12), (256, 12), (1518, 12)])
    assert line == fit.Line(12, 0, 1.0, 3)
