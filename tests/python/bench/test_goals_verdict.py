# SPDX-License-Identifier: BSD-3-Clause
"""Tests the last line of `bench goals` and `bench changes`, and their exit status."""

import pytest

from vcmts.bench.common import end_with_verdict, goals_verdict

REACHED, MISSED, NONE = ("a", "reached"), ("b", "missed"), ("c", "-")
DISTURBED, LEFT_OUT = ("d", "disturbed"), ("e", "not measured")


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([REACHED, NONE, LEFT_OUT], "PASS: 1 of 1 goals reached"),
        ([REACHED, MISSED, MISSED], "FAIL: missed: b; b; 1 of 3 goals reached"),
        ([REACHED, DISTURBED], "PASS: 1 of 2 goals reached, 1 disturbed: measure again"),
        (
            [MISSED, DISTURBED],
            "FAIL: missed: b, 1 disturbed: measure again; 0 of 2 goals reached",
        ),
    ],
)
def test_verdict_names_missed_goals(
    verdicts: list[tuple[str, str]], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert goals_verdict(verdicts) == text
    assert end_with_verdict(0, verdicts) == int(text.startswith("FAIL"))
    assert capsys.readouterr().out == text + "\n"


def test_incomplete_measurement_has_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert end_with_verdict(130, [MISSED]) == 130
    assert capsys.readouterr().out == ""
