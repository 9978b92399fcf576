# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the tables of docs/power.md have the results of the model."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from planning.day import load as day_load
from planning.day.load import Day, Point
from planning.power import simulate
from vcmts import yamls
from vcmts.paths import CHECKOUT
from vcmts.power import machine as power_machine
from vcmts.power import model, policy
from vcmts.power.model import Machine
from vcmts.run.planner import PUBLISHED_DAY

PAGE = (CHECKOUT / "docs" / "power.md").read_text(encoding="utf-8")
DAY = day_load.read(PUBLISHED_DAY)
ROWS = [(level, saving) for level in power_machine.LEVELS for saving in power_machine.SAVINGS]


def table(head: str) -> dict[str, list[str]]:
    """Returns the cells of a table by the first cell of their row."""
    text = PAGE[PAGE.index(head) :].split("\n\n")[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {row[0]: row[1:] for row in cells}


def changed(**changes: Any) -> Machine:
    plain = yamls.safe_load(power_machine.PUBLISHED.read_text(encoding="utf-8"))
    return power_machine.parse_machine(yaml.safe_dump({**plain, **changes}), "changed")


def with_calibration_at(gbps: float) -> tuple[Machine, Day]:
    """The published machine, calibrated at another rate (Gbit/s)."""
    plain = yamls.safe_load(power_machine.PUBLISHED.read_text(encoding="utf-8"))
    return changed(calibrate={**plain["calibrate"], "gbps": gbps}), DAY


def with_upstream(share: float, gbps: float = 2.0) -> tuple[Machine, Day]:
    """The published machine with an upstream core of `gbps`, at this upstream share."""
    workers = [
        {"carries": "downstream", "cores": 1, "gbps": 287 / 28 / (1 + share)},
        {"carries": "upstream", "cores": 1, "gbps": gbps},
    ]
    return changed(upstream_share=share, workers=workers), DAY


def with_lowest_load(least: float) -> tuple[Machine, Day]:
    """The day with another lowest load and the same peak."""
    low = min(point.share for point in DAY.downstream)
    points = tuple(
        Point(p.hour, least + (p.share - low) * (1 - least) / (1 - low)) for p in DAY.downstream
    )
    return changed(), Day("stretched", points, points)


VARIANTS: dict[str, Callable[[], tuple[Machine, Day]]] = {
    "as above": lambda: (changed(), DAY),
    "points at 0.1 Gbps": lambda: with_calibration_at(0.1),
    "upstream 10 % of downstream": lambda: with_upstream(0.1),
    "an upstream core carries 4 Gbps": lambda: with_upstream(0.2, 4.0),
    "lowest load 0": lambda: with_lowest_load(0.0),
    "lowest load 24 %: `--shape day`": lambda: with_lowest_load(0.24),
    "80 % of a core's time may be busy": lambda: (changed(governor={"busy": 0.8}), DAY),
}


def averages(machine: Machine, day: Day) -> list[float]:
    steps = simulate.simulate_day(machine, day)
    result = [simulate.saved(steps, saving, level) for level, saving in ROWS]
    return [100 * one.average for one in result if one is not None]


def test_table_of_published_day() -> None:
    machine = power_machine.read()
    steps = simulate.simulate_day(machine, DAY)
    rows = table("| | most: modelled")
    assert len(rows) == len(ROWS)
    for (level, saving), (name, cells) in zip(ROWS, rows.items(), strict=True):
        assert name == f"{'CPU' if level == 'cpu' else 'server'}, {saving}"
        result = simulate.saved(steps, saving, level)
        published = machine.published_day[level][saving]
        for n, quantity in enumerate(power_machine.QUANTITIES):
            assert float(cells[2 * n]) == pytest.approx(100 * getattr(result, quantity), abs=0.0501)
            assert float(cells[2 * n + 1]) == published[quantity]


def test_table_of_variants() -> None:
    rows = table("| | CPU: pauses")
    assert list(rows) == list(VARIANTS)
    published = [power_machine.read().published_day[a][b]["average"] for a, b in ROWS]
    for name, cells in rows.items():
        result = averages(*VARIANTS[name]())
        assert [float(cell) for cell in cells[:-1]] == pytest.approx(result, abs=0.0501), name
        far = max(abs(a - b) for a, b in zip(result, published, strict=True))
        assert float(cells[-1]) == pytest.approx(far, abs=0.0501), name


def test_table_of_governor() -> None:
    rows = table("| | CPU: frequency")
    assert {name.split(",")[0] for name in rows} == set(policy.policies())
    for name, cells in rows.items():
        which, latency = name.split(", ")
        machine = policy.with_governor(power_machine.read(), which, policy.microseconds(latency))
        result = averages(machine, DAY)
        assert [float(cell) for cell in cells[:-1]] == pytest.approx(
            [result[1], result[2], result[4], result[5]], abs=0.0501
        )
        assert float(cells[-1]) == pytest.approx(model.slowest(machine, 0.0).ghz)


def test_table_of_fitted_values() -> None:
    machine = power_machine.read()
    rows = table("| | fitted |")
    assert rows["a core that switches at 1.8 GHz"][0] == f"{machine.states[-1].busy:.2f} W"
    assert rows["a core that switches at 1.8 GHz"][1].startswith(f"{machine.states[0].busy:.2f} W")
    for name, key in (
        ("voltage at 0.8 GHz", "voltage_at_lowest"),
        ("what goes on in a pause", "kept_in_pause"),
    ):
        assert rows[name][0] == f"{machine.fitted[key]:.0%}".replace("%", " %")
    assert rows["the rest of the CPU"][0] == f"{machine.rest_watts:.0f} W"
    assert rows["factor from CPU to server"][0] == f"{machine.platform_factor:.2f}"
    assert rows["the rest of the server"][0] == f"{machine.platform_watts:.0f} W"
    saved = [f"{machine.platform_factor * watts:.0f}" for watts in (62, 71, 90)]
    assert "{} and {} W".format(", ".join(saved[:2]), saved[2]) in " ".join(PAGE.split())


def test_example_machine_is_valid() -> None:
    [example] = re.findall(r"mine.yaml <<END\n(name:.*?)END\n```", PAGE, re.DOTALL)
    result = power_machine.parse_machine(example, "example")
    assert result.worker_cores == 24 and result.governor_ghz == 1.2
    assert simulate.saved(simulate.simulate_day(result, DAY), "both", "platform") is not None


def test_mean_of_the_day() -> None:
    """Pauses save linearly: 14.9 % mean 46 % of the peak load; the published day has 48 %."""
    (low_saving, _, *_), (high_saving, _, *_) = (
        averages(*with_lowest_load(0.0)),
        averages(*with_lowest_load(0.24)),
    )
    low, high = (day_load.mean(with_lowest_load(least)[1].downstream) for least in (0.0, 0.24))
    implied = low + (14.9 - low_saving) / (high_saving - low_saving) * (high - low)
    assert f"mean of {100 * implied:.0f} % of the peak" in " ".join(PAGE.split())
    assert f"Ours has {100 * day_load.mean(DAY.downstream):.0f}." in PAGE
