# SPDX-License-Identifier: BSD-3-Clause
"""Tests the model of vcmtsd's governor: policies of src/power, lowest frequency by hand."""

import argparse
import re

import pytest

from vcmts.cli import main
from vcmts.paths import CHECKOUT, MistakeError
from vcmts.power import machine as power_machine
from vcmts.power import model, policy


def test_policies_are_those_of_the_governor() -> None:
    """All rows of the file are read."""
    text = policy.POLICIES.read_text(encoding="utf-8")
    result = policy.policies()
    assert len(result) == len(re.findall(r"^GOVERNOR_POLICY", text, re.M)) >= 3
    assert result["performance"].highest and not result["saving"].highest
    assert 0 < result["balanced"].busy < result["saving"].busy <= 1
    assert "policies.def" in (CHECKOUT / "src/power/governor.c").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("latency", "interval"), [(1000, 590.0), (100, 100.0), (10000, 1000.0), (0, 100.0)]
)
def test_interval_of_governor(latency: float, interval: float) -> None:
    """As in test_governor_random.c: 0.8 to 1.8 GHz, 30 us to switch the frequency. All times are
    microseconds."""
    assert policy.sample_interval_us(0.8, 1.8, latency, 30) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("latency", "floor"), [(100, 1.8 * (1 - 100 / 330)), (200, 0.8), (0, 1.8), (1e6, 0.8)]
)
def test_floor_follows_from_latency(latency: float, floor: float) -> None:
    """The governor reacts to a sudden load after three intervals and 30 us. `latency` in us."""
    assert policy.lowest_ghz(0.8, 1.8, latency, 30) == pytest.approx(floor)


def test_floor_of_one_frequency() -> None:
    assert policy.lowest_ghz(1.8, 1.8, 0, 30) == 1.8


def test_policy_sets_busy_share_and_floor() -> None:
    machine = power_machine.read()
    saving = policy.with_governor(machine, "saving", 200)
    assert saving.governor_busy == policy.policies()["saving"].busy
    assert model.slowest(saving, 0.0).ghz == pytest.approx(0.8)
    assert saving.published_day == {}
    fast = policy.with_governor(machine, "performance", 200)
    assert all(model.slowest(fast, load / 10).ghz == pytest.approx(1.8) for load in range(11))
    # 3 intervals of 100 us and 10 us leave 1.8 * (1 - 100 / 310) GHz; the default is twice as long.
    assert model.slowest(policy.with_governor(machine, "saving", 100), 0.0).ghz == pytest.approx(
        1.3
    )
    assert model.slowest(policy.with_governor(machine, "saving", None), 0.0).ghz == pytest.approx(
        0.8
    )
    with pytest.raises(MistakeError, match="performance, balanced, saving"):
        policy.with_governor(machine, "fast", 200)


@pytest.mark.parametrize(("text", "us"), [("200us", 200), ("1.5ms", 1500), ("1s", 1e6), ("0us", 0)])
def test_times_have_units(text: str, us: float) -> None:
    assert policy.microseconds(text) == us


@pytest.mark.parametrize("text", ["", "5", "-1us", "1e3us", "us", "1 us", "1m", "٣us"])
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        policy.microseconds(text)


def test_simulate_with_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "simulate", "--policy", "saving", "--latency", "200us"]) == 0
    out = capsys.readouterr().out
    assert "policy saving, 200 us: 80% of a core may be busy, at 0.8 GHz and more" in out
    assert "published" not in out
    assert main(["power", "simulate", "--latency", "200us"]) == 2
    assert "--latency: allowed only with --policy" in capsys.readouterr().err
