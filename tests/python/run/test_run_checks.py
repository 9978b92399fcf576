# SPDX-License-Identifier: BSD-3-Clause
"""Tests checks.py: the check of each faulty count, compared packets, and the seed."""

import io
from copy import deepcopy
from typing import Any

import pytest
from rich.console import Console

from vcmts.paths import CHECKOUT, MistakeError
from vcmts.run import chance, checks, identities, summary

Json = dict[str, Any]
FORMATS = {"clear": 0, "aes_128": 10, "aes_256": 0, "des": 0, "crc": 10, "numbered": 0}
GOOD: Json = {
    "downstream": {
        "sent": 10,
        "proven": 10,
        "lost": 0,
        "depi_frames": 7,
        "formats": FORMATS,
        "drops": {},
    },
    "upstream": {"sent": 5, "proven": 5, "lost": 0, "drops": {}},
    "identities_broken": [],
}
WRONG = [
    ("downstream", "depi_violations", "mtu", "outer headers"),
    ("downstream", "depi_violations", "extra", "sessions"),
    ("downstream", "depi_violations", "sequence_gap", "PSP numbers"),
    ("downstream", "corrupted_by", "hcs", "MAC headers"),
    ("downstream", "corrupted_by", "channel", "channels"),
    ("downstream", "corrupted_by", "privacy", "privacy"),
    ("downstream", "", "undecipherable", "privacy"),
    ("downstream", "resequencing", "skipped", "DSIDs"),
    ("downstream", "corrupted_by", "crc", "CRC"),
    ("downstream", "corrupted_by", "payload", "contents"),
    ("downstream", "witness", "wrong", "independent decoder"),
    ("downstream", "", "late", "delay"),
    ("downstream", "", "lost", "complete"),
    ("downstream", "", "reordered", "order"),
    ("downstream", "", "unexpected_frames", "nothing else"),
    ("upstream", "", "corrupted", "contents"),
    ("upstream", "witness", "wrong", "independent decoder"),
    ("upstream", "", "lost", "complete"),
    ("upstream", "", "duplicated", "order"),
    ("upstream", "", "unexpected_frames", "nothing else"),
]


def faults(merged: Json) -> list[tuple[str, str, int]]:
    """Returns direction, name and count of the checks that found faults."""
    return [(row["direction"], row["name"], row["wrong"]) for row in rows(merged) if row["wrong"]]


def rows(merged: Json) -> list[Json]:
    return checks.check_rows(merged)


def test_good_run_has_no_faults() -> None:
    assert faults(GOOD) == []
    assert {
        (row["name"], row["judged"]) for row in rows(GOOD) if row["direction"] == "upstream"
    } >= {("contents", 5), ("complete", 5)}
    assert checks.idle_checks_text(rows(GOOD)).startswith(
        "checks without anything to check in this run: downstream DSIDs,"
    )


@pytest.mark.parametrize(("direction", "part", "key", "check"), WRONG)
def test_fault_belongs_to_one_check(direction: str, part: str, key: str, check: str) -> None:
    merged = deepcopy(GOOD)
    counts = merged[direction].setdefault(part, {}) if part else merged[direction]
    counts[key] = 3
    assert faults(merged) == [(direction, check, 3)]


def test_all_reasons_of_traffic_belong_to_checks() -> None:
    """The reasons are the tables of the traffic program."""
    for table, key in (("violation", "depi_violations"), ("corruption", "corrupted_by")):
        text = (CHECKOUT / f"traffic/proof/{table}.def").read_text()
        names = [line.split('"')[1] for line in text.splitlines() if line.startswith(table.upper())]
        assert len(names) > 10
        for name in names:
            merged = deepcopy(GOOD)
            merged["downstream"][key] = {name: 1}
            assert len(faults(merged)) == 1, name


def test_expected_losses_are_no_faults() -> None:
    merged = deepcopy(GOOD)
    merged["upstream"] |= {"lost": 2, "expected": {"lost": 2}}
    assert faults(merged) == []


def test_broken_identities_are_faults() -> None:
    merged = deepcopy(GOOD)
    merged["identities_broken"] = ["service group 1, upstream: a = b: found 1 and 2"]
    assert faults(merged) == [("upstream", "identities", 1)]


def test_list_has_checks_without_packets() -> None:
    out = io.StringIO()
    checks.print_checks(rows(GOOD), Console(file=out, width=200))
    line = next(text for text in out.getvalue().splitlines() if "downstream: DSIDs" in text)
    assert "nothing" in line
    for check in checks.CHECKS:
        assert f"{check.direction}: {check.name}" in out.getvalue()


def test_unused_direction_is_not_checked() -> None:
    merged = {"downstream": GOOD["downstream"], "identities_broken": []}
    assert {row["direction"] for row in rows(merged)} == {"downstream"}
    assert summary.directions(merged) == ["downstream"]
    assert identities.broken_identities(merged) == []


def test_seed_repeats_random_numbers() -> None:
    assert chance.draw(7) == chance.draw(7)
    drawn = [chance.draw(seed) for seed in range(100)]
    first_numbers = {one.first_number for one in drawn}
    assert 0 in first_numbers and len(first_numbers) > 20
    assert all(n == 0 or 65_536 - chance.NEAR <= n < 65_536 for n in first_numbers)
    assert len({chance.draw(None).seed for _ in range(5)}) > 1
    assert str(drawn[3].first_number) in drawn[3].plane() and "3" in drawn[3].traffic()


@pytest.mark.parametrize("seed", [-1, chance.SEED_MAX + 1])
def test_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(MistakeError, match="--seed: found"):
        chance.draw(seed)
